//! mini-swe-agent: one command in a fenced block of each reply, and its output in the user role; newer
//! versions call tools, say so in `extra`, and end with a role of their own.

use laundromat_session::{Call, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, calls, command_call, id, named_call, reasoning, role, thinking_blocks, time};
use crate::content::{append, parts, push_reasoning};
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::input::Input;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, Sink, each_value, messages};

/// Labels of the block that holds the command.
const LABELS: [&str; 2] = ["mswea_bash_command", "bash"];
/// Labels that older prompts allowed beside them.
const OLD_LABELS: [&str; 3] = ["sh", "shell", ""];

/// mini-swe-agent trajectories.
#[derive(Debug)]
pub(super) struct MiniSweAgent;

impl Reader for MiniSweAgent {
    fn id(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn title(&self) -> &'static str {
        "mini-swe-agent trajectory"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        match sample.records().next()? {
            Line::Object(fields) => {
                let format = fields.text("trajectory_format").unwrap_or_default();
                let info = fields.object("info");
                let own = info.is_some_and(|info| info.has("mini_version"));
                if format.starts_with("mini-swe-agent") || (own && fields.has("messages")) {
                    return Some(Confidence::Sure);
                }
                (fields.has("info") && looks_like(&items_of(fields.raw("messages")?)?)).then_some(Confidence::Likely)
            }
            Line::List(raw) => looks_like(&items_of(raw)?).then_some(Confidence::Likely),
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| match line {
            Line::Object(fields) => sink.put_unmarked(session(&fields, &file, numbering)),
            Line::List(raw) => list(raw, &file, numbering, sink),
        })
    }
}

/// Whether messages alternate between replies with one command and outputs in the form the harness gives them.
fn looks_like(messages: &[&RawValue]) -> bool {
    let (mut replies, mut commands, mut outputs) = (0, 0, 0);
    let mut after_command = false;
    for message in messages.iter().filter_map(|raw| Fields::of(raw)) {
        if message.has("tool_calls") || message.has("tool_call_id") {
            return false;
        }
        let text = text_of_message(&message);
        match message.text("role").as_deref() {
            Some("assistant") => {
                after_command = command(&text).is_some();
                replies += 1;
                commands += usize::from(after_command);
            }
            Some("user") if after_command => outputs += usize::from(is_output(&text)),
            _ => {}
        }
    }
    // Some replies break the rule, and the last output has no mark: it is what the task asked for.
    outputs > 0 && commands * 2 > replies && (outputs + 1) * 2 > commands
}

fn is_output(text: &str) -> bool {
    let text = text.trim_start();
    ["<returncode>", "<output>", "Observation:"].iter().any(|mark| text.starts_with(mark))
}

fn text_of_message(message: &Fields<'_>) -> String {
    let said = parts(message.raw("content"), 0, &mut Losses::default());
    Turn { parts: said, ..Turn::text_of(Role::User, "") }.text().into_owned()
}

/// The command of a reply: that of its only block with a fitting label.
fn command(text: &str) -> Option<&str> {
    let blocks = fenced(text);
    for labels in [&LABELS[..], &OLD_LABELS[..]] {
        let mut fitting = blocks.iter().filter(|(label, _)| labels.contains(label));
        match (fitting.next(), fitting.next()) {
            (Some((_, command)), None) => return Some(command),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
    }
    None
}

/// The fenced blocks of a text: label and content.
fn fenced(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let fence = line.trim_end().strip_prefix("```");
        match (fence, open) {
            (Some(label), None) => open = Some((label.trim(), at + line.len())),
            (Some(""), Some((label, start))) => {
                blocks.push((label, text[start..at].trim_end_matches(['\n', '\r'])));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    blocks
}

/// A list: of messages, or of whole sessions.
fn list(raw: &RawValue, file: &str, numbering: Numbering, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut reading = Reading::default();
    for (index, fields) in messages(Some(raw), numbering, &mut reading.draft.losses) {
        if fields.has("messages") {
            sink.put_unmarked(session(&fields, file, numbering))?;
        } else {
            reading.message(&fields, numbering.at(file, index));
        }
    }
    sink.put_unmarked(reading.draft)
}

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let mut reading = Reading::default();
    reading.draft.own_id = id(fields, "instance_id");
    for (index, message) in messages(fields.raw("messages"), numbering, &mut reading.draft.losses) {
        reading.message(&message, numbering.at(file, index));
    }
    reading.draft
}

/// A session while it is read.
#[derive(Debug, Default)]
struct Reading {
    draft: Draft,
    task_seen: bool,
    /// The last reply had a command.
    called: bool,
}

impl Reading {
    fn message(&mut self, message: &Fields<'_>, at: At<'_>) {
        let extra = message.object("extra");
        let mut turn = match (message.text("type").as_deref(), message.text("role").as_deref()) {
            (Some("function_call_output"), _) => self.output_item(message, at),
            _ if message.raw("output").is_some_and(|raw| raw.get().starts_with('[')) => self.response(message, at),
            (_, Some("exit")) => at.turn(
                Role::Marker("exit".to_owned()),
                parts(message.raw("content"), at.record, &mut self.draft.losses),
            ),
            _ => {
                let role = role(message, at.record, &mut self.draft.losses);
                at.turn(role, parts(message.raw("content"), at.record, &mut self.draft.losses))
            }
        };
        turn.ts = extra.as_ref().and_then(|extra| time(extra, "timestamp"));
        match turn.role {
            Role::Assistant => self.said(message, extra.as_ref(), at, &mut turn),
            Role::User => self.heard(extra.as_ref(), &mut turn),
            Role::Tool => {
                turn.call_id = turn.call_id.or_else(|| id(message, "tool_call_id"));
                turn.is_error = failed(extra.as_ref(), &turn.text());
            }
            _ => {}
        }
        self.draft.turns.push(turn);
    }

    /// What a reply holds beside its text.
    fn said(&mut self, message: &Fields<'_>, extra: Option<&Fields<'_>>, at: At<'_>, turn: &mut Turn) {
        turn.reasoning = turn.reasoning.take().or_else(|| reasoning(message)).or_else(|| thinking_blocks(message));
        if turn.calls.is_empty() {
            turn.calls = calls(message, at.record, &mut self.draft.losses);
        }
        if turn.calls.is_empty() {
            for action in extra.and_then(|extra| extra.items("actions")).unwrap_or_default() {
                let fields = Fields::of(action);
                let command = fields.as_ref().and_then(|fields| fields.text("command")).or_else(|| text_of(action));
                match command {
                    Some(command) => {
                        let id = fields.as_ref().and_then(|fields| id(fields, "tool_call_id")).unwrap_or_default();
                        turn.calls.push(Call { id, ..command_call(&command) });
                    }
                    None => self.draft.losses.kind("call:without a command", at.record),
                }
            }
        }
        if turn.calls.is_empty()
            && let Some(command) = command(&turn.text())
        {
            turn.calls.push(command_call(command));
        }
        self.called = !turn.calls.is_empty();
    }

    /// What stands in the user role: the task, an output, or what the harness has to say.
    fn heard(&mut self, extra: Option<&Fields<'_>>, turn: &mut Turn) {
        let interrupted = extra.and_then(|extra| extra.text("interrupt_type"));
        if !self.task_seen {
            self.task_seen = true;
        } else if let Some(kind) = interrupted {
            if kind != "UserInterruption" {
                turn.synthetic = Some(kind.into_owned());
            }
        } else if self.called || extra.is_some_and(|extra| extra.has("returncode")) {
            turn.role = Role::Tool;
            turn.is_error = failed(extra, &turn.text());
        } else {
            turn.synthetic = Some("format_error".to_owned());
        }
    }

    /// A reply as OpenAI's Responses API gives it.
    fn response(&mut self, message: &Fields<'_>, at: At<'_>) -> Turn {
        let mut turn = at.turn(Role::Assistant, Vec::new());
        for (_, item) in messages(message.raw("output"), Numbering::Line(at.record), &mut self.draft.losses) {
            match item.text("type").as_deref() {
                Some("message") => {
                    append(&mut turn.parts, parts(item.raw("content"), at.record, &mut self.draft.losses));
                }
                Some("function_call") => {
                    let id = item.label("call_id").unwrap_or_default().into_owned();
                    turn.calls.push(named_call(id, item.text("name"), item.raw("arguments")));
                }
                Some("reasoning") => {
                    let summary = item.items("summary").unwrap_or_default().into_iter().filter_map(Fields::of);
                    let texts: Vec<_> = summary.filter_map(|part| part.text("text")).collect();
                    match texts.is_empty() {
                        true if item.has("encrypted_content") => {
                            push_reasoning(&mut turn.reasoning, "[encrypted]".into())
                        }
                        _ => texts.into_iter().for_each(|text| push_reasoning(&mut turn.reasoning, text)),
                    }
                }
                other => self.draft.losses.kind(format!("item:{}", other.unwrap_or_default()), at.record),
            }
        }
        turn
    }

    /// A result as the Responses API takes it.
    fn output_item(&mut self, message: &Fields<'_>, at: At<'_>) -> Turn {
        let said = parts(message.raw("output"), at.record, &mut self.draft.losses);
        Turn { call_id: id(message, "call_id"), ..at.turn(Role::Tool, said) }
    }
}

/// Whether a command failed: by its recorded return code, or the one that the output begins with.
fn failed(extra: Option<&Fields<'_>>, text: &str) -> bool {
    if let Some(code) = extra.and_then(|extra| extra.label("returncode")) {
        return code != "0";
    }
    let code = text.trim_start().strip_prefix("<returncode>").and_then(|rest| rest.split_once("</returncode>"));
    code.is_some_and(|(code, _)| code.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_command_is_the_only_block_of_its_kind() {
        for (text, wanted) in [
            ("Look.\n```bash\ncat web.toml\n```", Some("cat web.toml")),
            ("```python\nx\n```\n```bash\nls\nls -l\n```\n", Some("ls\nls -l")),
            ("```\nls\n```", Some("ls")),
            ("```bash\na\n```\n```bash\nb\n```", None),
            ("```bash\nnever closed", None),
            ("no block", None),
            ("```mswea_bash_command\n\n```", Some("")),
        ] {
            assert_eq!(command(text), wanted, "{text}");
        }
    }
}
