//! The settings of a call and how a profile words them: field names, and what its destination would
//! refuse. What is left out is said, never hidden.

use std::fmt;

use serde_json::{Map, Number, Value};

use crate::budget::{bounds, max_output};
use crate::profile::Profile;

/// How hard a model may be told to think.
pub const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// What is asked of a model beside its model name and messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Most tokens of the answer, hidden reasoning included.
    pub max_tokens: Option<u64>,
    /// Sampling temperature, as written.
    pub temperature: Option<Number>,
    /// Seed of the sampling.
    pub seed: Option<u64>,
    /// One of [`EFFORTS`].
    pub effort: Option<String>,
    /// Fields of the body as they are, laid over everything else.
    pub parameters: Map<String, Value>,
}

/// A judge answers with one word.
const JUDGE_TOKENS: u64 = 64;

impl Settings {
    /// The settings of a judge on `profile`: as steady as its destination allows, and room for one word
    /// or for the thoughts before it.
    pub fn judge(profile: &Profile) -> Self {
        Self {
            max_tokens: Some(profile.judge.max_tokens.unwrap_or(JUDGE_TOKENS)),
            temperature: Some(Number::from(0)),
            effort: profile.judge.effort.clone(),
            ..Self::default()
        }
    }
}

/// A setting that is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its name in an experiment.
    pub setting: &'static str,
    /// Its value.
    pub value: Value,
    /// Why it is not sent.
    pub why: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} is not sent: {}", self.setting, self.value, self.why)
    }
}

/// Settings in a destination's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// The body's fields beside model and messages.
    pub fields: Map<String, Value>,
    /// What is left out.
    pub dropped: Vec<Dropped>,
}

impl Sent {
    /// `settings` as `profile` words them, in front of its fixed fields.
    pub fn new(profile: &Profile, settings: &Settings) -> Self {
        let mut sent = Self::default();
        let fields = &profile.fields;
        let number = |value: u64| Value::from(value);
        let max_tokens = settings.max_tokens.or(profile.defaults.max_tokens);
        sent.put(profile, "max-tokens", fields.max_tokens.as_deref(), max_tokens.map(number));
        let temperature = settings.temperature.clone().map(Value::Number);
        sent.put(profile, "temperature", fields.temperature.as_deref(), temperature);
        sent.put(profile, "seed", fields.seed.as_deref(), settings.seed.map(number));
        let effort = settings.effort.as_ref().or(profile.defaults.effort.as_ref());
        if let Some(effort) = effort {
            sent.effort(profile, effort);
        }
        overlay(&mut sent.fields, &profile.extra);
        overlay(&mut sent.fields, &settings.parameters);
        sent
    }

    /// The same with replies of at most `tokens` tokens; `None` where its own bound is no larger, or the
    /// destination takes none.
    pub fn within(&self, profile: &Profile, tokens: u64) -> Option<Self> {
        if max_output(&self.fields).is_some_and(|own| own <= tokens) {
            return None;
        }
        let mut paths: Vec<&str> = bounds(&self.fields).map(|(path, _)| path).collect();
        if paths.is_empty() {
            paths.push(profile.fields.max_tokens.as_deref()?);
        }
        let mut within = self.clone();
        for path in paths {
            place(&mut within.fields, path, Value::from(tokens));
        }
        Some(within)
    }

    fn put(&mut self, profile: &Profile, setting: &'static str, field: Option<&str>, value: Option<Value>) {
        let Some(value) = value else { return };
        match field {
            Some(field) => place(&mut self.fields, field, value),
            None => self.drop(profile, setting, value),
        }
    }

    fn effort(&mut self, profile: &Profile, effort: &str) {
        match &profile.fields.effort {
            None => self.drop(profile, "effort", Value::from(effort)),
            Some(words) => match words.values.get(effort) {
                Some(value) => place(&mut self.fields, &words.field, value.clone()),
                None if words.values.is_empty() => place(&mut self.fields, &words.field, Value::from(effort)),
                None => {
                    let known: Vec<&str> = EFFORTS.into_iter().filter(|it| words.values.contains_key(*it)).collect();
                    let why = format!("{} takes {} only", profile.id, known.join(", "));
                    self.dropped.push(Dropped { setting: "effort", value: Value::from(effort), why });
                }
            },
        }
    }

    fn drop(&mut self, profile: &Profile, setting: &'static str, value: Value) {
        let why =
            profile.refuses.get(setting).cloned().unwrap_or_else(|| format!("{} has no field for it", profile.id));
        self.dropped.push(Dropped { setting, value, why });
    }
}

/// Sets the field at a dotted path.
pub(crate) fn place(fields: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            fields.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// Lays `over` over `fields`: objects field by field, anything else as a whole.
pub(crate) fn overlay(fields: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(value)) => overlay(under, value),
            _ => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Number, Value, json};

    use super::{Sent, Settings};
    use crate::profile::Profile;

    fn sent(profile: &str, settings: &Settings) -> (Value, Vec<String>) {
        let sent = Sent::new(Profile::named(profile).expect("a profile"), settings);
        (Value::from(sent.fields), sent.dropped.iter().map(ToString::to_string).collect())
    }

    fn all() -> Settings {
        Settings {
            max_tokens: Some(100),
            temperature: Some(Number::from(0)),
            seed: Some(7),
            effort: Some("low".to_owned()),
            ..Settings::default()
        }
    }

    #[test]
    fn each_destination_is_told_in_its_own_words() {
        assert_eq!(sent("generic", &Settings::default()), (json!({}), vec![]));
        assert_eq!(
            sent("mistral", &all()).0,
            json!({"max_tokens": 100, "temperature": 0, "random_seed": 7, "reasoning_effort": "low"})
        );
        assert_eq!(
            sent("gemini-3x", &all()).0,
            json!({"generationConfig": {
                "maxOutputTokens": 100, "temperature": 0, "seed": 7, "thinkingConfig": {"thinkingLevel": "LOW"},
            }})
        );
    }

    #[test]
    fn what_is_not_sent_is_said_with_its_reason() {
        let (fields, dropped) = sent("anthropic-2026-10-21", &all());
        assert_eq!(fields, json!({"max_tokens": 100}));
        assert_eq!(dropped.len(), 3, "{dropped:?}");
        assert!(dropped[0].starts_with("temperature = 0 is not sent: "), "{dropped:?}");
        let (_, dropped) = sent("codex", &all());
        assert_eq!(dropped.len(), 3, "{dropped:?}");
        let (_, dropped) = sent("gemini-2x", &Settings { effort: Some("max".to_owned()), ..Settings::default() });
        assert_eq!(dropped, ["effort = \"max\" is not sent: gemini-2x takes none, low, medium, high only"]);
    }

    #[test]
    fn a_tighter_bound_takes_the_place_of_a_looser_one_under_the_name_it_has() {
        let within = |profile: &str, settings: &Settings| {
            let profile = Profile::named(profile).expect("a profile");
            Sent::new(profile, settings).within(profile, 50).map(|sent| Value::from(sent.fields))
        };
        let bounded = |most: u64| Settings { max_tokens: Some(most), ..Settings::default() };
        assert_eq!(within("generic", &Settings::default()), Some(json!({"max_tokens": 50})));
        assert_eq!(within("gemini-2x", &bounded(51)), Some(json!({"generationConfig": {"maxOutputTokens": 50}})));
        assert_eq!(within("mistral", &bounded(50)), None, "its own is as tight");
        assert_eq!(within("codex", &Settings::default()), None, "it takes none");
        let parameters = json!({"max_completion_tokens": 90}).as_object().expect("an object").clone();
        let settings = Settings { parameters, ..Settings::default() };
        assert_eq!(within("generic", &settings), Some(json!({"max_completion_tokens": 50})));
    }

    #[test]
    fn parameters_are_laid_over_field_by_field() {
        let parameters = json!({"provider": {"order": ["a"]}, "usage": 1}).as_object().expect("an object").clone();
        let (fields, _) = sent("openrouter", &Settings { parameters, ..Settings::default() });
        let provider = json!({"allow_fallbacks": false, "require_parameters": true, "order": ["a"]});
        assert_eq!(fields, json!({"provider": provider, "usage": 1}));
    }
}
