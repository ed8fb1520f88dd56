//! What probes share: sessions of their own, and one compaction walked to its end.

use std::collections::BTreeSet;

use laundromat_session::{Call, Part, Role, Session, Turn};

use crate::axes::{After, Placement};
use crate::compactor::{Compactor, Given, Next, Refusal};
use crate::forms::Form;
use crate::next_context::NextContext;
use crate::request::Request;
use crate::view::{Item, View};

/// The date that probes show to a summarizer.
pub(super) const DATE: &str = "2026-01-01";
/// What a summarizer answers where nothing else is said: it is also a change of a state that changes nothing.
pub(super) const SUMMARY: &str = "{}";
/// Characters of filling that make a turn so long that no tail takes in a whole session.
const FILLING: usize = 4000;
/// Rounds of the probes' own session.
const ROUNDS: usize = 12;

/// One compaction.
pub(super) struct Compacted {
    /// What was asked, or what stands in place of the turns.
    pub(super) requests: Vec<Request>,
    /// Turns that a mark stands for, where they were left out.
    pub(super) marked: BTreeSet<usize>,
    /// What came out; `None` where the arm does not say.
    pub(super) next: Option<NextContext>,
}

impl Compacted {
    /// Whether any of a turn's text was sent to the summarizer, or stands in place of the turns.
    pub(super) fn carries(&self, turn: usize) -> bool {
        self.requests.iter().flat_map(Request::runs).any(|run| run.origin.turn == turn)
    }
}

/// Compacts `session`: what the arm's `[keep]` makes old, or all of it.
pub(super) fn compact(compactor: &Compactor, session: &Session, summary: &str) -> Result<Compacted, Refusal> {
    compact_given(compactor, session, summary, Given { date: DATE, previous: None })
}

/// The same, given an earlier summary.
pub(super) fn compact_given(
    compactor: &Compactor,
    session: &Session,
    summary: &str,
    given: Given<'_>,
) -> Result<Compacted, Refusal> {
    let partition = compactor.partition(session);
    let view = match &partition {
        Some(partition) => compactor.summarized(session, partition),
        None => compactor.view(compactor.records(session)),
    };
    let (requests, text) = walk(compactor, &view, given, summary)?;
    let next = match &partition {
        // What is built from the session's own statement cannot contradict it; a refusal would be a defect here.
        Some(partition) => compactor.next_context(session, partition, &text).ok().flatten(),
        None => None,
    };
    Ok(Compacted { requests, marked: marked(compactor, &view), next })
}

/// Every request of a compaction, and its summary.
pub(super) fn walk(
    compactor: &Compactor,
    view: &View,
    given: Given<'_>,
    reply: &str,
) -> Result<(Vec<Request>, String), Refusal> {
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    loop {
        match compactor.next(view, given, &replies)? {
            Next::Ask(request) => requests.push(request),
            Next::Summary(text) => return Ok((requests, text)),
            Next::Replace(request) => {
                requests.push(request);
                return Ok((requests, String::new()));
            }
        }
        replies.push(reply.to_owned());
    }
}

/// Turns for which a mark stands: those between slices, and results that were cleared.
fn marked(compactor: &Compactor, view: &View) -> BTreeSet<usize> {
    let mut marked = BTreeSet::new();
    for item in &view.items {
        if let Item::Gap { first, last, marker } = item
            && !marker.trim().is_empty()
        {
            marked.extend(view.records[*first..=*last].iter().map(|record| record.turn));
        }
    }
    if compactor.arm().form == Form::ClearOnly {
        marked.extend(view.records.iter().filter(|record| record.role == Role::Tool).map(|record| record.turn));
    }
    marked
}

/// The message that a summary comes back as.
pub(super) fn placed(after: &After) -> Role {
    match after.placement {
        Placement::User | Placement::FramedUser | Placement::UserWithFlatTail => Role::User,
        Placement::Assistant => Role::Assistant,
        Placement::System => Role::System,
        Placement::ToolRecap => Role::Tool,
    }
}

pub(super) fn of_turns(turns: Vec<Turn>) -> Session {
    Session { id: "probe".to_owned(), title: None, origin: None, turns }
}

pub(super) fn said(role: Role, text: &str) -> Turn {
    Turn::text_of(role, text)
}

/// A call and its result.
pub(super) fn step(id: &str, result: &str) -> [Turn; 2] {
    let call = Call { id: id.to_owned(), name: "run_step".to_owned(), arguments: "{\"go\": true}".to_owned() };
    let asks = Turn { calls: vec![call], parts: Vec::new(), ..Turn::text_of(Role::Assistant, "") };
    [asks, Turn { call_id: Some(id.to_owned()), ..Turn::text_of(Role::Tool, result) }]
}

fn filled(text: &str) -> String {
    let mut text = format!("{text} ");
    while text.len() < FILLING {
        text.push_str("and so on, ");
    }
    text
}

/// The probes' own session: a system prompt, a standing constraint, rounds with a call each, a request.
pub fn session() -> Session {
    let mut turns = vec![
        said(Role::System, "You look after a harbour's timetable."),
        said(Role::User, "Never push without asking. The office is at 123 Maple Avenue."),
        said(Role::Assistant, "Understood."),
    ];
    for round in 1..=ROUNDS {
        turns.push(said(Role::User, &filled(&format!("Question {round}:"))));
        turns.extend(step(&format!("call-{round}"), &filled(&format!("Result {round}:"))));
        turns.push(said(Role::Assistant, &filled(&format!("Answer {round}:"))));
    }
    turns.push(said(Role::User, "Write the note now."));
    of_turns(turns)
}

/// Earlier turns of two messages each, and a request.
pub fn turns_and_request(earlier: usize) -> Session {
    let mut turns = Vec::new();
    for turn in 1..=earlier {
        turns.push(said(Role::User, &filled(&format!("Question {turn}:"))));
        turns.push(said(Role::Assistant, &filled(&format!("Answer {turn}:"))));
    }
    turns.push(said(Role::User, "Write the note now."));
    of_turns(turns)
}

/// A request, and the calls and results of a tool loop that works on it.
pub fn tool_loop(calls: usize) -> Session {
    let mut turns = vec![said(Role::User, "Write the note now.")];
    for number in 1..=calls {
        turns.extend(step(&format!("call-{number}"), &filled(&format!("Result {number}:"))));
    }
    of_turns(turns)
}

/// The same loop, the assistant saying a word with each call.
pub(super) fn talking_loop(calls: usize) -> Session {
    let mut session = tool_loop(calls);
    for turn in session.turns.iter_mut().filter(|turn| turn.role == Role::Assistant) {
        turn.parts = vec![Part::Text("I will look.".to_owned())];
    }
    session
}

/// The text of a turn's first part, which probes plant in.
pub(super) fn text_of(turn: &Turn) -> &str {
    match turn.parts.first() {
        Some(Part::Text(text)) => text,
        Some(Part::Image(_) | Part::Other(_)) | None => "",
    }
}
