//! How many tokens a text has, by estimate. Every figure says which estimator it is from: two of them
//! are not comparable, and neither is what an endpoint bills.

use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Role, Turn, tokens};

use crate::axes::choice;

choice! {
    /// What tokens are counted with.
    Estimator {
        /// Four characters each, rounded up.
        Chars4 = "chars-4",
        /// The pieces that a byte-pair tokenizer parts text into before it looks anything up, long ones
        /// counted more than once.
        Pieces = "pieces",
    }
}

choice! {
    /// What of a session is counted.
    Counted {
        /// Texts, names and arguments of calls.
        All = "all",
        /// Texts of system, user and assistant turns: tools cost nothing.
        Messages = "messages",
    }
}

/// What a turn costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// What tokens are counted with.
    pub by: Estimator,
    /// What is counted.
    pub counted: Counted,
    /// Tokens of each turn beside its texts.
    pub each: usize,
}

impl Default for Price {
    fn default() -> Self {
        Self { by: Estimator::Chars4, counted: Counted::All, each: 0 }
    }
}

impl Estimator {
    /// Tokens of `text`.
    pub fn tokens(self, text: &str) -> usize {
        match self {
            Self::Chars4 => tokens::estimate(text.chars().count()),
            Self::Pieces => pieces(text),
        }
    }
}

impl Price {
    /// Tokens of `turn`.
    pub fn turn(&self, turn: &Turn) -> usize {
        let is_tool = turn.role == Role::Tool;
        if self.counted == Counted::Messages && (is_tool || turn.text().trim().is_empty()) {
            return 0;
        }
        let calls = turn.calls.iter().filter(|_| self.counted == Counted::All);
        let said = self.by.tokens(&turn.text());
        let asked: usize = calls.map(|call| self.by.tokens(&call.name) + self.by.tokens(&call.arguments)).sum();
        said + asked + self.each
    }
}

/// Reads `[estimate]`.
pub(crate) fn price<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Price {
    let default = Price::default();
    let by = Estimator::optional(document, &mut fields, "by").unwrap_or(default.by);
    let counted = Counted::optional(document, &mut fields, "counts").unwrap_or(default.counted);
    let each = fields.optional(document, "each-turn").unwrap_or(default.each);
    fields.finish(document);
    Price { by, counted, each }
}

/// What stands together before a tokenizer looks anything up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letters,
    Wide,
    Digits,
    Marks,
    Space,
    Break,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            '\n' | '\r' => Self::Break,
            _ if c.is_whitespace() => Self::Space,
            _ if c.is_ascii_alphabetic() => Self::Letters,
            _ if c.is_alphabetic() => Self::Wide,
            _ if c.is_numeric() => Self::Digits,
            _ => Self::Marks,
        }
    }

    /// Tokens of a run of `chars` of this kind.
    fn tokens(self, chars: usize) -> usize {
        match self {
            // Short words are in the vocabulary, long names are parted.
            Self::Letters => 1 + chars.saturating_sub(1) / 8,
            Self::Wide => chars.div_ceil(2),
            Self::Digits => chars.div_ceil(3),
            Self::Marks => 1 + chars.saturating_sub(1) / 3,
            Self::Space | Self::Break => 1,
        }
    }
}

fn pieces(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = None::<(Kind, usize)>;
    let mut close = |run: Option<(Kind, usize)>, next: Option<Kind>| {
        let Some((kind, chars)) = run else { return };
        // The last space of a run belongs to the word or the marks behind it.
        let given = kind == Kind::Space && !matches!(next, None | Some(Kind::Break | Kind::Digits));
        tokens += if given { usize::from(chars > 1) } else { kind.tokens(chars) };
    };
    for c in text.chars() {
        let kind = Kind::of(c);
        run = match run {
            Some((before, chars)) if before == kind => Some((kind, chars + 1)),
            before => {
                close(before, Some(kind));
                Some((kind, 1))
            }
        };
    }
    close(run, None);
    tokens
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role, Turn};

    use super::{Counted, Estimator, Price};

    #[test]
    fn both_estimators_count_what_they_say() {
        assert_eq!(Estimator::Chars4.tokens("abcde"), 2);
        assert_eq!(Estimator::Chars4.tokens(""), 0);
        assert_eq!(Estimator::Pieces.tokens(""), 0);
        assert_eq!(Estimator::Pieces.tokens("Never push without asking."), 5);
        assert_eq!(Estimator::Pieces.tokens("a  b\n\n12345"), 2 + 1 + 1 + 2);
        assert_eq!(Estimator::Pieces.tokens("internationalization"), 3);
    }

    #[test]
    fn a_turn_costs_its_calls_unless_messages_alone_are_counted() {
        let call = Call { id: "c".to_owned(), name: "read".to_owned(), arguments: "{\"a\":1}".to_owned() };
        let turn = Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "abcd") };
        let result = Turn::text_of(Role::Tool, "abcdefgh");
        let all = Price { each: 10, ..Price::default() };
        assert_eq!((all.turn(&turn), all.turn(&result)), (1 + 1 + 2 + 10, 2 + 10));
        let messages = Price { counted: Counted::Messages, ..Price::default() };
        assert_eq!((messages.turn(&turn), messages.turn(&result)), (1, 0));
    }
}
