//! Turns in their own roles, for every form that sends them so: what stands before and behind them
//! is the form's, and so is what becomes of the tools' part.

use laundromat_session::labels::LabelStyle;
use laundromat_session::normal_form::{Exchange, NO_OUTPUT, NOTE_PREFIX, Step, Text};
use laundromat_session::{Call, Message, MessageRole, Role, SentCall};

use super::form::{Built, Material};
use crate::axes::{Clear, HarnessRows};
use crate::caps::object_within;
use crate::labelled::{call_lines, fill};
use crate::request::Request;
use crate::tracked::Tracked;
use crate::view::{Item, RESULT_ELIDED, SEPARATOR, View};

/// What becomes of calls and results.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tools<'a> {
    /// Calls of the assistant's, results in messages of their own.
    Roles,
    /// Text of the assistant's and of the user's, labelled.
    AsText(&'a LabelStyle),
    /// Nothing is sent of them.
    Dropped,
}

/// A request while it is put together: what stands before the turns, the turns, what stands behind.
pub(super) struct Frame<'a> {
    from: Material<'a>,
    tools: Tools<'a>,
    request: Request,
    /// Leading system turns that are sent as what they are.
    own: usize,
    /// The first message that counts against the bound.
    first: usize,
}

impl<'a> Frame<'a> {
    pub(super) fn new(from: Material<'a>, tools: Tools<'a>) -> Self {
        Self { from, tools, request: Request::default(), own: 0, first: 0 }
    }

    /// A system message in front; none where `text` is empty.
    pub(super) fn system(mut self, text: &str) -> Self {
        if !text.is_empty() {
            self.request.messages.push(Message::text(MessageRole::System, text));
        }
        self.first = self.request.messages.len();
        self
    }

    /// The agent's own system prompt in front, where the window takes it in. It is a part of the
    /// session, so it counts against the bound.
    pub(super) fn own_system(mut self) -> Self {
        let view = self.from.view;
        self.own = view.records.iter().take_while(|record| record.role == Role::System).count();
        let kept = kept(view);
        let mut text = Tracked::default();
        for record in (0..self.own).filter(|record| kept[*record]) {
            if !text.text().is_empty() {
                text.push_own(SEPARATOR);
            }
            let said = view.typed_text(record);
            text.push_tracked(said);
        }
        if !text.text().trim().is_empty() {
            self.request.push_tracked(Message::text(MessageRole::System, text.text()), &text, 0);
        }
        self
    }

    /// The turns.
    pub(super) fn turns(self) -> Self {
        let Self { from, tools, request, own, first } = self;
        let view = from.view;
        let clear = from.arm.clear.as_ref();
        let results = view.normal.steps.iter().map(|step| match step {
            Step::Assistant { exchanges, .. } => exchanges.len(),
            Step::User(_) | Step::Note(_) => 0,
        });
        let cleared = clear.map_or(0, |clear| results.sum::<usize>().saturating_sub(clear.keep));
        let mut writer =
            Writer { view, kept: kept(view), tools, clear, cleared, own, harness_rows: from.arm.harness_rows, request };
        let mut gaps = gaps(view).peekable();
        for step in &view.normal.steps[writer.skipped()..] {
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
        if let Some(total) = &from.arm.caps.total {
            fit(&mut request.messages[first..], total.limit);
        }
        Self { from, tools, request, own, first }
    }

    /// Nothing behind the turns.
    pub(super) fn done(self) -> Built {
        let turn_chars = self.request.messages[self.first..].iter().map(Message::chars).sum();
        Built { request: self.request, turn_chars }
    }

    /// One more message behind the turns; none where `text` is empty.
    pub(super) fn last(self, role: MessageRole, text: &str) -> Built {
        let mut built = self.done();
        if !text.is_empty() {
            built.request.messages.push(Message::text(role, text));
        }
        built
    }
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
    tools: Tools<'v>,
    clear: Option<&'v Clear>,
    /// Results that are still to be cleared, oldest first.
    cleared: usize,
    /// Leading system records that were sent already.
    own: usize,
    harness_rows: HarnessRows,
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
    /// Steps that need not be written: leading system turns that were, and the lead in front of them.
    fn skipped(&self) -> usize {
        let steps = &self.view.normal.steps;
        let is_own = |step: &&Step| match step {
            Step::Note(record) => *record < self.own,
            Step::User(_) | Step::Assistant { .. } => false,
        };
        match steps.first() {
            Some(Step::User(Text::Fixed(_))) if self.own > 0 => {
                let notes = steps[1..].iter().take_while(is_own).count();
                // What follows must still begin with a user turn.
                if matches!(steps.get(1 + notes), Some(Step::User(_))) { 1 + notes } else { 0 }
            }
            _ => 0,
        }
    }

    fn marker(&mut self, marker: &str) {
        if marker.trim().is_empty() {
            return;
        }
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
            Step::Note(record) if self.kept[*record] && self.is_recorded_as_user(*record) => {
                let text = view.typed_text(*record);
                self.request.push_tracked(Message::text(MessageRole::User, text.text()), text, 0);
            }
            Step::Note(record) if self.kept[*record] && *record >= self.own => {
                let text = view.typed_text(*record);
                let message = Message::text(MessageRole::Assistant, format!("{NOTE_PREFIX}{}", text.text()));
                self.request.push_tracked(message, text, NOTE_PREFIX.len());
            }
            Step::Assistant { text, exchanges } => self.assistant(*text, exchanges),
            Step::User(_) | Step::Note(_) => {}
        }
    }

    /// Whether a harness row goes out as the user turn that it was recorded as.
    fn is_recorded_as_user(&self, record: usize) -> bool {
        self.harness_rows == HarnessRows::Recorded && self.view.records[record].role == Role::User
    }

    fn assistant(&mut self, text: Option<usize>, exchanges: &[Exchange]) {
        let own = Tracked::default();
        let text = text.filter(|record| self.kept[*record]).map_or(&own, |record| self.view.typed_text(record));
        let sent: Vec<&Exchange> =
            exchanges.iter().filter(|exchange| self.is_asked(exchange) || self.has_kept_result(exchange)).collect();
        if text.text().trim().is_empty() && sent.is_empty() {
            return;
        }
        match self.tools {
            Tools::Roles => {
                let calls = sent.iter().map(|exchange| self.call(exchange)).collect();
                let message = Message { calls, ..Message::text(MessageRole::Assistant, text.text()) };
                self.request.push_tracked(message, text, 0);
            }
            Tools::AsText(labels) => {
                let calls: Vec<Call> = sent.iter().map(|exchange| self.call(exchange)).map(recorded).collect();
                let lines = call_lines(labels, text.text(), &calls, None);
                let (said, text) = match text.text().trim().is_empty() {
                    true => (lines, &own),
                    false => (format!("{}{lines}", text.text()), text),
                };
                if !said.is_empty() {
                    self.request.push_tracked(Message::text(MessageRole::Assistant, said), text, 0);
                }
            }
            Tools::Dropped => {
                if !text.text().trim().is_empty() {
                    self.request.push_tracked(Message::text(MessageRole::Assistant, text.text()), text, 0);
                }
                return;
            }
        }
        for exchange in sent {
            self.result(exchange);
        }
    }

    fn result(&mut self, exchange: &Exchange) {
        let own = Tracked::default();
        if self.cleared > 0
            && let Some(clear) = self.clear
        {
            self.cleared -= 1;
            self.send_result(exchange, &clear.placeholder, &own);
            return;
        }
        match exchange.result {
            Text::Recorded(record) if self.kept[record] => {
                // A cap or a shield can leave nothing of a result, and a blank one is refused.
                let tracked = self.view.typed_text(record);
                let blank = tracked.text().trim().is_empty();
                if blank {
                    self.send_result(exchange, NO_OUTPUT, &own);
                } else {
                    self.send_result(exchange, tracked.text(), tracked);
                }
            }
            Text::Recorded(_) => self.send_result(exchange, RESULT_ELIDED, &own),
            Text::Fixed(fixed) => self.send_result(exchange, fixed, &own),
        }
    }

    fn send_result(&mut self, exchange: &Exchange, text: &str, tracked: &Tracked) {
        match self.tools {
            Tools::Roles => self.request.push_tracked(Message::result(&exchange.call.id, text), tracked, 0),
            Tools::AsText(labels) => {
                let holes = [("{id}", exchange.recorded_id.as_str()), ("{name}", &exchange.call.name)];
                let label = fill(labels.tool, &holes);
                let message = Message::text(MessageRole::User, format!("{label}{text}"));
                self.request.push_tracked(message, tracked, label.len());
            }
            Tools::Dropped => {}
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

/// A sent call as flattened text writes it.
fn recorded(call: SentCall) -> Call {
    Call { id: call.id, name: call.name, arguments: call.arguments }
}
