//! What tokens cost: dated price lists, and the cost of a call from its usage.
//!
//! The built-in list is `data/prices.csv`: US dollars for a million tokens, as a provider's own list has them,
//! each row with its source and the day it was read. A router's figure is that of its cheapest host, not what a call
//! will cost, so routers are not in it; nor are models with a dearer tier for long requests. What is not in a list
//! has no price, which is never taken for none.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model::Model;
use crate::money::Money;
use crate::reply::Usage;

/// The built-in list.
const BUILTIN: &str = include_str!("../data/prices.csv");

/// Providers by the end of their host name; others go by their host.
const PROVIDERS: [(&str, &str); 12] = [
    ("api.openai.com", "openai"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "google"),
    ("aiplatform.googleapis.com", "google-vertex"),
    ("openrouter.ai", "openrouter"),
    ("api.mistral.ai", "mistral"),
    ("api.groq.com", "groq"),
    ("api.deepseek.com", "deepseek"),
    ("api.together.xyz", "together"),
    ("api.moonshot.ai", "moonshot"),
    ("openai.azure.com", "azure"),
    ("amazonaws.com", "bedrock"),
];

/// What a token costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// An input token.
    pub input: Money,
    /// An input token that comes from a cache.
    pub cached: Money,
    /// An input token that is written to a cache.
    pub write: Money,
    /// An output token, reasoning included.
    pub output: Money,
}

impl Price {
    /// Of what costs nothing.
    pub const FREE: Self = Self { input: Money::ZERO, cached: Money::ZERO, write: Money::ZERO, output: Money::ZERO };

    /// From dollars for a million tokens; what is not known of caches costs what input costs.
    pub fn per_million(input: f64, output: f64, cached: Option<f64>, write: Option<f64>) -> Option<Self> {
        let token = |dollars: f64| Money::from_dollars(dollars).map(Money::millionth);
        Some(Self {
            input: token(input)?,
            cached: token(cached.unwrap_or(input))?,
            write: token(write.unwrap_or(input))?,
            output: token(output)?,
        })
    }

    /// What a call with this usage costs; `None` where the provider did not say what it used.
    pub fn cost(&self, usage: &Usage) -> Option<Money> {
        let (input, output) = (usage.input?, usage.output?);
        let cached = usage.cached.unwrap_or(0).min(input);
        let write = usage.cache_write.unwrap_or(0).min(input - cached);
        let plain = self.input.times(input - cached - write);
        Some(plain + self.cached.times(cached) + self.write.times(write) + self.output.times(output))
    }

    /// The most that so many tokens can cost.
    pub fn worst(&self, input: u64, output: u64) -> Money {
        self.input.max(self.write).times(input) + self.output.times(output)
    }
}

/// Who sells a model: a known provider's id, or the host of the address.
pub fn provider_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    let is = |end: &str| host == end || host.strip_suffix(end).is_some_and(|front| front.ends_with(['.', '-']));
    PROVIDERS.iter().find(|(end, _)| is(end)).map_or(host, |(_, id)| id)
}

/// A row of a price list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// Who sells it, as [`provider_of`] says; empty for whoever does.
    pub provider: String,
    /// The model, as it is asked for. A dated snapshot of it costs the same where it has no row of its own.
    pub model: String,
    /// The first day of the price, `YYYY-MM-DD`; empty where none is known.
    pub valid_from: String,
    /// The price.
    pub price: Price,
}

/// A price list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceList(Vec<PriceRow>);

/// A price list that cannot be used.
#[derive(Debug)]
pub struct PriceError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for PriceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; the columns are {HEADER}, in US dollars for a million tokens", self.problem)
    }
}

impl std::error::Error for PriceError {}

const HEADER: &str = "provider,model,valid_from,in,cached,write,out,source,retrieved";

/// A row as files have it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRow {
    provider: String,
    model: String,
    valid_from: String,
    r#in: f64,
    cached: Option<f64>,
    write: Option<f64>,
    out: f64,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "retrieved")]
    _retrieved: String,
}

impl PriceList {
    /// The list that comes with this version.
    pub fn builtin() -> Self {
        // A test reads it, so that it is never empty for a fault.
        Self::parse(BUILTIN, Path::new("prices.csv")).unwrap_or_default()
    }

    /// A list of these rows.
    pub fn new(rows: Vec<PriceRow>) -> Self {
        Self(rows)
    }

    /// Reads a list in CSV.
    ///
    /// # Errors
    /// When a row is not one of a price list.
    pub fn parse(text: &str, path: &Path) -> Result<Self, PriceError> {
        let fail = |line, problem| PriceError { path: path.to_owned(), line, problem };
        let mut rows = Vec::new();
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        for row in reader.deserialize::<FileRow>() {
            let row = row.map_err(|error| {
                let line = error.position().map(csv::Position::line);
                fail(line, error.to_string())
            })?;
            let price = Price::per_million(row.r#in, row.out, row.cached, row.write)
                .ok_or_else(|| fail(None, format!("the price of \"{}\" is no amount", row.model.escape_debug())))?;
            rows.push(PriceRow { provider: row.provider, model: row.model, valid_from: row.valid_from, price });
        }
        Ok(Self(rows))
    }

    /// The price of `model` at `provider` on `date`: the newest that had begun, the provider's own row first.
    fn find(&self, provider: &str, model: &str, date: &str) -> Option<Price> {
        let at = |name: &str| {
            self.0
                .iter()
                .filter(|row| row.model == name && (row.provider.is_empty() || row.provider == provider))
                .filter(|row| row.valid_from.as_str() <= date)
                .max_by_key(|row| (!row.provider.is_empty(), &row.valid_from))
                .map(|row| row.price)
        };
        at(model).or_else(|| at(undated(model)?))
    }
}

/// `gpt-4.1-mini-2025-04-14` and `claude-haiku-4-5-20251001` without their date.
fn undated(model: &str) -> Option<&str> {
    let digits = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(c, s)| if s == b'0' { c.is_ascii_digit() } else { c == s })
    };
    ["-00000000", "-0000-00-00"].iter().find_map(|shape| {
        let at = model.len().checked_sub(shape.len())?;
        let end = model.get(at..)?;
        digits(end, shape).then(|| &model[..at])
    })
}

/// Price lists in the order in which they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices(Vec<PriceList>);

impl Prices {
    /// The lists of `own`, then the built-in one.
    pub fn new(own: impl IntoIterator<Item = PriceList>) -> Self {
        Self(own.into_iter().chain([PriceList::builtin()]).collect())
    }

    /// What `model` costs on `date`; a built-in model costs nothing.
    pub fn of(&self, model: &Model, date: &str) -> Option<Price> {
        if model.is_builtin() {
            return Some(Price::FREE);
        }
        let provider = provider_of(model.endpoint());
        self.0.iter().find_map(|list| list.find(provider, model.name(), date))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BUILTIN, HEADER, Price, PriceList, provider_of};
    use crate::money::Money;
    use crate::reply::Usage;

    #[test]
    fn the_built_in_list_is_one() {
        let list = PriceList::parse(BUILTIN, Path::new("prices.csv")).expect("a price list");
        assert_eq!(list, PriceList::builtin());
        assert!(list.0.len() > 20);
        let price = list.find("openai", "gpt-4.1-mini-2025-04-14", "2026-11-30").expect("a price");
        assert_eq!(price.output.times(1_000_000), Money::from_dollars(1.6).expect("an amount"));
        assert_eq!(list.find("openrouter", "gpt-4.1-mini", "2026-11-30"), None);
    }

    #[test]
    fn the_newest_row_that_has_begun_counts_and_a_provider_s_own_first() {
        let text = format!("{HEADER}\n,m,,1,,,1,s,d\np,m,2026-01-01,2,,,2,s,d\np,m,2026-06-01,3,,,3,s,d\n");
        let list = PriceList::parse(&text, Path::new("p.csv")).expect("a list");
        let dollars =
            |provider, date| list.find(provider, "m", date).map(|price| price.input.times(1_000_000).dollars());
        assert_eq!(dollars("p", "2025-12-31"), Some(1.0));
        assert_eq!(dollars("p", "2026-05-31"), Some(2.0));
        assert_eq!(dollars("p", "2026-06-01"), Some(3.0));
        assert_eq!(dollars("q", "2026-06-01"), Some(1.0));
    }

    #[test]
    fn a_fault_is_named_with_its_line() {
        let error = |row: &str| {
            PriceList::parse(&format!("{HEADER}\n{row}\n"), Path::new("p.csv")).expect_err("a fault").to_string()
        };
        assert!(error("p,m,,cheap,,,1,s,d").starts_with("p.csv:2: "), "{}", error("p,m,,cheap,,,1,s,d"));
        assert!(error("p,m,,-1,,,1,s,d").contains("the price of \"m\" is no amount"));
    }

    #[test]
    fn cached_tokens_are_charged_as_such_and_unknown_usage_has_no_cost() {
        let price = Price::per_million(1.0, 10.0, Some(0.1), Some(1.25)).expect("a price");
        let usage = Usage { input: Some(1000), cached: Some(400), output: Some(10), ..Usage::default() };
        assert_eq!(price.cost(&usage), Money::from_dollars((600.0 + 40.0 + 100.0) / 1e6));
        let written = Usage { cache_write: Some(200), ..usage };
        assert_eq!(price.cost(&written), Money::from_dollars((400.0 + 40.0 + 250.0 + 100.0) / 1e6));
        assert_eq!(price.cost(&Usage { output: None, ..usage }), None);
        assert_eq!(price.worst(1000, 10), Money::from_dollars(1350.0 / 1e6).expect("an amount"));
    }

    #[test]
    fn providers_go_by_their_host() {
        for (url, provider) in [
            ("https://api.openai.com/v1/chat/completions", "openai"),
            ("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", "bedrock"),
            ("https://x.openai.azure.com/openai", "azure"),
            ("https://europe-west1-aiplatform.googleapis.com/v1", "google-vertex"),
            ("https://notopenrouter.ai/api", "notopenrouter.ai"),
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
        ] {
            assert_eq!(provider_of(url), provider);
        }
    }
}
