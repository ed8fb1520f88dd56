//! Amounts of US dollars, counted in whole units so that sums do not depend on their order.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Units a dollar has: a price of a millionth of a dollar for a million tokens is one unit a token.
const UNITS: u64 = 1_000_000_000_000;

/// An amount of US dollars, exact to a trillionth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u64);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many dollars; `None` for what is no amount, or more than ten million.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        (0.0..=1e7).contains(&dollars).then(|| Self((dollars * UNITS as f64).round() as u64))
    }

    /// The amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / UNITS as f64
    }

    /// A price for a million, for one of them.
    pub(crate) fn millionth(self) -> Self {
        Self(self.0 / 1_000_000)
    }

    /// So many times the amount.
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// The rest without `other`; nothing where `other` is more.
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Four decimals from a cent on, more for less.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.dollars();
        if self.0 == 0 || dollars >= 0.01 { write!(f, "${dollars:.4}") } else { write!(f, "${dollars:.8}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Money;

    #[test]
    fn amounts_are_exact_and_shown_short() {
        let tenth = Money::from_dollars(0.1).expect("an amount");
        assert_eq!(tenth + tenth + tenth, Money::from_dollars(0.3).expect("an amount"));
        assert_eq!(Money::from_dollars(0.0375).expect("an amount").millionth().times(1_000_000).dollars(), 0.0375);
        assert_eq!(Money::from_dollars(1.5).expect("an amount").to_string(), "$1.5000");
        assert_eq!(Money::from_dollars(0.000_012).expect("an amount").to_string(), "$0.00001200");
        assert_eq!((Money::from_dollars(-1.0), Money::from_dollars(f64::NAN)), (None, None));
    }
}
