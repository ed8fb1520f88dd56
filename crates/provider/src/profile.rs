//! The destinations: where each is, which variable holds its key, how it words the settings, what it
//! wants of a conversation and what it refuses. All of it is data: `data/profiles.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::policy::Policy;
use crate::route::Route;
use crate::validate::Rules;

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../data/profiles.toml"))
        .expect("the embedded profiles are sound: a test of this crate reads them");
    table.profiles
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    profiles: Vec<Profile>,
}

/// A destination.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// Its name in experiments.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// How it takes a conversation.
    pub route: Route,
    /// Where it is; `${NAME}` is filled from the environment. None where only the user can know.
    pub base_url: Option<String>,
    /// What stands behind the base; `{model}` is the model's name.
    pub path: String,
    /// Variables that may hold the key, the first that is set wins.
    #[serde(default)]
    pub keys: Vec<KeySource>,
    /// Whether it can be asked without a key.
    #[serde(default)]
    pub needs_key: NeedsKey,
    /// Headers beside the key's.
    #[serde(default)]
    pub headers: Vec<FixedHeader>,
    /// Its words for the settings.
    #[serde(default)]
    pub fields: FieldNames,
    /// Why it has no words for the others.
    #[serde(default)]
    pub refuses: BTreeMap<String, String>,
    /// Settings where the experiment says nothing.
    #[serde(default)]
    pub defaults: Defaults,
    /// Fields of every body.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// What it wants of a conversation.
    #[serde(default)]
    pub policy: Policy,
    /// What it refuses.
    #[serde(default)]
    pub rules: Rules,
    /// Settings of a judge where the experiment says nothing.
    #[serde(default)]
    pub judge: Defaults,
    /// What its list of models says.
    #[serde(default)]
    pub models: ModelList,
    /// The names by which wire vectors of this route know it.
    #[serde(default)]
    pub wire: Vec<String>,
    /// What stands behind this row.
    pub confidence: String,
    /// What else there is to know.
    #[serde(default)]
    pub note: String,
}

/// A variable that may hold a key, and the header that takes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KeySource {
    /// The variable.
    pub env: String,
    /// How the key is sent.
    #[serde(default)]
    pub auth: Auth,
}

/// The header that takes a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
    /// `x-goog-api-key: KEY`.
    XGoogApiKey,
    /// `api-key: KEY`.
    ApiKey,
}

impl Auth {
    /// The header's name.
    pub fn header(self) -> HeaderName {
        HeaderName::from_static(match self {
            Self::Bearer => "authorization",
            Self::XApiKey => "x-api-key",
            Self::XGoogApiKey => "x-goog-api-key",
            Self::ApiKey => "api-key",
        })
    }

    /// The header's value, marked as sensitive; `None` where the key cannot stand in a header.
    pub fn value(self, key: &str) -> Option<HeaderValue> {
        let mut value = match self {
            Self::Bearer => HeaderValue::from_str(&format!("Bearer {key}")),
            Self::XApiKey | Self::XGoogApiKey | Self::ApiKey => HeaderValue::from_str(key),
        }
        .ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Whether a destination can be asked without a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeedsKey {
    /// It cannot.
    #[default]
    Always,
    /// It depends on how the server was started.
    Sometimes,
}

/// What the list of models that a destination has says of the models it takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelList {
    /// It takes those in the list.
    #[default]
    Whole,
    /// It takes others as well, or nothing is known about it.
    Part,
    /// It has no list for this key.
    None,
}

/// A header of every request: a fixed value, or one from a variable.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedHeader {
    /// Its name.
    pub name: String,
    /// Its value, where it is fixed.
    pub value: Option<String>,
    /// The variable that holds its value, where it is not.
    pub env: Option<String>,
}

/// A destination's words for the settings, as dotted paths in the body.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FieldNames {
    /// For the cap of the answer.
    pub max_tokens: Option<String>,
    /// For the temperature.
    pub temperature: Option<String>,
    /// For the seed.
    pub seed: Option<String>,
    /// For the effort.
    pub effort: Option<EffortField>,
}

/// The words for an effort.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffortField {
    /// The field.
    pub field: String,
    /// What each effort is called, where it is not its own name.
    #[serde(default)]
    pub values: Map<String, Value>,
}

/// Settings where the experiment says nothing.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Defaults {
    /// The cap.
    pub max_tokens: Option<u64>,
    /// The effort.
    pub effort: Option<String>,
}

/// Why a profile has no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoUrl {
    /// It has none of its own.
    #[error("the profile \"{0}\" has no address of its own")]
    NoBase(String),
    /// A variable of its address is not set.
    #[error("the address of \"{profile}\" needs the environment variable {name}, which is not set")]
    NoVariable {
        /// The profile.
        profile: String,
        /// The variable.
        name: String,
    },
}

impl Profile {
    /// All profiles, in the order of the documentation.
    pub fn all() -> &'static [Self] {
        &PROFILES
    }

    /// The profile of this name.
    pub fn named(id: &str) -> Option<&'static Self> {
        Self::all().iter().find(|profile| profile.id == id)
    }

    /// The profile of a model whose experiment names none.
    pub fn of_route(route: Route) -> &'static Self {
        let id = match route {
            Route::ChatCompletions => "generic",
            Route::Responses => "openai-responses",
            Route::Anthropic => "anthropic-2023-06-01",
            Route::Gemini => "gemini-2x",
            Route::BedrockConverse => "bedrock-converse",
        };
        Self::named(id).unwrap_or(&PROFILES[0])
    }

    /// The profile that wire vectors of `route` call `name`.
    pub fn of_wire(route: Route, name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|profile| profile.route == route && profile.wire.iter().any(|known| known == name))
    }

    /// Whether it is no use asking without a key.
    pub fn wants_key(&self) -> bool {
        self.needs_key == NeedsKey::Always
    }

    /// Where `model` is asked: `base_url` or the profile's own, and its path behind it.
    ///
    /// # Errors
    /// When the profile has no address or a variable in it is not set.
    pub fn url(
        &self,
        model: &str,
        base_url: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<String, NoUrl> {
        let base = base_url.or(self.base_url.as_deref()).ok_or_else(|| NoUrl::NoBase(self.id.clone()))?;
        let mut url = String::new();
        let template = format!("{}{}", base.trim_end_matches('/'), self.path);
        let mut rest = template.as_str();
        while let Some((before, (name, behind))) =
            rest.split_once("${").and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
        {
            let missing = || NoUrl::NoVariable { profile: self.id.clone(), name: name.to_owned() };
            let value = variable(name).filter(|value| !value.trim().is_empty()).ok_or_else(missing)?;
            url.push_str(before);
            url.push_str(value.trim().trim_end_matches('/'));
            rest = behind;
        }
        url.push_str(rest);
        Ok(url.replace("{model}", &path_segment(model)))
    }

    /// The headers beside content type: the key's, and those the destination wants. `variable` gives
    /// the value of an environment variable that is set.
    pub fn headers<'v>(&self, keys: &[KeySource], variable: impl Fn(&str) -> Option<&'v str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let key = keys.iter().find_map(|source| Some((source.auth, variable(&source.env)?)));
        if let Some((auth, key)) = key
            && let Some(value) = auth.value(key)
        {
            headers.insert(auth.header(), value);
        }
        for header in &self.headers {
            let value = header.value.as_deref().or_else(|| variable(header.env.as_deref()?));
            let name = HeaderName::from_bytes(header.name.as_bytes()).ok();
            if let (Some(name), Some(Ok(value))) = (name, value.map(HeaderValue::from_str)) {
                headers.insert(name, value);
            }
        }
        headers
    }
}

/// A model's name as one part of a path.
pub(crate) fn path_segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{NoUrl, Profile, Route};

    #[test]
    fn every_profile_is_sound() {
        let profiles = Profile::all();
        for (index, profile) in profiles.iter().enumerate() {
            let id = &profile.id;
            assert!(profiles[..index].iter().all(|other| other.id != *id), "{id} stands twice");
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
            assert!(!profile.confidence.is_empty() && !profile.title.is_empty(), "{id}");
            let known = ["max-tokens", "temperature", "seed", "effort"];
            assert!(profile.refuses.keys().all(|key| known.contains(&key.as_str())), "{id}: {:?}", profile.refuses);
            for header in &profile.headers {
                assert!(header.value.is_some() != header.env.is_some(), "{id}: {} has one source", header.name);
            }
        }
        for route in Route::ALL {
            assert_eq!(Profile::of_route(*route).route, *route);
        }
    }

    #[test]
    fn an_address_is_made_of_base_path_model_and_environment() {
        let url = |id: &str, model: &str, base: Option<&str>| {
            let variable = |name: &str| match name {
                "AWS_REGION" => Some("eu-west-1".to_owned()),
                "AZURE_OPENAI_ENDPOINT" => Some("https://x.openai.azure.com/".to_owned()),
                "OPENAI_API_VERSION" => Some("2026-01-01".to_owned()),
                _ => None,
            };
            Profile::named(id).expect("a profile").url(model, base, variable)
        };
        assert_eq!(url("generic", "m", Some("http://h/v1/")).as_deref(), Ok("http://h/v1/chat/completions"));
        assert_eq!(url("generic", "m", None), Err(NoUrl::NoBase("generic".to_owned())));
        assert_eq!(
            url("bedrock-converse", "arn:aws:x/y", None).as_deref(),
            Ok("https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn:aws:x%2Fy/converse")
        );
        assert_eq!(
            url("azure", "my-gpt", None).as_deref(),
            Ok("https://x.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2026-01-01")
        );
        assert_eq!(
            url("vertex-gemini", "m", None),
            Err(NoUrl::NoVariable { profile: "vertex-gemini".to_owned(), name: "GOOGLE_CLOUD_LOCATION".to_owned() })
        );
    }

    #[test]
    fn the_first_variable_that_is_set_decides_the_header() {
        let azure = Profile::named("azure").expect("a profile");
        let only = |set: &'static str| move |name: &str| (name == set).then_some("k");
        assert_eq!(azure.headers(&azure.keys, only("AZURE_OPENAI_API_KEY"))["api-key"], "k");
        assert_eq!(azure.headers(&azure.keys, only("AZURE_OPENAI_AD_TOKEN"))["authorization"], "Bearer k");
        assert!(azure.headers(&azure.keys, only("OTHER")).is_empty());
    }
}
