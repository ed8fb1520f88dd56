//! Values that arguments are read as.

use std::str::FromStr;

use laundromat_metrics::Counts;
use laundromat_provider::Money;

/// A share from 0 up to but not including 1, as a fraction or in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match fraction(text) {
            Some(share) if (0.0..1.0).contains(&share) => Ok(Self(share)),
            Some(share) if share >= 1.0 => {
                Err("that would let everything pass; one percent is written 1% or 0.01".to_owned())
            }
            _ => Err("write a fraction such as 0.1, or percent such as 10%".to_owned()),
        }
    }
}

/// A probability from 0 to 1, as a fraction or in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Probability(pub(crate) f64);

impl FromStr for Probability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = fraction(text).filter(|share| (0.0..=1.0).contains(share));
        parsed.map(Self).ok_or_else(|| "write a fraction from 0 to 1 such as 0.72, or percent such as 72%".to_owned())
    }
}

/// `x/n` as written; whether x can be of n is for the statistics to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) x: u64,
    pub(crate) n: u64,
}

impl FromStr for Ratio {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(x, n)| Some(Self { x: x.trim().parse().ok()?, n: n.trim().parse().ok()? }));
        parsed.ok_or_else(|| "counts are written x/n, such as 52/72".to_owned())
    }
}

impl Ratio {
    pub(crate) fn counts(self) -> Result<Counts, laundromat_metrics::StatsError> {
        Counts::new(self.x, self.n)
    }
}

pub(super) fn dollars(text: &str) -> Result<Money, String> {
    let amount = text.parse().ok().and_then(Money::from_dollars);
    amount.ok_or_else(|| "write an amount of US dollars such as 2.50".to_owned())
}

/// A share from none to all.
pub(super) fn share(text: &str) -> Result<laundromat_judge::panel::Share, String> {
    let number: Option<f64> = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.trim().parse().ok(),
    };
    let share = number.and_then(laundromat_judge::panel::Share::new);
    share.ok_or_else(|| "write a share such as 15% or 0.15".to_owned())
}

/// A number, or a number of percent.
fn fraction(text: &str) -> Option<f64> {
    // The point is moved in the text, so that 10% and 0.1 are one number.
    match text.trim().strip_suffix('%') {
        Some(percent) => format!("{}e-2", percent.trim_end()).parse().ok(),
        None => text.trim().parse().ok(),
    }
}
