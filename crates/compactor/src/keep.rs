//! The axes of a whole compaction, as data: which turns stay where they are, which endings a summary
//! may have, and where a shield acts.

use laundromat_session::fields::{Document, Fields};

use crate::axes::choice;
use crate::trigger::{self, Share};

choice! {
    /// What a harness counts as one message.
    Unit {
        /// Every turn.
        Messages = "messages",
        /// Every turn, but the results of one step together.
        Exchanges = "exchanges",
        /// Turns with text that are no tool's; calls and results stay with what is before them.
        Texts = "texts",
    }
}

choice! {
    /// What a harness counts as one turn of the kept tail.
    TailTurn {
        /// A person's message and all behind it.
        Person = "person",
        /// Any two messages.
        TwoMessages = "two-messages",
    }
}

choice! {
    /// Whether the cut between what is summarized and what stays may part a call from its result.
    Snap {
        /// It is moved earlier.
        Pairs = "pairs",
        /// It stays where it falls.
        Nowhere = "nowhere",
    }
}

choice! {
    /// Whose places the copies of user turns take that go beside a summary.
    CopySlots {
        /// Places of their own.
        Own = "own",
        /// The tail's, all of them if need be.
        Tail = "tail",
        /// The tail's, save that of its newest message.
        TailButNewest = "tail-but-newest",
    }
}

choice! {
    /// Whether the newest request of a person is pulled into the tail.
    NewestRequest {
        /// Only where the tail's size takes it in.
        BySize = "by-size",
        /// Always.
        Held = "held",
        /// It is no part of the history that is parted, and always sent.
        Apart = "apart",
    }
}

choice! {
    /// What becomes of the summaries of earlier compactions.
    EarlierSummaries {
        /// They are summarized like other turns.
        Summarized = "summarized",
        /// They stay in front, and no later summary is made of them.
        Stay = "stay",
    }
}

choice! {
    /// What text sizes are counted on.
    Sized {
        /// As it will be sent, behind the shield.
        AsSent = "as-sent",
        /// As it is stored, before the shield.
        AsStored = "as-stored",
    }
}

choice! {
    /// A place where text leaves the harness during a compaction, and a shield may act.
    Boundary {
        /// A person's turns on the way to the summarizer.
        SummarizerUser = "summarizer-user",
        /// All other turns on the way to the summarizer.
        SummarizerOther = "summarizer-other",
        /// Kept user turns on the way to the model.
        ReplayedUser = "replayed-user",
        /// All other kept turns on the way to the model.
        ReplayedOther = "replayed-other",
        /// The summary on the way to the model.
        Summary = "summary",
    }
}

choice! {
    /// How a summarizer's answer ended.
    Ending {
        /// Normally, with text.
        Stop = "stop",
        /// At an output limit, with text.
        Length = "length",
        /// A filter stopped it or it is a refusal, with text.
        ContentFilter = "content-filter",
        /// With text and without a word on how it ended.
        Missing = "missing",
        /// Without text.
        Empty = "empty",
        /// With reasoning alone.
        ReasoningOnly = "reasoning-only",
    }
}

choice! {
    /// What becomes of a compaction whose summary is not accepted.
    Otherwise {
        /// The history stays as it was.
        KeepHistory = "keep-history",
        /// The agent's run fails.
        Fail = "fail",
        /// A fixed extract stands in its place.
        Extract = "extract",
        /// The arm that is named as `downgrade` makes it instead.
        Downgrade = "downgrade",
    }
}

/// How large the kept tail is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The newest messages.
    Messages(usize),
    /// The newest turns: fewer where they are over `most` tokens together.
    Turns {
        /// How many.
        count: usize,
        /// What a turn is.
        turn: TailTurn,
        /// Most tokens of the tail.
        most: Option<usize>,
    },
    /// The newest messages that come to at most so many tokens.
    Tokens(usize),
    /// About such a share of the session, from a person's turn on.
    Share(Share),
}

/// Which turns stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// What is counted.
    pub unit: Unit,
    /// Messages behind the system prompt that stay in front.
    pub head: usize,
    /// The newest that stay.
    pub tail: Tail,
    /// Fewest messages of the tail.
    pub least: usize,
    /// What the cut may part.
    pub snap: Snap,
    /// Whose places copies of user turns take.
    pub copies: CopySlots,
    /// What becomes of the newest request.
    pub request: NewestRequest,
    /// What becomes of earlier summaries.
    pub summaries: EarlierSummaries,
    /// What sizes are counted on.
    pub sized: Sized,
}

/// Which answers a harness takes for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The endings it is known to accept.
    pub accepts: Vec<Ending>,
    /// The endings it is known to refuse; what is in neither list is not known.
    pub refuses: Vec<Ending>,
    /// How often it asks again first.
    pub retries: usize,
    /// What it does without a summary.
    pub otherwise: Otherwise,
}

/// What a guard decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The answer replaces the history.
    Accept,
    /// The summarizer is asked once more.
    Retry,
    /// The compaction ends without a summary.
    Refuse(Otherwise),
}

impl Guard {
    /// What becomes of an answer with this ending, after so many earlier ones. What is not known of a
    /// harness is not accepted: a summary takes the place of a history only where that was seen.
    pub fn decide(&self, ending: Ending, earlier: usize) -> Decision {
        if self.accepts.contains(&ending) {
            Decision::Accept
        } else if earlier < self.retries {
            Decision::Retry
        } else {
            Decision::Refuse(self.otherwise)
        }
    }
}

/// Reads `[keep]`.
pub(crate) fn keep<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Keep> {
    let unit = Unit::optional(document, &mut fields, "unit").unwrap_or(Unit::Messages);
    let head = fields.optional(document, "head").unwrap_or(0);
    let messages = fields.optional::<usize>(document, "tail-messages");
    let turns = fields.optional::<usize>(document, "tail-turns");
    let tokens = fields.optional::<usize>(document, "tail-tokens");
    let share = trigger::share(document, &mut fields, "tail-share");
    let has_turn = fields.has("turn") || fields.has("most-tokens");
    let turn = TailTurn::optional(document, &mut fields, "turn").unwrap_or(TailTurn::Person);
    let most = fields.optional(document, "most-tokens");
    let tail = match (messages, turns, tokens, share) {
        (Some(count), None, None, None) => Some(Tail::Messages(count)),
        (None, Some(count), None, None) => Some(Tail::Turns { count, turn, most }),
        (None, None, Some(count), None) => Some(Tail::Tokens(count)),
        (None, None, None, Some(share)) => Some(Tail::Share(share)),
        _ => {
            document.fault(
                &fields.span(),
                &fields.path_of("tail-messages"),
                "a tail has one size",
                "write one of tail-messages, tail-turns, tail-tokens and tail-share",
            );
            None
        }
    };
    if has_turn && turns.is_none() {
        let path = fields.path_of("turn");
        document.fault(&fields.span(), &path, "only a tail of turns uses turn and most-tokens", "write tail-turns");
    }
    let least = fields.optional(document, "least-messages").unwrap_or(0);
    let snap = Snap::optional(document, &mut fields, "snap").unwrap_or(Snap::Pairs);
    let copies = CopySlots::optional(document, &mut fields, "copies-take").unwrap_or(CopySlots::Own);
    let request = NewestRequest::optional(document, &mut fields, "request").unwrap_or(NewestRequest::BySize);
    let summaries =
        EarlierSummaries::optional(document, &mut fields, "summaries").unwrap_or(EarlierSummaries::Summarized);
    let sized = Sized::optional(document, &mut fields, "sized").unwrap_or(Sized::AsSent);
    fields.finish(document);
    Some(Keep { unit, head, tail: tail?, least, snap, copies, request, summaries, sized })
}

/// Reads `[guard]`.
pub(crate) fn guard<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Guard> {
    let accepts = Ending::listed(document, &mut fields, "accepts");
    let refuses = Ending::listed(document, &mut fields, "refuses");
    let retries = fields.optional(document, "retries").unwrap_or(0);
    let otherwise = Otherwise::optional(document, &mut fields, "otherwise").unwrap_or(Otherwise::KeepHistory);
    if accepts.is_none() {
        fields.required::<Vec<String>>(document, "accepts");
    }
    let (span, path) = (fields.span(), fields.path_of("refuses"));
    fields.finish(document);
    let accepts = accepts?;
    if let Some(both) = refuses.iter().flatten().find(|ending| accepts.contains(ending)) {
        document.fault(&span, &path, format!("\"{}\" is accepted and refused", both.id()), "keep it in one list");
    }
    let rest = || Ending::ALL.iter().copied().filter(|ending| !accepts.contains(ending)).collect();
    Some(Guard { refuses: refuses.unwrap_or_else(rest), accepts, retries, otherwise })
}

#[cfg(test)]
mod tests {
    use super::{Decision, Ending, Guard, Otherwise};

    #[test]
    fn a_guard_asks_again_before_it_refuses() {
        let guard =
            Guard { accepts: vec![Ending::Stop], refuses: vec![Ending::Empty], retries: 1, otherwise: Otherwise::Fail };
        assert_eq!(guard.decide(Ending::Stop, 0), Decision::Accept);
        assert_eq!(guard.decide(Ending::Empty, 0), Decision::Retry);
        assert_eq!(guard.decide(Ending::Empty, 1), Decision::Refuse(Otherwise::Fail));
    }
}
