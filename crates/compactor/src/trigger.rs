//! When a harness compacts on its own: the session's size against a share of the window, a fixed size and
//! a floor.

use std::fmt;

use laundromat_session::fields::{Document, Fields};

use crate::axes::choice;

/// A share of a whole, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    /// So much of `whole`, rounded down.
    pub fn of(self, whole: usize) -> usize {
        let part = whole as u128 * u128::from(self.0) / 10_000;
        usize::try_from(part).unwrap_or(whole)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        if rest == 0 { write!(f, "{whole} %") } else { write!(f, "{whole}.{rest:02} %") }
    }
}

choice! {
    /// Which side of its limit a size has to be on.
    When {
        /// Over it.
        Over = "over",
        /// At it or over it.
        Reached = "reached",
    }
}

/// When a harness compacts; all that is stated has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// Share of the window.
    pub ratio: Option<Share>,
    /// A fixed size in tokens.
    pub tokens: Option<usize>,
    /// Size in tokens that has to be passed as well.
    pub floor: usize,
    /// The window in tokens.
    pub window: usize,
    /// Which side of a limit counts.
    pub when: When,
    /// Turns behind the system prompt that are not enough.
    pub more_turns_than: usize,
}

/// A session's size against its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    /// Its tokens.
    pub tokens: usize,
    /// What they are held against, the floor aside.
    pub limit: usize,
    /// Whether the harness compacts.
    pub fires: bool,
}

impl Trigger {
    /// Whether a session of `tokens` and `turns` is compacted.
    pub fn pressure(&self, tokens: usize, turns: usize) -> Pressure {
        let share = self.ratio.map(|ratio| ratio.of(self.window));
        let limit = share.into_iter().chain(self.tokens).max().unwrap_or(0).max(self.floor);
        let is_past = |limit: usize| match self.when {
            When::Over => tokens > limit,
            When::Reached => tokens >= limit,
        };
        Pressure { tokens, limit, fires: is_past(limit) && turns > self.more_turns_than }
    }
}

/// Takes a share between 0 and 1.
pub(crate) fn share<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>, key: &'static str) -> Option<Share> {
    let (value, span) = fields.optional_at::<f64>(document, key)?;
    if !(value > 0.0 && value <= 1.0) {
        document.fault(&span, &fields.path_of(key), format!("{value} is no share"), "write a number over 0, up to 1");
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10,000")]
    Some(Share((value * 10_000.0).round() as u32))
}

/// Reads `[trigger]`; the window is that of the arm's model where none is written.
pub(crate) fn trigger<'i>(document: &mut Document<'i>, mut fields: Fields<'i>, window: usize) -> Option<Trigger> {
    let ratio = share(document, &mut fields, "ratio");
    let tokens = fields.optional(document, "tokens");
    let floor = fields.optional(document, "floor").unwrap_or(0);
    let window = fields.optional(document, "window").unwrap_or(window);
    let when = When::optional(document, &mut fields, "when").unwrap_or(When::Over);
    let more_turns_than = fields.optional(document, "more-turns-than").unwrap_or(0);
    let states_nothing = ratio.is_none() && tokens.is_none() && floor == 0;
    if states_nothing {
        let path = fields.path_of("ratio");
        document.fault(&fields.span(), &path, "a trigger has a size", "write ratio, tokens or floor");
    }
    fields.finish(document);
    (!states_nothing).then_some(Trigger { ratio, tokens, floor, window, when, more_turns_than })
}

#[cfg(test)]
mod tests {
    use super::{Share, Trigger, When};

    fn trigger(ratio: u32, floor: usize, window: usize) -> Trigger {
        Trigger { ratio: Some(Share(ratio)), tokens: None, floor, window, when: When::Over, more_turns_than: 0 }
    }

    #[test]
    fn a_share_and_a_floor_both_have_to_be_passed() {
        // lightspeed: 0.7 of the window and a floor of 4096 tokens, both strictly.
        let small = trigger(7000, 4096, 2000);
        assert!(!small.pressure(4096, 9).fires && small.pressure(4097, 9).fires);
        let usual = trigger(7000, 4096, 128_000);
        assert!(!usual.pressure(89_600, 9).fires && usual.pressure(89_601, 9).fires);
        // Hermes at 128,000 tokens: three quarters of the window, at least 64,000.
        assert_eq!(trigger(7500, 64_000, 128_000).pressure(1, 9).limit, 96_000);
        let reached = Trigger { when: When::Reached, ..usual };
        assert!(reached.pressure(89_600, 9).fires);
        let few = Trigger { more_turns_than: 7, ..usual };
        assert!(!few.pressure(100_000, 7).fires && few.pressure(100_000, 8).fires);
    }
}
