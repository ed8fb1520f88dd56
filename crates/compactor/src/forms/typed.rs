//! `typed`: turns in their own roles. Tool text goes out only as a tool result, harness rows as
//! assistant text, and the last message is a user message that points at what stands before it.

use laundromat_session::normal_form::{Exchange, NO_OUTPUT, NOTE_PREFIX, Step, Text};
use laundromat_session::{Message, MessageRole, SentCall};

use crate::arm::Arm;
use crate::caps::object_within;
use crate::prompt::Prompt;
use crate::request::Request;
use crate::tracked::Tracked;
use crate::view::{Item, RESULT_ELIDED, SEPARATOR, View};

pub(super) fn build(view: &View, arm: &Arm, prompt: &Prompt, structure: &str) -> Request {
    let mut request = Request::default();
    let system = [prompt.preamble.as_str(), &prompt.task, structure].join(SEPARATOR);
    request.messages.push(Message::text(MessageRole::System, system));
    let mut writer = Writer { view, kept: kept(view), request };
    let mut gaps = gaps(view).peekable();
    for step in &view.normal.steps {
        // A gap's marker goes in front of the first step that begins behind it, so that it never
        // parts a call from its result.
        while gaps.peek().is_some_and(|(behind, _)| starts(step).is_some_and(|start| start >= *behind)) {
            if let Some((_, marker)) = gaps.next() {
                writer.marker(marker);
            }
        }
        writer.step(step);
    }
    for (_, marker) in gaps {
        writer.marker(marker);
    }
    let mut request = writer.request;
    if let Some(total) = &arm.caps.total {
        fit(&mut request.messages[1..], total.limit);
    }
    request.messages.push(Message::text(MessageRole::User, arm.pointer.clone().unwrap_or_default()));
    request
}

/// What roles cost beyond flattened text (results for calls that have none, arguments made valid) can
/// pass the bound that the view was sampled to. Then the longest arguments give way, and nothing else.
fn fit(messages: &mut [Message], limit: usize) {
    let total: usize = messages.iter().map(Message::chars).sum();
    let Some(mut over) = total.checked_sub(limit + 1).map(|over| over + 1) else { return };
    let mut arguments: Vec<&mut String> =
        messages.iter_mut().flat_map(|message| &mut message.calls).map(|call| &mut call.arguments).collect();
    arguments.sort_by_key(|arguments| std::cmp::Reverse(arguments.len()));
    for text in arguments {
        let length = text.chars().count();
        let room = length.saturating_sub(over);
        *text = object_within(text, room, room);
        over = over.saturating_sub(length.saturating_sub(text.chars().count()));
        if over == 0 {
            return;
        }
    }
}

struct Writer<'v> {
    view: &'v View,
    /// Whether each record was kept.
    kept: Vec<bool>,
    request: Request,
}

fn kept(view: &View) -> Vec<bool> {
    let mut kept = vec![false; view.records.len()];
    for index in view.kept() {
        kept[index] = true;
    }
    kept
}

/// For each gap the first record behind it, and its marker.
fn gaps(view: &View) -> impl Iterator<Item = (usize, &str)> {
    view.items.iter().filter_map(|item| match item {
        Item::Gap { last, marker, .. } => Some((last + 1, marker.as_str())),
        Item::Kept(_) => None,
    })
}

/// The record a step begins with.
fn starts(step: &Step) -> Option<usize> {
    match step {
        Step::User(Text::Fixed(_)) => None,
        Step::User(Text::Recorded(record)) | Step::Note(record) => Some(*record),
        Step::Assistant { text, exchanges } => text.or_else(|| {
            let first = exchanges.first()?;
            first.asked_in.or(match first.result {
                Text::Recorded(record) => Some(record),
                Text::Fixed(_) => None,
            })
        }),
    }
}

impl Writer<'_> {
    fn marker(&mut self, marker: &str) {
        let text = format!("{NOTE_PREFIX}{}", marker.trim());
        self.request.messages.push(Message::text(MessageRole::Assistant, text));
    }

    fn is_kept(&self, text: Text) -> bool {
        match text {
            Text::Recorded(record) => self.kept[record],
            Text::Fixed(_) => true,
        }
    }

    fn step(&mut self, step: &Step) {
        let view = self.view;
        match step {
            Step::User(Text::Fixed(lead)) => self.request.messages.push(Message::text(MessageRole::User, *lead)),
            Step::User(Text::Recorded(record)) if self.kept[*record] => {
                let text = view.typed_text(*record);
                self.request.push_tracked(Message::text(MessageRole::User, text.text()), text, 0);
            }
            Step::Note(record) if self.kept[*record] => {
                let text = view.typed_text(*record);
                let message = Message::text(MessageRole::Assistant, format!("{NOTE_PREFIX}{}", text.text()));
                self.request.push_tracked(message, text, NOTE_PREFIX.len());
            }
            Step::Assistant { text, exchanges } => self.assistant(*text, exchanges),
            Step::User(_) | Step::Note(_) => {}
        }
    }

    fn assistant(&mut self, text: Option<usize>, exchanges: &[Exchange]) {
        let own = Tracked::default();
        let text = text.filter(|record| self.kept[*record]).map_or(&own, |record| self.view.typed_text(record));
        let sent: Vec<&Exchange> =
            exchanges.iter().filter(|exchange| self.is_asked(exchange) || self.has_kept_result(exchange)).collect();
        if text.text().trim().is_empty() && sent.is_empty() {
            return;
        }
        let calls = sent.iter().map(|exchange| self.call(exchange)).collect();
        self.request.push_tracked(Message { calls, ..Message::text(MessageRole::Assistant, text.text()) }, text, 0);
        for exchange in sent {
            match exchange.result {
                Text::Recorded(record) if self.kept[record] => {
                    // A cap or a shield can leave nothing of a result, and a blank one is refused.
                    let blank = self.view.typed_text(record).text().trim().is_empty();
                    let result = if blank { NO_OUTPUT } else { self.view.typed_text(record).text() };
                    let message = Message::result(&exchange.call.id, result);
                    let tracked = if blank { &own } else { self.view.typed_text(record) };
                    self.request.push_tracked(message, tracked, 0);
                }
                Text::Recorded(_) => self.request.messages.push(Message::result(&exchange.call.id, RESULT_ELIDED)),
                Text::Fixed(fixed) => self.request.messages.push(Message::result(&exchange.call.id, fixed)),
            }
        }
    }

    /// Whether the record with the call itself was kept.
    fn is_asked(&self, exchange: &Exchange) -> bool {
        exchange.asked_in.is_some_and(|record| self.kept[record])
    }

    fn has_kept_result(&self, exchange: &Exchange) -> bool {
        matches!(exchange.result, Text::Recorded(_)) && self.is_kept(exchange.result)
    }

    /// The call, without its arguments where their record was dropped.
    fn call(&self, exchange: &Exchange) -> SentCall {
        let asked = exchange.asked_in.is_none() || self.is_asked(exchange);
        SentCall {
            arguments: if asked { exchange.call.arguments.clone() } else { "{}".to_owned() },
            ..exchange.call.clone()
        }
    }
}
