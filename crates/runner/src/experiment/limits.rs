//! How much at once, how fast, how long and for how much: `[limits]`, `[budget]` and `[[prices]]`. None of it
//! decides a trial, so none of it makes another experiment.

use std::time::Duration;

use laundromat_provider::{Cap, Money, Pace, Price, PriceList, PriceRow, Retry, Sending, Timeouts};
use laundromat_session::fields::{Document, Fields};

/// Largest number that most limits take.
const MOST: u64 = 10_000;
/// Largest number of requests or tokens a minute.
const MOST_A_MINUTE: u64 = u32::MAX as u64;

/// How much at once, how fast, how long and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most trials in flight, and most calls in flight at one account.
    pub concurrency: usize,
    /// Most requests a minute at one account.
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute at one account, input and output together.
    pub tokens_per_minute: Option<u32>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How often to try.
    pub retry: Retry,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 32,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeouts: Timeouts::default(),
            retry: Retry::default(),
        }
    }
}

impl Limits {
    /// As a client takes them.
    pub fn sending(&self) -> Sending {
        let pace = Pace {
            concurrency: u32::try_from(self.concurrency).unwrap_or(u32::MAX),
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
        };
        Sending { retry: self.retry, timeouts: self.timeouts, pace }
    }
}

/// Takes `[limits]`.
pub(super) fn limits<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Limits {
    let mut limits = Limits::default();
    let Some(mut fields) = root.table(document, "limits") else { return limits };
    let mut number = |key: &'static str, most: u64| {
        let (value, span) = fields.optional_at::<u64>(document, key)?;
        if !(1..=most).contains(&value) {
            let problem = format!("{value} is outside 1 to {most}");
            document.fault(&span, &format!("limits.{key}"), problem, "write a number in that range");
        }
        Some(value.clamp(1, most))
    };
    if let Some(concurrency) = number("concurrency", MOST) {
        limits.concurrency = usize::try_from(concurrency).unwrap_or(1);
    }
    if let Some(attempts) = number("attempts", MOST) {
        limits.retry.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    }
    let mut a_minute = |key| number(key, MOST_A_MINUTE).and_then(|value| u32::try_from(value).ok());
    limits.requests_per_minute = a_minute("requests-per-minute");
    limits.tokens_per_minute = a_minute("tokens-per-minute");
    let times = [
        ("connect-seconds", &mut limits.timeouts.connect, 1000),
        ("attempt-seconds", &mut limits.timeouts.attempt, 1000),
        ("total-seconds", &mut limits.timeouts.total, 1000),
        ("backoff-ms", &mut limits.retry.base, 1),
    ];
    for (key, time, unit) in times {
        if let Some(value) = number(key, MOST) {
            *time = Duration::from_millis(value.saturating_mul(unit));
        }
    }
    fields.finish(document);
    limits
}

/// Takes `[budget]`.
pub(super) fn budget<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Cap {
    let mut cap = Cap::default();
    let Some(mut fields) = root.table(document, "budget") else { return cap };
    if let Some((dollars, span)) = fields.optional_at::<f64>(document, "max-cost") {
        cap.cost = Money::from_dollars(dollars);
        if cap.cost.is_none() {
            let problem = format!("{dollars} is no amount of US dollars");
            document.fault(&span, "budget.max-cost", problem, "write a number such as 2.50");
        }
    }
    cap.tokens = fields.optional::<u64>(document, "max-tokens");
    cap.calls = fields.optional::<u64>(document, "max-calls");
    fields.finish(document);
    cap
}

/// Takes `[[prices]]`: a model with what a million tokens of it cost.
pub(super) fn prices<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> PriceList {
    let mut rows = Vec::new();
    for mut fields in root.tables(document, "prices") {
        let span = fields.span();
        let model = fields.required::<String>(document, "model");
        let provider = fields.optional::<String>(document, "provider").unwrap_or_default();
        let input = fields.required::<f64>(document, "in");
        let output = fields.required::<f64>(document, "out");
        let cached = fields.optional::<f64>(document, "cached");
        let write = fields.optional::<f64>(document, "write");
        if let (Some(model), Some(input), Some(output)) = (model, input, output) {
            match Price::per_million(input, output, cached, write) {
                Some(price) => rows.push(PriceRow { provider, model, valid_from: String::new(), price }),
                None => {
                    let remedy = "write US dollars for a million tokens, such as in = 0.3";
                    document.fault(&span, &fields.path_of("in"), "a price is no amount", remedy);
                }
            }
        }
        fields.finish(document);
    }
    PriceList::new(rows)
}
