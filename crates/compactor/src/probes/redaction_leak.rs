//! Where does a secret get past the shield? Each carrier has a secret of its own, so that it is known
//! where what leaked came from.

use laundromat_session::{Role, Turn};

use super::probe::Verdict;
use super::rounds::{Round, rounds};
use super::stage::{self, DATE, of_turns, said, step, walk};
use crate::compactor::{Compactor, Given};
use crate::keep::{Tail, TailTurn};
use crate::next_context::From;
use crate::shield::Shield;
use crate::tracked::Tracked;

/// Secrets with a hole for a digit; a shield covers at least one of them, or nothing that is known here.
const SECRETS: [&str; 2] = ["mira{}@example.org", "sk-live-4f9a8b7c6d5e4f3a2b1{}"];
/// Addresses in each turn that sizes are compared on.
const ADDRESSES: usize = 60;

/// Where a secret stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// In what a person said.
    User,
    /// In the assistant's echo.
    Assistant,
    /// In a tool result.
    Tool,
    /// In an earlier summary.
    Summary,
}

/// Where it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the summarizer's input.
    Summarizer,
    /// In the summary as the model is given it.
    NextSummary,
}

/// The kept tail before and behind the shield, in the arm's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// What the tail may have.
    pub budget: usize,
    /// What it has as stored.
    pub stored: usize,
    /// What it has as sent.
    pub sent: usize,
}

/// What covering does to a text that was covered: a stored turn is covered at each replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Nothing.
    Same,
    /// It changes, and grows no longer.
    Changes,
    /// It grows each time.
    Grows,
}

/// What was seen; `None` where the arm has no shield, or one that covers none of the secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactionLeak(pub Option<Leaks>);

/// What a shield does not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaks {
    /// What comes out raw.
    pub raw: Vec<(Carrier, Place)>,
    /// What comes out raw to the summarizer in each of several rounds; a summary's secret is that of the round
    /// before.
    pub rounds: Vec<Vec<Carrier>>,
    /// What covering a text again does to it.
    pub again: Again,
    /// Sizes of a tail of addresses, where the arm has a budget for it.
    pub sizes: Option<Sizes>,
}

/// Plants secrets and looks where they come out.
pub fn probe(compactor: &Compactor) -> RedactionLeak {
    let Some(shield) = compactor.shield() else { return RedactionLeak(None) };
    let Some(secret) =
        SECRETS.into_iter().find(|secret| covered(shield, &secret_of(secret, 0)) != secret_of(secret, 0))
    else {
        return RedactionLeak(None);
    };
    let once = covered(shield, &secret_of(secret, 0));
    let rounds = in_rounds(compactor, secret);
    RedactionLeak(Some(Leaks {
        raw: raw(compactor, secret),
        rounds,
        again: again(shield, &once),
        sizes: sizes(compactor),
    }))
}

fn again(shield: &Shield, once: &str) -> Again {
    let twice = covered(shield, once);
    match twice.len() > once.len() {
        true => Again::Grows,
        false if twice == once => Again::Same,
        false => Again::Changes,
    }
}

fn secret_of(secret: &str, number: usize) -> String {
    secret.replace("{}", &number.to_string())
}

fn covered(shield: &Shield, text: &str) -> String {
    let mut tracked = Tracked::default();
    tracked.push_own(text);
    shield.apply(&mut tracked);
    tracked.text().to_owned()
}

fn raw(compactor: &Compactor, secret: &str) -> Vec<(Carrier, Place)> {
    let of = |number| secret_of(secret, number);
    let mut turns = vec![said(Role::User, &format!("Write to {} please.", of(1)))];
    turns.extend(step("call-1", &format!("found {} there", of(2))));
    turns.push(said(Role::Assistant, &format!("I wrote to {} now.", of(3))));
    turns.push(said(Role::User, "Write the note now."));
    let view = compactor.view(compactor.records(&of_turns(turns)));
    let summary = next_summary(compactor, &format!("{{\"met\": \"{} today\"}}", of(4)));
    // The next round is given the summary as it came out of this one.
    let given = Given { date: DATE, previous: summary.as_deref() };
    let requests = walk(compactor, &view, given, stage::SUMMARY).map(|(requests, _)| requests).unwrap_or_default();
    let texts = || {
        let messages = requests.iter().flat_map(|request| &request.messages);
        messages.flat_map(|message| message.calls.iter().map(|call| &call.arguments).chain([&message.text]))
    };
    let carriers = [(1, Carrier::User), (2, Carrier::Tool), (3, Carrier::Assistant), (4, Carrier::Summary)];
    let leaked = carriers.into_iter().filter(|(number, _)| texts().any(|text| text.contains(&of(*number))));
    let mut raw: Vec<_> = leaked.map(|(_, carrier)| (carrier, Place::Summarizer)).collect();
    if summary.is_some_and(|summary| summary.contains(&of(4))) {
        raw.push((Carrier::Summary, Place::NextSummary));
    }
    raw
}

/// The carriers whose secrets reach the summarizer in each round, each round's summary with one of its own.
fn in_rounds(compactor: &Compactor, secret: &str) -> Vec<Vec<Carrier>> {
    let of = |number| secret_of(secret, number);
    let mut said_before = vec![said(Role::User, &format!("Write to {} please.", of(1)))];
    said_before.extend(step("call-s", &format!("found {} there", of(2))));
    said_before.push(said(Role::Assistant, &format!("I wrote to {} now.", of(3))));
    let mut turns = stage::session().turns;
    turns.splice(1..1, said_before);
    let session = of_turns(turns);
    let written = |round: usize| of(5 + round);
    let reply = |round| format!("{{\"met\": \"{} today\"}}", written(round));
    let Ok(rounds) = rounds(compactor, &session, &reply, &|_| session.clone()) else { return Vec::new() };
    let leaked = |(number, round): (usize, &Round)| {
        let messages = round.compacted.requests.iter().flat_map(|request| &request.messages);
        let texts = || messages.clone().flat_map(|it| it.calls.iter().map(|call| &call.arguments).chain([&it.text]));
        let own = [(of(1), Carrier::User), (of(2), Carrier::Tool), (of(3), Carrier::Assistant)];
        let earlier = number.checked_sub(1).map(|before| (written(before), Carrier::Summary));
        let carriers = own.into_iter().chain(earlier);
        carriers.filter(|(secret, _)| texts().any(|text| text.contains(secret))).map(|(_, carrier)| carrier).collect()
    };
    rounds.iter().enumerate().map(leaked).collect()
}

/// The summary as the model is given it, its frame included; `None` where that is not known.
fn next_summary(compactor: &Compactor, summary: &str) -> Option<String> {
    let session = stage::session();
    let partition = compactor.partition(&session)?;
    let next = compactor.next_context(&session, &partition, summary).ok()??;
    let at = next.from().iter().position(|from| *from == From::Summary)?;
    Some(next.session().turns[at].text().into_owned())
}

/// A tail of turns full of addresses, where the tail has a budget: what it may have, has, and will have.
fn sizes(compactor: &Compactor) -> Option<Sizes> {
    let Tail::Turns { count, turn: TailTurn::TwoMessages, most: Some(budget) } = compactor.arm().keep?.tail else {
        return None;
    };
    // Enough to fill the budget, so that what a shield adds is over it.
    let addresses = ["a@b.exam"; ADDRESSES].join(" ");
    let size = |text: &str| compactor.arm().price.by.tokens(text);
    let messages = (2 * count).min(budget / size(&addresses).max(1));
    let old = [said(Role::User, &addresses), said(Role::Assistant, &addresses)];
    let full = std::iter::repeat_n(said(Role::User, &addresses), messages);
    let turns: Vec<Turn> = old.into_iter().chain(full).chain([said(Role::User, "Write the note now.")]).collect();
    let session = of_turns(turns);
    let partition = compactor.partition(&session)?;
    let next = compactor.next_context(&session, &partition, "").ok()??;
    let is_full = |from: &From| matches!(from, From::Turn(turn) if (2..2 + messages).contains(turn));
    let kept = || next.session().turns.iter().zip(next.from()).filter(|(_, from)| is_full(from));
    let sent = kept().map(|(turn, _)| size(&turn.text())).sum();
    Some(Sizes { budget, stored: kept().count() * size(&addresses), sent })
}

impl Carrier {
    fn told(self) -> &'static str {
        match self {
            Self::User => "user text",
            Self::Assistant => "assistant text",
            Self::Tool => "a tool result",
            Self::Summary => "a summary",
        }
    }
}

impl Leaks {
    /// Whether the tail is over its budget once it is covered.
    pub fn overflows(&self) -> bool {
        self.sizes.is_some_and(|sizes| sizes.sent > sizes.budget)
    }
}

impl RedactionLeak {
    pub(super) fn told(&self) -> (Verdict, String) {
        let Some(leaks) = &self.0 else { return (Verdict::NotKnown, "the arm has no shield".to_owned()) };
        let mut told: Vec<String> = leaks
            .raw
            .iter()
            .map(|(carrier, place)| {
                let carrier = carrier.told();
                match place {
                    Place::Summarizer => format!("{carrier} raw to the summarizer"),
                    Place::NextSummary => format!("{carrier} raw to the model"),
                }
            })
            .collect();
        for (number, round) in leaks.rounds.iter().enumerate().skip(1) {
            let seen = |carrier: &Carrier| leaks.raw.contains(&(*carrier, Place::Summarizer));
            let new = round.iter().filter(|carrier| !seen(carrier) && !leaks.rounds[number - 1].contains(carrier));
            told.extend(new.map(|carrier| format!("{} raw to the summarizer in round {}", carrier.told(), number + 1)));
        }
        match leaks.again {
            Again::Same => {}
            // What grows no longer is a matter of looks.
            Again::Changes if told.is_empty() && !leaks.overflows() => {
                return (Verdict::Holds, "nothing gets past; covering twice changes the text again".to_owned());
            }
            Again::Changes => told.push("covering twice changes the text again".to_owned()),
            Again::Grows => told.push("each covering makes the text longer".to_owned()),
        }
        if let Some(Sizes { budget, stored, sent }) = leaks.sizes
            && leaks.overflows()
        {
            told.push(format!("a tail of {stored} tokens is sent with {sent}, over its {budget}"));
        }
        match told.is_empty() {
            true => (Verdict::Holds, "nothing gets past".to_owned()),
            false => (Verdict::Breaks, told.join(", ")),
        }
    }
}
