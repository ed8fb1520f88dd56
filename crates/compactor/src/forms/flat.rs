//! Flattened turns: one labelled text record a turn. What is not escaped can pass itself off as a
//! record, which is the weakness that flattened arms measure.

use std::borrow::Cow;

use laundromat_session::labels::{CallPlace, LabelStyle, STYLES};
use laundromat_session::{Message, MessageRole, Role};

use super::form::{Built, Material};
use crate::arm::Arm;
use crate::axes::{Escape, Instructions, Presence, Results, Shown, Thoughts};
use crate::escape::Escaper;
use crate::labelled::{call_lines, end, label};
use crate::records::Record;
use crate::request::{Carried, Request};
use crate::tracked::{Tracked, char_offset};
use crate::view::{Item, SEPARATOR, View};

/// How a transcript is written.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// Its labels.
    pub labels: &'a LabelStyle,
    /// What it shows.
    pub shown: Shown,
    /// How thoughts stand in it.
    pub thoughts: Option<&'a Thoughts>,
    /// How session text is escaped.
    pub escape: Option<&'a Escape>,
}

impl<'a> Transcript<'a> {
    /// As `arm` says.
    pub fn of(arm: &'a Arm) -> Self {
        Self {
            labels: arm.labels.unwrap_or(&STYLES[0]),
            shown: arm.shown,
            thoughts: arm.thoughts.as_ref(),
            escape: arm.escape.as_ref(),
        }
    }
}

/// Flattens a view.
pub fn block(view: &View, transcript: Transcript<'_>) -> Tracked {
    let mut out = Tracked::default();
    flatten(view, &view.items, transcript, &mut out);
    out
}

/// Appends some items of a view to `out`, flattened.
fn flatten<'v>(view: &'v View, items: &[Item], transcript: Transcript<'v>, out: &mut Tracked) {
    let size = |item: &Item| match item {
        Item::Kept(index) => {
            let record = &view.records[*index];
            let calls: usize = record.calls.iter().map(|call| call.name.len() + call.arguments.len() + 64).sum();
            record.text.text().len() + calls + 64
        }
        Item::Gap { marker, .. } => marker.len(),
    };
    let stretches = |item: &Item| match item {
        Item::Kept(index) => view.records[*index].text.stretches().len(),
        Item::Gap { .. } => 0,
    };
    out.reserve(items.iter().map(size).sum(), items.iter().map(stretches).sum());
    let mut writer = Writer {
        view,
        labels: transcript.labels,
        shown: transcript.shown,
        thoughts: transcript.thoughts,
        escaper: transcript.escape.map(Escaper::new),
        out,
        joins: false,
    };
    for item in items {
        match item {
            Item::Kept(index) => writer.record(*index),
            Item::Gap { marker, .. } => {
                writer.out.push_own(marker);
                writer.joins = false;
            }
        }
    }
}

struct Writer<'v, 'o> {
    view: &'v View,
    labels: &'v LabelStyle,
    shown: Shown,
    thoughts: Option<&'v Thoughts>,
    escaper: Option<Escaper>,
    out: &'o mut Tracked,
    /// An entry stands directly before, so that the next one is parted from it.
    joins: bool,
}

impl Writer<'_, '_> {
    fn record(&mut self, index: usize) {
        let view = self.view;
        let record = &view.records[index];
        if record.role == Role::System && self.shown.system == Presence::LeftOut {
            return;
        }
        if record.role == Role::Tool && self.shown.results == Results::LeftOut {
            return;
        }
        self.thought(record);
        let shortened = view.shortened.get(&index).map(|shortened| &shortened.flat);
        let calls = match (shortened, self.shown.calls) {
            (None, Presence::Shown) => {
                call_lines(self.labels, record.text.text(), &record.calls, self.escaper.as_ref())
            }
            // A shortened record holds what is left of its calls.
            (Some(_), _) | (_, Presence::LeftOut) => String::new(),
        };
        let mut body = shortened.unwrap_or(&record.text);
        let type_name = self.type_name(index);
        if let Some(name) = &type_name {
            body = name;
        }
        let is_apart = self.labels.calls.place == CallPlace::Apart;
        let leaves_none = is_apart || calls.is_empty();
        // A turn that only calls has no entry where its calls stand apart, or are not shown.
        if !(leaves_none && !record.calls.is_empty() && body.text().trim().is_empty()) {
            self.entry(&label(self.labels, record, index + 1, self.escaper.as_ref()));
            self.body(body);
            if !is_apart {
                self.out.push_own(&calls);
            }
            self.out.push_own(end(self.labels, record));
        }
        if is_apart && !calls.is_empty() {
            self.entry(&calls);
        }
    }

    fn thought(&mut self, record: &Record) {
        let Some(thoughts) = self.thoughts.filter(|_| !record.thought.trim().is_empty()) else { return };
        let end = thoughts.most.map_or(record.thought.len(), |most| char_offset(&record.thought, most));
        let cut = &record.thought[..end];
        let thought = self.escaper.as_ref().map_or(Cow::Borrowed(cut), |escaper| escaper.text(cut));
        self.entry(&format!("{}{thought}", thoughts.label));
    }

    /// What stands for a turn that holds no text, with harnesses that look for nothing else.
    fn type_name(&self, index: usize) -> Option<Tracked> {
        let record = &self.view.records[index];
        let name = match record.role {
            _ if self.shown.results != Results::TypeName => return None,
            Role::Tool => "function_result",
            Role::Assistant if !record.calls.is_empty() && record.text.text().trim().is_empty() => "function_call",
            _ => return None,
        };
        let mut text = Tracked::default();
        text.push_own(name);
        Some(text)
    }

    fn entry(&mut self, text: &str) {
        if self.joins {
            self.out.push_own(self.labels.between);
        }
        self.joins = true;
        self.out.push_own(text);
    }

    fn body(&mut self, body: &Tracked) {
        match &self.escaper {
            None => self.out.push_tracked(body),
            Some(escaper) => escaper.push(self.out, body),
        }
    }
}

/// A request that is written but for what stands behind its turns.
pub(super) struct Written<'a> {
    arm: &'a Arm,
    frame: Frame,
    text: Tracked,
}

impl<'a> Written<'a> {
    /// Flattens some items of the view.
    pub(super) fn of(from: Material<'a>, items: &[Item]) -> Self {
        Self::with(from, |text| flatten(from.view, items, Transcript::of(from.arm), text))
    }

    /// With `write` for what writes the turns.
    pub(super) fn with(from: Material<'a>, write: impl FnOnce(&mut Tracked)) -> Self {
        let frame = Frame::of(from);
        // The turns are written where they stay: they can be large.
        let mut text = Tracked::own(&frame.before);
        write(&mut text);
        Self { arm: from.arm, frame, text }
    }

    /// The turns.
    pub(super) fn turns(&self) -> &str {
        &self.text.text()[self.frame.before.len()..]
    }

    /// The turns in a message of `role`, with the arm's instructions around them, behind the system
    /// message where the arm has one.
    pub(super) fn request(mut self, role: MessageRole) -> Built {
        // Without a bound it only matters whether there are any.
        let turn_chars = match self.arm.caps.total {
            Some(_) => self.turns().chars().count(),
            None => self.turns().len(),
        };
        self.text.push_own(&self.frame.behind);
        let system = self.frame.system.map(|text| Message::text(MessageRole::System, text));
        let (text, stretches) = self.text.into_parts();
        let carried = Carried::new(usize::from(system.is_some()), 0, stretches).into_iter().collect();
        let messages = system.into_iter().chain([Message::text(role, text)]).collect();
        Built { request: Request { messages, carried }, turn_chars }
    }
}

/// What stands around turns.
struct Frame {
    system: Option<String>,
    before: String,
    behind: String,
}

impl Frame {
    fn of(from: Material<'_>) -> Self {
        let prose = from.prose;
        let (system, head, tail) = match from.arm.instructions {
            Instructions::Around => {
                (None, prose.join(&[prose.preamble, prose.task, prose.previous()]), prose.join(&[&prose.structure]))
            }
            Instructions::UserHead => {
                (None, prose.join(&[prose.preamble, prose.task, &prose.structure, prose.previous()]), String::new())
            }
            Instructions::UserTail => (None, prose.previous().to_owned(), prose.all()),
            Instructions::System | Instructions::SystemTail => {
                (Some(prose.all()), prose.previous().to_owned(), String::new())
            }
            Instructions::SystemUserHead => (
                Some(prose.preamble.to_owned()),
                prose.join(&[prose.task, &prose.structure, prose.previous()]),
                String::new(),
            ),
            Instructions::SystemUserTail => (
                Some(prose.preamble.to_owned()),
                prose.previous().to_owned(),
                prose.join(&[prose.task, &prose.structure]),
            ),
        };
        let (open, close) = from.arm.wrapper.as_ref().map_or(("", ""), |wrapper| (&*wrapper.open, &*wrapper.close));
        Self {
            system: system.filter(|text| !text.is_empty()),
            before: format!("{}{}{open}", spaced(&head, "", SEPARATOR), prose.before),
            behind: format!("{close}{}{}", prose.behind, spaced(&tail, SEPARATOR, "")),
        }
    }
}

/// `text` with what parts it from its neighbour; nothing where there is none.
fn spaced(text: &str, before: &str, behind: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}{behind}") }
}
