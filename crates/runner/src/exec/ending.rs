//! The outcome of a trial of an exec arm, from how its program ended, what it gave back and what its calls
//! came to. Pure.
//!
//! A call that nobody answered comes first: that trial is run again. A program that was too slow comes next. Then
//! the last reply: one that did not end normally is no summary, whatever the harness made of it, as it is for
//! every other arm. Only then a failed program, and what it gave back.

use std::fmt::Write as _;

use laundromat_provider::{Broken, CallFailure, Completion, FailureKind, OverBudget};
use laundromat_session::{Outcome, Session};

use super::process::{Ended, Finished};
use super::protocol::{Output, output};
use super::summary::{News, news};
use crate::score;

/// Longest part of a program's last words that is shown.
const SHOWN: usize = 300;

/// What a call came to.
#[derive(Debug)]
pub(super) enum Came {
    /// To a reply that could be read.
    Reply(Box<Completion>),
    /// To none.
    Failure(CallFailure),
    /// It does not fit into the budget, and was not made.
    OverBudget(OverBudget),
    /// It was one too many, and not made.
    TooMany,
}

impl Came {
    /// The outcome it would give a trial.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Reply(completion) => score::outcome(completion),
            Self::Failure(failure) => score::outcome_of(failure),
            Self::OverBudget(_) => Outcome::OverBudget,
            Self::TooMany => Outcome::ExecError,
        }
    }
}

/// A request that was not sent, because its summarizer's rules would refuse it.
pub(super) fn unsendable(broken: &Broken) -> CallFailure {
    CallFailure::new(FailureKind::Invalid, format!("not sent, {broken}"))
}

/// How a trial ends.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    /// With a summary that can be judged.
    Summary(String),
    /// Without one.
    Without(Outcome, String),
}

/// What the end of a trial is read from.
pub(super) struct Evidence<'a> {
    pub(super) finished: &'a Finished,
    /// What the calls came to, in the order of arrival.
    pub(super) calls: Vec<&'a Came>,
    pub(super) session: &'a Session,
}

/// Reads the end of a trial, and what the program gave back where that can be read.
pub(super) fn ending(evidence: &Evidence<'_>) -> (Ending, Option<Output>) {
    let finished = evidence.finished;
    let given = output(&finished.output);
    let ending = read(evidence, given.as_ref().map_err(String::as_str));
    (ending, given.ok())
}

fn read(evidence: &Evidence<'_>, given: Result<&Output, &str>) -> Ending {
    let failed = |detail: String| Ending::Without(Outcome::ExecError, detail);
    let (finished, calls) = (evidence.finished, &evidence.calls);
    let unasked = calls.iter().find_map(|came| match came {
        Came::Failure(failure) if failure.kind.is_transport() => Some((Outcome::ProviderError, failure.to_string())),
        Came::OverBudget(why) => Some((Outcome::OverBudget, why.to_string())),
        _ => None,
    });
    if let Some((outcome, detail)) = unasked {
        return Ending::Without(outcome, detail);
    }
    if let Ended::TimedOut(after) = &finished.ended {
        let seconds = after.as_secs();
        return failed(said(&format!("the program was ended after {seconds} s; raise timeout-seconds"), finished));
    }
    let last = calls.iter().rev().find(|came| !matches!(came, Came::TooMany));
    let news = given.ok().and_then(|output| output.context.as_deref()).map(|context| news(context, evidence.session));
    if let Some(came) = last
        && came.outcome() != Outcome::Scored
    {
        return Ending::Without(came.outcome(), made_of_it(came, &finished.ended, news.as_ref()));
    }
    if let Some(problem) = problem(&finished.ended) {
        return failed(said(&problem, finished));
    }
    if calls.iter().any(|came| matches!(came, Came::TooMany)) {
        return failed(said("the program made more calls than its arm allows; raise most-calls", finished));
    }
    let reply = last.and_then(|came| match came {
        Came::Reply(completion) => Some(completion.text.clone()),
        Came::Failure(_) | Came::OverBudget(_) | Came::TooMany => None,
    });
    match (given, news, reply) {
        (Err(problem), ..) => failed(said(problem, finished)),
        (Ok(_), Some(News::Text(text)), _) => Ending::Summary(text),
        (Ok(_), None, Some(reply)) => Ending::Summary(reply),
        (Ok(_), None, None) => failed(said("no call was made and no context given back", finished)),
        (Ok(_), Some(News::Nothing), None) => {
            failed(said("nothing was compacted: no call was made and the context is what it was", finished))
        }
        (Ok(_), Some(News::Nothing), Some(_)) => {
            failed(said("nothing was compacted: a summary was made and the context is what it was", finished))
        }
        (Ok(_), Some(News::OnlyLosses), _) => {
            failed(said("turns are gone from the context and no summary stands in their place", finished))
        }
    }
}

/// What the harness made of a reply that is no summary.
fn made_of_it(came: &Came, ended: &Ended, news: Option<&News>) -> String {
    let what = match (ended, news) {
        (Ended::Normally, Some(News::Text(text))) => match came {
            Came::Reply(completion) if !completion.text.trim().is_empty() && text.contains(completion.text.trim()) => {
                "the harness replaced history with it all the same"
            }
            _ => "the harness put a text of its own in its place",
        },
        (Ended::Normally, Some(News::Nothing)) => "the harness kept the old context",
        (Ended::Normally, Some(News::OnlyLosses)) => "the harness dropped turns and put nothing in their place",
        (Ended::Normally, None) => "the harness gave no context back",
        _ => "the harness failed on it",
    };
    match came {
        Came::Failure(failure) => format!("{failure}; {what}"),
        Came::Reply(_) | Came::OverBudget(_) | Came::TooMany => what.to_owned(),
    }
}

/// What is wrong with how a program ended; `None` where nothing is.
fn problem(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Normally => None,
        Ended::Code(code) => Some(format!("the program ended with code {code}")),
        Ended::Signal(signal) => Some(format!("the program was ended by signal {signal}")),
        Ended::TimedOut(after) => Some(format!("the program was ended after {} s", after.as_secs())),
        Ended::TooMuchOutput(most) => Some(format!("the program was ended: it wrote more than {most} bytes")),
        Ended::NotStarted(why) => Some(format!("the program could not be started: {}", why.escape_debug())),
    }
}

/// A problem with the program's last words, which are hostile.
fn said(problem: &str, finished: &Finished) -> String {
    let words = finished.complaints.trim();
    let mut line = problem.to_owned();
    if !words.is_empty() {
        let cut = words.chars().count().saturating_sub(SHOWN);
        let tail: String = words.chars().skip(cut).collect();
        let _ = write!(line, "; its last words: {}", tail.escape_debug());
    }
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use laundromat_provider::{CallFailure, Completion, FailureKind, Finish, Served, Usage};
    use laundromat_session::{Outcome, Role, Session, Turn};
    use serde_json::json;

    use super::{Came, Ending, Evidence, ending};
    use crate::exec::process::{Ended, Finished};

    fn session() -> Session {
        Session { id: "s".to_owned(), title: None, origin: None, turns: vec![Turn::text_of(Role::User, "go")] }
    }

    fn reply(finish: Finish, text: &str) -> Came {
        let text = text.to_owned();
        Came::Reply(Box::new(Completion {
            text,
            finish,
            reason: None,
            refusal: None,
            has_reasoning: false,
            usage: Usage::default(),
            served: Served::default(),
        }))
    }

    fn lost(kind: FailureKind) -> Came {
        Came::Failure(CallFailure::new(kind, ""))
    }

    fn told(ended: Ended, output: &str, calls: &[Came]) -> Ending {
        let finished =
            Finished { ended, output: output.as_bytes().to_vec(), complaints: "a\u{1b}[31m\nlast words".to_owned() };
        let session = session();
        ending(&Evidence { finished: &finished, calls: calls.iter().collect(), session: &session }).0
    }

    fn without(ending: &Ending) -> (Outcome, &str) {
        match ending {
            Ending::Without(outcome, detail) => (*outcome, detail),
            Ending::Summary(text) => panic!("a summary: {text}"),
        }
    }

    fn context(text: &str) -> String {
        json!({"context": [{"role": "user", "content": text}, {"role": "user", "content": "go"}]}).to_string()
    }

    #[test]
    fn the_summary_is_what_is_new_in_the_context_or_the_last_reply() {
        let calls = [reply(Finish::Complete, "one"), reply(Finish::Complete, "two")];
        assert_eq!(told(Ended::Normally, &context("Summary: two"), &calls), Ending::Summary("Summary: two".to_owned()));
        assert_eq!(told(Ended::Normally, "{}", &calls), Ending::Summary("two".to_owned()));
        assert_eq!(told(Ended::Normally, &context("static"), &[]), Ending::Summary("static".to_owned()));
    }

    #[test]
    fn nothing_compacted_is_an_error_of_the_program() {
        let same = json!({"context": [{"role": "user", "content": "go"}]}).to_string();
        for (output, calls, words) in [
            (same.as_str(), vec![], "nothing was compacted: no call was made"),
            (&same, vec![reply(Finish::Complete, "x")], "nothing was compacted: a summary was made"),
            ("{\"context\": []}", vec![reply(Finish::Complete, "x")], "turns are gone"),
            ("{}", vec![], "no call was made and no context given back"),
            ("junk", vec![reply(Finish::Complete, "x")], "standard output is not one JSON object"),
        ] {
            let ending = told(Ended::Normally, output, &calls);
            let (outcome, detail) = without(&ending);
            assert_eq!(outcome, Outcome::ExecError);
            assert!(detail.starts_with(words), "{detail}");
            assert!(detail.ends_with("its last words: a\\u{1b}[31m\\nlast words"), "{detail}");
        }
    }

    #[test]
    fn what_the_model_did_comes_before_what_the_program_made_of_it() {
        let cut = [reply(Finish::Truncated, "half a")];
        let taken = told(Ended::Normally, &context("Summary: half a"), &cut);
        assert_eq!(without(&taken), (Outcome::Truncated, "the harness replaced history with it all the same"));
        let own = told(Ended::Normally, &context("no summary"), &cut);
        assert_eq!(without(&own), (Outcome::Truncated, "the harness put a text of its own in its place"));
        let crashed = told(Ended::Code(1), "", &cut);
        assert_eq!(without(&crashed), (Outcome::Truncated, "the harness failed on it"));
        let mended =
            told(Ended::Normally, &context("S"), &[reply(Finish::Blocked, "no"), reply(Finish::Complete, "S")]);
        assert_eq!(mended, Ending::Summary("S".to_owned()));
        let refused = told(Ended::Code(1), "", &[lost(FailureKind::ContextOverflow)]);
        assert_eq!(without(&refused).0, Outcome::ContextOverflow);
    }

    #[test]
    fn a_call_that_nobody_answered_leaves_the_trial_open_and_slowness_is_the_programs() {
        let calls = [lost(FailureKind::Server), reply(Finish::Complete, "S")];
        let ending = told(Ended::Normally, &context("S"), &calls);
        assert_eq!(without(&ending).0, Outcome::ProviderError);
        let slow = told(Ended::TimedOut(Duration::from_secs(3)), "", &[reply(Finish::Truncated, "x")]);
        assert_eq!(without(&slow).0, Outcome::ExecError);
        assert!(without(&slow).1.starts_with("the program was ended after 3 s; raise timeout-seconds"));
        let crashed = told(Ended::Signal(9), &context("S"), &[reply(Finish::Complete, "S")]);
        assert!(without(&crashed).1.starts_with("the program was ended by signal 9"));
        let greedy = told(Ended::Normally, &context("S"), &[reply(Finish::Complete, "S"), Came::TooMany]);
        assert!(without(&greedy).1.starts_with("the program made more calls than its arm allows"));
    }
}
