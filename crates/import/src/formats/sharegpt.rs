//! ShareGPT conversations, in which calls, results and thoughts are text: Hermes tags, or bare JSON in turns
//! of their own. Tags count only in the turns of the model and of tools; anywhere else they are data.

use laundromat_session::{Call, Role, Turn};
use serde_json::Value;

use crate::chat::At;
use crate::content::{push_reasoning, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::input::Input;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::sample::Sample;
use crate::values::{Numbering, each_object, each_value, messages};

/// ShareGPT conversations.
#[derive(Debug)]
pub(super) struct ShareGpt;

impl Reader for ShareGpt {
    fn id(&self) -> &'static str {
        "sharegpt"
    }

    fn title(&self) -> &'static str {
        "ShareGPT conversation"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = match sample.records().next()? {
            Line::Object(fields) => fields,
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of)?,
        };
        let (key, list) = LISTS.iter().find_map(|key| Some((*key, first.items(key)?)))?;
        let turns: Vec<Fields<'_>> = list.into_iter().filter_map(Fields::of).collect();
        let count = |is_turn: &dyn Fn(&Fields<'_>) -> bool| turns.iter().filter(|turn| is_turn(turn)).count();
        let own = count(&|turn| turn.has("from") && turn.has("value"));
        // Chat's words for it may be another's; under `messages` they are Chat's.
        let alike = count(&|turn| turn.has("role") && turn.has("content") && key != "messages");
        match () {
            () if own > 0 && own * 2 >= turns.len() => Some(Confidence::Sure),
            () if alike > 0 && alike * 2 >= turns.len() => Some(Confidence::Likely),
            () => None,
        }
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| {
                sink.put_unmarked(session(fields, &file, numbering))
            })
        })
    }
}

/// What the list of turns is called.
const LISTS: [&str; 3] = ["conversations", "conversation", "messages"];

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let own_id = fields.label("id").map(|id| id.into_owned()).filter(|id| !id.is_empty());
    let mut draft = Draft { own_id, ..Draft::default() };
    let list = LISTS.iter().find_map(|key| fields.raw(key));
    if let Some(text) = fields.text("system").filter(|text| !text.is_empty()) {
        draft.turns.push(numbering.at(file, 0).says(Role::System, text));
    }
    for (index, turn) in messages(list, numbering, &mut draft.losses) {
        let at = numbering.at(file, index);
        let from = turn.text("from").or_else(|| turn.text("role")).unwrap_or_default();
        let value = turn.text("value").or_else(|| turn.text("content")).unwrap_or_default();
        turns(&from, &value, at, &mut draft);
    }
    draft
}

fn turns(from: &str, value: &str, at: At<'_>, draft: &mut Draft) {
    match from {
        "system" => draft.turns.push(at.says(Role::System, value)),
        "human" | "user" => draft.turns.push(at.says(Role::User, value)),
        "gpt" | "assistant" | "model" | "chatgpt" | "bing" | "bard" => {
            draft.turns.push(reply(value, at, &mut draft.losses));
        }
        "function_call" | "tool_call" => {
            let called = call(value).unwrap_or_else(|| raw_call(value, at, &mut draft.losses));
            // A call is the end of the reply before it.
            match draft.turns.last_mut().filter(|turn| turn.role == Role::Assistant) {
                Some(turn) => turn.calls.push(called),
                None => draft.turns.push(Turn { calls: vec![called], ..at.says(Role::Assistant, "") }),
            }
        }
        "tool" | "function" | "observation" | "function_response" | "tool_response" => {
            let results = responses(value, at, &mut draft.losses);
            draft.turns.extend(results.into_iter().map(|text| at.says(Role::Tool, text)));
        }
        other => {
            draft.losses.kind(format!("role:{other}"), at.record);
            draft.turns.push(at.says(Role::Other(other.to_owned()), value));
        }
    }
}

/// The model's turn: text, calls and thoughts apart.
fn reply(value: &str, at: At<'_>, losses: &mut Losses) -> Turn {
    let mut thought = None;
    let (text, thoughts) = cut_out(value, "think");
    thoughts.into_iter().for_each(|text| push_reasoning(&mut thought, text.into()));
    let (text, called) = cut_out(&text, "tool_call");
    let calls = called.iter().map(|text| call(text).unwrap_or_else(|| raw_call(text, at, losses))).collect();
    Turn { calls, reasoning: thought, ..at.says(Role::Assistant, text) }
}

/// The text without what stands inside of `tag`, and what stood there. An element that is not closed is text.
fn cut_out(value: &str, tag: &str) -> (String, Vec<String>) {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let (mut text, mut inside) = (String::new(), Vec::new());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once(&open) {
        let Some((within, behind)) = after.split_once(&close) else { break };
        text.push_str(before);
        inside.push(within.trim_matches('\n').to_owned());
        rest = behind;
    }
    if inside.is_empty() {
        return (value.to_owned(), inside);
    }
    text.push_str(rest);
    (text.trim_matches('\n').to_owned(), inside)
}

/// A call: JSON with a name and arguments, or a Python literal of the same.
fn call(text: &str) -> Option<Call> {
    let text = text.trim();
    let fields = Fields::parse(text).ok();
    let mended;
    let fields = match fields {
        Some(fields) => fields,
        None => {
            mended = literal(text)?;
            Fields::parse(&mended).ok()?
        }
    };
    let inner = fields.object("function");
    let named = inner.as_ref().unwrap_or(&fields);
    let name = tool_name(named.text("name"));
    let given = named.raw("arguments").or_else(|| named.raw("parameters")).or_else(|| named.raw("args"));
    (!name.is_empty()).then(|| Call { id: String::new(), name, arguments: crate::content::arguments(given) })
}

/// A call that cannot be read: kept as text without a name.
fn raw_call(text: &str, at: At<'_>, losses: &mut Losses) -> Call {
    losses.kind("call:not readable".to_owned(), at.record);
    Call { id: String::new(), name: String::new(), arguments: text.trim().to_owned() }
}

/// A Python literal of an object as JSON text; `None` where it is something else.
fn literal(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' | '"' => out.push_str(&quoted(char, &mut chars)?),
            'A'..='Z' | 'a'..='z' => {
                let mut word = String::from(char);
                while let Some(next) = chars.next_if(char::is_ascii_alphanumeric) {
                    word.push(next);
                }
                out.push_str(match word.as_str() {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    word => word,
                });
            }
            other => out.push(other),
        }
    }
    Some(out)
}

/// The rest of a Python string up to `quote`, as a JSON string.
fn quoted(quote: char, chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\\' => match chars.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                other @ ('\\' | '\'' | '"') => text.push(other),
                other => {
                    text.push('\\');
                    text.push(other);
                }
            },
            end if end == quote => return Some(Value::String(text).to_string()),
            other => text.push(other),
        }
    }
}

/// The results of a tool turn. One may itself hold a closing tag: it ends with the last one before the
/// next opening tag that begins a line. What stands around them is counted.
fn responses(value: &str, at: At<'_>, losses: &mut Losses) -> Vec<String> {
    const OPEN: &str = "<tool_response>";
    const CLOSE: &str = "</tool_response>";
    let mut starts: Vec<usize> = value.match_indices(OPEN).map(|(at, _)| at).collect();
    starts.retain(|&at| at == 0 || value.as_bytes()[at - 1] == b'\n');
    let Some(&first) = starts.first() else { return vec![value.to_owned()] };
    let mut around = vec![&value[..first]];
    let ends = starts.iter().skip(1).copied().chain([value.len()]);
    let mut responses = Vec::with_capacity(starts.len());
    for (&start, end) in starts.iter().zip(ends) {
        let within = &value[start + OPEN.len()..end];
        let (within, behind) =
            within.rfind(CLOSE).map_or((within, ""), |close| (&within[..close], &within[close + CLOSE.len()..]));
        around.push(behind);
        responses.push(within.strip_prefix('\n').unwrap_or(within).trim_end_matches('\n').to_owned());
    }
    for _ in around.iter().filter(|text| !text.trim().is_empty()) {
        losses.kind("text:around a response".to_owned(), at.record);
    }
    responses
}

#[cfg(test)]
mod tests {
    use super::{call, reply, responses};
    use crate::chat::At;
    use crate::losses::Losses;

    #[test]
    fn a_response_may_hold_a_closing_tag() {
        let at = At { file: "f", record: 1 };
        let mut losses = Losses::default();
        let mut of = |value: &str| responses(value, at, &mut losses);
        let value = "<tool_response>\na </tool_response> b\n</tool_response>\n<tool_response>\nc\n</tool_response>";
        assert_eq!(of(value), ["a </tool_response> b", "c"]);
        assert_eq!(of("plain <tool_response>"), ["plain <tool_response>"]);
        assert_eq!(of("<tool_response>cut off"), ["cut off"]);
        assert_eq!(of("Result:\n<tool_response>a</tool_response> and more"), ["a"]);
        assert_eq!(losses.by_type["text:around a response"].count, 2);
    }

    #[test]
    fn calls_come_as_json_and_as_python() {
        for (text, wanted) in [
            (r#"{"name":"f","arguments":{"a":1}}"#, r#"f {"a":1}"#),
            (r#"{"name": "f", "arguments": "{\"a\": 1}"}"#, r#"f {"a": 1}"#),
            (
                r#"{'name': 'f', 'arguments': {'a': True, 'b': 'it\'s', 'c': None}}"#,
                r#"f {"a":true,"b":"it's","c":null}"#,
            ),
        ] {
            let call = call(text).expect("a call");
            assert_eq!(format!("{} {}", call.name, call.arguments), wanted);
        }
        assert_eq!(call("no call"), None);
        assert_eq!(call("{'name': 'f"), None);
    }

    #[test]
    fn thoughts_and_calls_are_cut_out_and_what_is_not_closed_stays() {
        let at = At { file: "f", record: 1 };
        let mut losses = Losses::default();
        let value = "<think>\nhm\n</think>\nLooking.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n<tool_call>\n[1]\n</tool_call>";
        let turn = reply(value, at, &mut losses);
        assert_eq!((turn.text().as_ref(), turn.reasoning.as_deref()), ("Looking.", Some("hm")));
        assert_eq!(turn.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["f", ""]);
        assert_eq!(losses.by_type["call:not readable"].count, 1);
        assert_eq!(reply("a <think> b", at, &mut losses).text(), "a <think> b");
    }
}
