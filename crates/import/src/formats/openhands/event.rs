//! What any event is, and a session while its events are read.

use std::collections::{HashMap, HashSet, VecDeque};

use laundromat_session::{Call, Role, Turn};
use serde_json::value::RawValue;

use crate::chat::{At, id, time};
use crate::fields::{Fields, items_of};
use crate::input::History;
use crate::outlet::Draft;
use crate::reader::Confidence;

/// Kinds that tell a stream of the SDK.
const KINDS: [&str; 9] = [
    "SystemPromptEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "ConversationStateUpdateEvent",
    "Condensation",
    "PauseEvent",
];

/// How much an object looks like an event.
pub(super) fn confidence(fields: &Fields<'_>) -> Option<Confidence> {
    if fields.text("kind").is_some_and(|kind| KINDS.contains(&kind.as_ref())) {
        return Some(Confidence::Sure);
    }
    let (acts, observes) = (fields.text("action").is_some(), fields.text("observation").is_some());
    if acts == observes || fields.has("role") {
        return None;
    }
    let newer = fields.has("source") && (fields.has("args") || fields.has("extras"));
    let bodies = ["args", "extras", "content", "command", "code", "thought"];
    if newer { Some(Confidence::Sure) } else { bodies.iter().any(|key| fields.has(key)).then_some(Confidence::Likely) }
}

/// A session while its events are read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) draft: Draft,
    file: String,
    history: History,
    seen: HashSet<Box<str>>,
    /// Ids of calls by the event that made them.
    by_event: HashMap<Box<str>, String>,
    /// Calls of events without ids, in order: their observations have nothing but the order either.
    open: VecDeque<String>,
    made: usize,
    /// What a person ran beside the agent.
    pub(super) by_user: HashSet<Box<str>>,
    /// The last reply, as long as it may go on: its id and its turn.
    reply: Option<(String, usize)>,
    condensed: usize,
}

impl Reading {
    /// A session of `file`, wanted in the state `history`.
    pub(super) fn new(file: String, history: History) -> Self {
        Self {
            draft: Draft::default(),
            file,
            history,
            seen: HashSet::new(),
            by_event: HashMap::new(),
            open: VecDeque::new(),
            made: 0,
            by_user: HashSet::new(),
            reply: None,
            condensed: 0,
        }
    }

    /// An item of a list: an event, or a pair of them.
    pub(super) fn item(&mut self, item: &RawValue, record: usize) {
        if let Some(fields) = Fields::of(item) {
            self.event(&fields, record);
        } else if let Some(pair) = items_of(item) {
            for event in pair {
                match Fields::of(event) {
                    Some(fields) => self.event(&fields, record),
                    None => self.draft.losses.skip(record, "an event that is no object"),
                }
            }
        } else {
            self.draft.losses.skip(record, "an event that is no object");
        }
    }

    /// Takes over one event.
    pub(super) fn event(&mut self, fields: &Fields<'_>, record: usize) {
        // Events that never were stored have a negative id.
        let own = id(fields, "id").filter(|id| !id.starts_with('-'));
        if let Some(own) = &own
            && !self.seen.insert(own.as_str().into())
        {
            self.draft.losses.duplicates.add(record);
            return;
        }
        if fields.text("kind").is_some() {
            self.newer(fields, record);
        } else if fields.has("action") {
            self.action(fields, own.as_deref(), record);
        } else if fields.has("observation") {
            self.observation(fields, own.as_deref(), record);
        } else {
            self.draft.losses.kind("record:", record);
        }
    }

    /// A turn of `role`, at the time of its event.
    pub(super) fn turn(&self, role: Role, text: impl Into<String>, fields: &Fields<'_>, record: usize) -> Turn {
        Turn { ts: time(fields, "timestamp"), ..At { file: &self.file, record }.says(role, text) }
    }

    /// Adds a turn that ends the reply before it.
    pub(super) fn push(&mut self, turn: Turn) {
        if turn.role != Role::Tool {
            self.reply = None;
        }
        self.draft.turns.push(turn);
    }

    /// Adds a call with what was said before it: to the reply with the id `reply`, where that is the last
    /// one, else as a reply of its own.
    pub(super) fn call(&mut self, reply: Option<String>, turn: Turn, call: Call) {
        let same = match (&self.reply, &reply) {
            (Some((last, place)), Some(reply)) if last == reply => Some(*place),
            _ => None,
        };
        let Some(place) = same else {
            self.push(Turn { calls: vec![call], ..turn });
            let place = self.draft.turns.len() - 1;
            self.reply = reply.map(|reply| (reply, place));
            return;
        };
        let host = &mut self.draft.turns[place];
        // What was said is repeated on each action of some versions.
        if host.text().is_empty() {
            host.parts = turn.parts;
        }
        host.reasoning = host.reasoning.take().or(turn.reasoning);
        host.calls.push(call);
    }

    /// The id of a call whose event has none for it, made from the event's own id or its place.
    pub(super) fn call_id(&mut self, event: Option<&str>, given: Option<String>) -> String {
        let call = given.unwrap_or_else(|| match event {
            Some(event) => format!("event-{event}"),
            None => {
                self.made += 1;
                format!("action-{}", self.made)
            }
        });
        match event {
            Some(event) => {
                self.by_event.insert(event.into(), call.clone());
            }
            None => self.open.push_back(call.clone()),
        }
        call
    }

    /// The call that an observation answers: the one it names, that of its cause, or, where events have no
    /// ids, the oldest open one.
    pub(super) fn answered(&mut self, fields: &Fields<'_>, named: Option<String>, own: Option<&str>) -> Option<String> {
        let cause = || id(fields, "cause").or_else(|| id(fields, "action_id"));
        if named.is_some() {
            return named;
        }
        match cause() {
            Some(cause) => self.by_event.get(cause.as_str()).cloned().or(Some(format!("event-{cause}"))),
            None if own.is_none() => self.open.pop_front(),
            None => None,
        }
    }

    /// A condensation: a marker that holds the summary.
    pub(super) fn condensation(&mut self, summary: Option<&str>, fields: &Fields<'_>, record: usize) {
        self.condensed += 1;
        if self.history == History::Live {
            let turn = self.turn(Role::Marker("compaction".to_owned()), summary.unwrap_or_default(), fields, record);
            self.push(turn);
        }
    }

    /// Ends the session.
    pub(super) fn finish(mut self) -> Draft {
        if self.condensed > 0 && self.history == History::Live {
            let note = format!(
                "condensed {} time(s): the events that were forgotten stand here still, the summaries as markers",
                self.condensed
            );
            self.draft.notes.push(note);
        }
        self.draft
    }
}
