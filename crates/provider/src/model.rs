//! The models a request can go to.

use std::borrow::Cow;

use laundromat_session::Message;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::body::Body;
use crate::policy::Policy;
use crate::profile::{KeySource, Profile};
use crate::route::Route;
use crate::routes::{Shape, write};
use crate::settings::{Dropped, Sent, Settings};
use crate::validate::{self, Broken};

/// Name of the built-in reader.
pub const READER: &str = "builtin:reader";

/// A model behind an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// How it takes a conversation.
    pub route: Route,
    /// The model's name, as the server knows it.
    pub model: String,
    /// Full address that calls go to.
    pub url: String,
    /// The destination.
    pub profile: &'static Profile,
    /// The variables that may hold the key, the first that is set wins; empty for servers without one.
    pub keys: Vec<KeySource>,
    /// Whether the user named the profile, whose name then stands in manifests.
    pub named: Named,
    /// The settings in the destination's words, and what is left out.
    sent: Sent,
}

/// Where an endpoint's profile comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The experiment names it.
    Explicit,
    /// It is the one for servers about which nothing is said.
    Implied,
}

impl Endpoint {
    /// `model` at `url`, a destination of this profile, with the profile's own key variables.
    pub fn new(profile: &'static Profile, model: String, url: String, settings: &Settings) -> Self {
        Self {
            route: profile.route,
            model,
            url,
            profile,
            keys: profile.keys.clone(),
            named: Named::Explicit,
            sent: Sent::new(profile, settings),
        }
    }

    /// The variables that have to be set besides the key's.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.profile.headers.iter().filter_map(|header| header.env.as_deref())
    }

    /// Whether it is no use asking without a key.
    pub fn needs_key(&self) -> bool {
        match self.named {
            // Without a profile, a variable is named for a server that wants it.
            Named::Implied => !self.keys.is_empty(),
            Named::Explicit => self.profile.wants_key() || self.keys != self.profile.keys,
        }
    }

    /// The headers of a call beside content type: credentials, marked as sensitive, and what the
    /// destination wants besides. `variable` gives the value of a variable that is set.
    pub fn headers<'v>(&self, variable: impl Fn(&str) -> Option<&'v SecretString>) -> HeaderMap {
        self.profile.headers(&self.keys, |name| variable(name).map(ExposeSecret::expose_secret))
    }

    /// Settings of the experiment that this destination would refuse and that are not sent.
    pub fn dropped(&self) -> &[Dropped] {
        &self.sent.dropped
    }

    /// The fields beside model and messages.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.sent.fields
    }

    /// The same with replies of at most `tokens` tokens; `None` where its own bound is no larger, or its
    /// destination takes none.
    pub fn within(&self, tokens: u64) -> Option<Self> {
        let sent = self.sent.within(self.profile, tokens)?;
        Some(Self { sent, ..self.clone() })
    }

    /// The body that asks the model to answer `messages`.
    ///
    /// # Errors
    /// When the destination would refuse it.
    pub fn body(&self, messages: &[Message]) -> Result<Body, Broken> {
        self.shape(messages, &self.profile.policy)
    }

    /// The same under another policy.
    pub(crate) fn shape(&self, messages: &[Message], policy: &Policy) -> Result<Body, Broken> {
        let shape = Shape { model: &self.model, messages, policy, fields: &self.sent.fields };
        let body = Body::new(write(self.route, &shape), &self.model);
        let value: Value = serde_json::from_slice(&body.bytes)
            .map_err(|error| Broken { rule: "body_json", message: error.to_string() })?;
        validate::body(self.profile, &value)?;
        Ok(body)
    }
}

/// A model of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// `builtin:reader`: a deterministic program that shows what the form lets a fully trusting
    /// reader believe. It is no language model.
    BuiltinReader,
    /// A model behind an address.
    Chat(Endpoint),
}

impl Model {
    /// The names of all models that need no address and no key.
    pub const BUILTIN: &'static [&'static str] = &[READER];

    /// The built-in model of this name.
    pub fn builtin(name: &str) -> Option<Self> {
        (name == READER).then_some(Self::BuiltinReader)
    }

    /// Whether the model is a program rather than a language model.
    pub fn is_builtin(&self) -> bool {
        matches!(self, Self::BuiltinReader)
    }

    /// The model's address and settings, where it has one.
    pub fn as_endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::BuiltinReader => None,
            Self::Chat(endpoint) => Some(endpoint),
        }
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltinReader => READER,
            Self::Chat(endpoint) => &endpoint.model,
        }
    }

    /// Where it is asked.
    pub fn endpoint(&self) -> &str {
        match self {
            Self::BuiltinReader => READER,
            Self::Chat(endpoint) => &endpoint.url,
        }
    }

    /// Where it is asked, as call keys have it: an API's version may stand in a header, and the same
    /// body under another version is another call.
    pub fn key_endpoint(&self) -> Cow<'_, str> {
        let version = match self {
            Self::BuiltinReader => None,
            Self::Chat(endpoint) => endpoint.profile.headers.iter().find(|header| header.name == "anthropic-version"),
        };
        match version.and_then(|header| header.value.as_deref()) {
            Some(version) => Cow::Owned(format!("{} {version}", self.endpoint())),
            None => Cow::Borrowed(self.endpoint()),
        }
    }

    /// The wire shape of its replies; a built-in model answers in chat completions.
    pub fn route(&self) -> Route {
        match self {
            Self::BuiltinReader => Route::ChatCompletions,
            Self::Chat(endpoint) => endpoint.route,
        }
    }

    /// Settings that its destination would refuse and that are not sent.
    pub fn dropped(&self) -> &[Dropped] {
        match self {
            Self::BuiltinReader => &[],
            Self::Chat(endpoint) => endpoint.dropped(),
        }
    }

    /// What is sent beside model and messages, as JSON text; empty for nothing. Where the experiment
    /// names a profile or a setting is not sent, it says so too.
    pub fn parameters_text(&self) -> String {
        let Self::Chat(endpoint) = self else { return String::new() };
        let fields = Value::from(endpoint.fields().clone());
        if endpoint.named == Named::Implied && endpoint.dropped().is_empty() {
            return if endpoint.fields().is_empty() { String::new() } else { fields.to_string() };
        }
        let mut text = Map::new();
        text.insert("profile".to_owned(), Value::from(endpoint.profile.id.as_str()));
        text.insert("sent".to_owned(), fields);
        if !endpoint.dropped().is_empty() {
            let dropped = endpoint.dropped().iter().map(|it| (it.setting.to_owned(), it.value.clone()));
            text.insert("not sent".to_owned(), Value::Object(dropped.collect()));
        }
        Value::Object(text).to_string()
    }

    /// The same with replies of at most `tokens` tokens; `None` where its own bound is no larger, or it
    /// takes none, as a built-in model.
    pub fn within(&self, tokens: u64) -> Option<Self> {
        match self {
            Self::BuiltinReader => None,
            Self::Chat(endpoint) => endpoint.within(tokens).map(Self::Chat),
        }
    }

    /// The body that asks it what `body` asks `other`; `None` where the two are not sent the same text.
    pub fn body_after(&self, other: &Self, body: &Body) -> Option<Body> {
        match (self, other) {
            (Self::Chat(own), Self::Chat(other)) => {
                let same = std::ptr::eq(own.profile, other.profile) && own.fields() == other.fields();
                same.then(|| body.renamed(&own.model))
            }
            (Self::BuiltinReader, Self::BuiltinReader) => Some(body.clone()),
            (Self::Chat(_), Self::BuiltinReader) | (Self::BuiltinReader, Self::Chat(_)) => None,
        }
    }

    /// The body that asks it to answer `messages`.
    ///
    /// # Errors
    /// When its destination would refuse it.
    pub fn body(&self, messages: &[Message]) -> Result<Body, Broken> {
        match self {
            Self::BuiltinReader => Ok(Body::chat(READER, messages, &Map::new())),
            Self::Chat(endpoint) => endpoint.body(messages),
        }
    }
}
