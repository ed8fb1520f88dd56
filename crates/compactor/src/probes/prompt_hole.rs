//! Are the instructions whole, and the turns in them? A template whose hole is missing sends no turns, and
//! nobody is told.

use laundromat_session::Role;

use super::probe::Verdict;
use super::stage::{DATE, SUMMARY, of_turns, said, walk};
use crate::compactor::{Compactor, Given};
use crate::request::{Carried, Request};

/// The holes that templates have.
const HOLES: [&str; 4] = ["{turns}", "{budget}", "{date}", "{previous}"];

/// What was seen; `None` where the arm refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptHole(pub Option<Holes>);

/// What was seen in the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holes {
    /// Holes in the arm's own words that were not filled.
    pub unfilled: Vec<&'static str>,
    /// Whether what looks like a hole in a person's words was left as it is, and sent.
    pub turns_whole: bool,
}

/// Sends a turn that is full of holes.
pub fn probe(compactor: &Compactor) -> PromptHole {
    let said_by_user = format!("Mind {} please.", HOLES.join(" "));
    let session = of_turns(vec![said(Role::User, &said_by_user), said(Role::Assistant, "I will.")]);
    let view = compactor.view(compactor.records(&session));
    let given = Given { date: DATE, previous: Some("An earlier summary.") };
    let Ok((requests, _)) = walk(compactor, &view, given, SUMMARY) else { return PromptHole(None) };
    let own: Vec<String> = requests.iter().map(own_words).collect();
    let unfilled = HOLES.into_iter().filter(|hole| own.iter().any(|own| own.contains(hole))).collect();
    let sent = requests.iter().flat_map(Request::runs).filter(|run| run.origin.turn == 0);
    let whole = sent.map(|run| run.len).sum::<usize>() >= said_by_user.len();
    PromptHole(Some(Holes { unfilled, turns_whole: whole }))
}

/// The words of a request that are not the session's.
fn own_words(request: &Request) -> String {
    let mut own = String::new();
    for (index, message) in request.messages.iter().enumerate() {
        let mut done = 0;
        let carried = request.carried.iter().filter(|carried| carried.message == index);
        for run in carried.flat_map(Carried::runs) {
            own.push_str(message.text.get(done..run.at).unwrap_or_default());
            done = run.at + run.len;
        }
        own.push_str(message.text.get(done..).unwrap_or_default());
        own.push('\n');
    }
    own
}

impl PromptHole {
    pub(super) fn told(&self) -> (Verdict, String) {
        let Some(holes) = &self.0 else { return (Verdict::NotKnown, "the arm refuses".to_owned()) };
        match (holes.unfilled.is_empty(), holes.turns_whole) {
            (true, true) => (Verdict::Holds, "all holes filled, turns left as they are".to_owned()),
            (false, _) => (Verdict::Breaks, format!("not filled: {}", holes.unfilled.join(", "))),
            (true, false) => (Verdict::Breaks, "the turns are not in the request".to_owned()),
        }
    }
}
