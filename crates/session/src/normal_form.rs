//! One normal form for every route: each call has exactly one result, directly after it; ids,
//! names and arguments fit everywhere. It is made once, before any bound is applied, and routes
//! only translate it. A call holds its result, so that a broken pair cannot be written down.
//!
//! Rules: `docs/architecture.md`, "Normal form". The turns that go in are never changed.

use serde_json::Value;

use crate::message::{Message, MessageRole, SentCall};
use crate::turn::Call;

/// Result text of a call that has none.
pub const NO_RESULT: &str = "[no result recorded]";
/// Result text of a call whose result is blank.
pub const NO_OUTPUT: &str = "[no output]";
/// First user turn of a range that starts in the middle.
pub const LEAD: &str = "[earlier turns not included]";
/// The assistant's turn between a result and a person's words, for servers that want one there.
pub const BRIDGE: &str = "[no reply recorded]";
/// What opens a harness row: it is sent as assistant text, since no person wrote it.
pub const NOTE_PREFIX: &str = "[INTERNAL CONTEXT] ";
/// Tool name of a result that no call asked for.
pub const UNKNOWN_TOOL: &str = "unknown_tool";
/// Longest tool name every route takes.
const NAME_LIMIT: usize = 64;

/// Who speaks, as far as the normal form tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person.
    User,
    /// The harness, or anything else that is neither a person, the model nor a tool.
    Harness,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// One turn as it goes in.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Who speaks.
    pub speaker: Speaker,
    /// The text.
    pub text: &'a str,
    /// The calls of an assistant turn.
    pub calls: &'a [Call],
    /// On a tool turn: the id of the call it answers (empty where the source has none).
    pub call_id: &'a str,
    /// The turn has recorded reasoning, which is never replayed.
    pub has_reasoning: bool,
}

/// A text of the normal form: recorded ones are named by their input turn, so that nothing is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// The text of input turn `n`.
    Recorded(usize),
    /// One of this module's fixed texts.
    Fixed(&'static str),
}

/// A call with its one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The call as every route takes it.
    pub call: SentCall,
    /// The recorded id, for logs.
    pub recorded_id: String,
    /// The result.
    pub result: Text,
    /// Input turn of the call itself; `None` for a result that no call asked for.
    pub asked_in: Option<usize>,
}

/// One step of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A person's words.
    User(Text),
    /// A harness row, sent as assistant text behind [`NOTE_PREFIX`].
    Note(usize),
    /// The model's turn: its text where it is not blank, and its calls.
    Assistant {
        /// Input turn with the text; `None` where there is none worth sending.
        text: Option<usize>,
        /// The calls with their results, in call order.
        exchanges: Vec<Exchange>,
    },
}

/// What had to be mended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Blank user, harness and assistant turns left out.
    pub dropped_blank: usize,
    /// Tool names changed.
    pub renamed: usize,
    /// Argument texts changed.
    pub args_wrapped: usize,
    /// Calls given [`NO_RESULT`].
    pub missing_results: usize,
    /// Results given a call of their own.
    pub orphan_results: usize,
    /// Blank results given [`NO_OUTPUT`].
    pub empty_results: usize,
    /// Turns whose reasoning is not replayed.
    pub reasoning_dropped: usize,
    /// Harness rows sent as assistant text.
    pub harness_notes: usize,
    /// 1 where [`LEAD`] was put in front.
    pub lead_inserted: usize,
}

/// A conversation that every route accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NormalForm {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// What had to be mended.
    pub report: Report,
}

/// Brings turns to the normal form.
pub fn normal_form(turns: &[Input<'_>]) -> NormalForm {
    let mut form = NormalForm::default();
    let mut builder = Builder { form: &mut form, open: None, made: 0 };
    for (index, turn) in turns.iter().enumerate() {
        builder.add(index, turn);
    }
    builder.close();
    if !matches!(form.steps.first(), None | Some(Step::User(_))) {
        form.steps.insert(0, Step::User(Text::Fixed(LEAD)));
        form.report.lead_inserted = 1;
    }
    form
}

struct Builder<'f> {
    form: &'f mut NormalForm,
    /// The step whose calls can still be answered.
    open: Option<Open>,
    made: usize,
}

struct Open {
    step: usize,
    answered: Vec<bool>,
}

impl Builder<'_> {
    fn add(&mut self, index: usize, turn: &Input<'_>) {
        self.form.report.reasoning_dropped += usize::from(turn.has_reasoning);
        let blank = is_blank(turn.text);
        match turn.speaker {
            Speaker::Tool => self.answer(index, turn, blank),
            Speaker::User | Speaker::Harness => {
                self.close();
                if blank {
                    self.form.report.dropped_blank += 1;
                } else if turn.speaker == Speaker::User {
                    self.form.steps.push(Step::User(Text::Recorded(index)));
                } else {
                    self.form.report.harness_notes += 1;
                    self.form.steps.push(Step::Note(index));
                }
            }
            Speaker::Assistant => {
                self.close();
                if blank && turn.calls.is_empty() {
                    self.form.report.dropped_blank += 1;
                    return;
                }
                let exchanges: Vec<Exchange> =
                    turn.calls.iter().map(|call| self.exchange(Some(index), call, Text::Fixed(NO_RESULT))).collect();
                self.open = Some(Open { step: self.form.steps.len(), answered: vec![false; exchanges.len()] });
                self.form.steps.push(Step::Assistant { text: (!blank).then_some(index), exchanges });
            }
        }
    }

    /// Gives a result to the oldest unanswered call with its id, or a call of its own: never to a
    /// neighbour, and never a user turn.
    fn answer(&mut self, index: usize, turn: &Input<'_>, blank: bool) {
        let result = if blank {
            self.form.report.empty_results += 1;
            Text::Fixed(NO_OUTPUT)
        } else {
            Text::Recorded(index)
        };
        if let Some(open) = &mut self.open
            && let Some(Step::Assistant { exchanges, .. }) = self.form.steps.get_mut(open.step)
        {
            let hit = exchanges
                .iter_mut()
                .zip(&mut open.answered)
                .find(|(exchange, answered)| !**answered && exchange.recorded_id == turn.call_id);
            if let Some((exchange, answered)) = hit {
                exchange.result = result;
                *answered = true;
                return;
            }
        }
        self.form.report.orphan_results += 1;
        let stub = Call { id: turn.call_id.to_owned(), name: UNKNOWN_TOOL.to_owned(), arguments: "{}".to_owned() };
        let exchange = self.exchange(None, &stub, result);
        self.form.steps.push(Step::Assistant { text: None, exchanges: vec![exchange] });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.form.report.missing_results += open.answered.iter().filter(|answered| !**answered).count();
        }
    }

    fn exchange(&mut self, asked_in: Option<usize>, call: &Call, result: Text) -> Exchange {
        self.made += 1;
        let name = fit_name(&call.name);
        let arguments = fit_arguments(&call.arguments);
        self.form.report.renamed += usize::from(name != call.name);
        self.form.report.args_wrapped += usize::from(arguments != call.arguments);
        Exchange {
            call: SentCall { id: format!("call{:05}", self.made), name, arguments },
            recorded_id: call.id.clone(),
            result,
            asked_in,
        }
    }
}

impl NormalForm {
    /// The conversation as messages; `text` gives the text of an input turn.
    pub fn messages<'t>(&self, text: impl Fn(usize) -> &'t str) -> Vec<Message> {
        let resolve = |which: Text| match which {
            Text::Recorded(index) => text(index),
            Text::Fixed(fixed) => fixed,
        };
        let mut messages = Vec::new();
        for step in &self.steps {
            match step {
                Step::User(which) => messages.push(Message::text(MessageRole::User, resolve(*which))),
                Step::Note(index) => {
                    messages.push(Message::text(MessageRole::Assistant, format!("{NOTE_PREFIX}{}", text(*index))))
                }
                Step::Assistant { text: said, exchanges } => {
                    messages.push(Message {
                        calls: exchanges.iter().map(|exchange| exchange.call.clone()).collect(),
                        ..Message::text(MessageRole::Assistant, said.map_or("", &text))
                    });
                    messages.extend(
                        exchanges.iter().map(|exchange| Message::result(&exchange.call.id, resolve(exchange.result))),
                    );
                }
            }
        }
        messages
    }
}

/// Whether some server would find nothing in the text. Servers differ in whether the four separators
/// before the space are white space; what one of them calls blank is blank here.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// The name as every route takes it: letters, digits, `_` and `-`, not starting with a digit or
/// `-`, at most 64 long, never empty.
pub fn fit_name(name: &str) -> String {
    let mut fitted: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    if fitted.is_empty() {
        fitted.push_str("tool");
    }
    if !fitted.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        fitted.insert(0, '_');
    }
    fitted.truncate(NAME_LIMIT);
    fitted
}

/// The arguments as the text of a JSON object. A valid object stays byte for byte; empty text
/// becomes `{}`; another JSON value goes under `_value`, anything else under `_raw`.
pub fn fit_arguments(arguments: &str) -> String {
    if is_blank(arguments) {
        return "{}".to_owned();
    }
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.to_owned(),
        Ok(value) => wrap("_value", value),
        Err(_) => wrap("_raw", Value::from(arguments)),
    }
}

/// `{"key": value}` as compact JSON text.
pub fn wrap(key: &str, value: Value) -> String {
    Value::Object([(key.to_owned(), value)].into_iter().collect()).to_string()
}
