//! The models a request can go to.

use laundromat_session::Message;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::body::Body;
use crate::route::Route;

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
    /// The environment variable that holds the key; `None` for servers without one.
    pub key_env: Option<String>,
    /// What is sent beside model and messages.
    pub parameters: Map<String, Value>,
}

impl Endpoint {
    /// The headers that carry `key`, marked as sensitive.
    pub(crate) fn credentials(&self, key: &SecretString) -> Vec<(HeaderName, HeaderValue)> {
        HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
            .map(|mut value| {
                value.set_sensitive(true);
                (AUTHORIZATION, value)
            })
            .into_iter()
            .collect()
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

    /// The model's name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltinReader => READER,
            Self::Chat(endpoint) => &endpoint.model,
        }
    }

    /// Where it is asked, as call keys have it.
    pub fn endpoint(&self) -> &str {
        match self {
            Self::BuiltinReader => READER,
            Self::Chat(endpoint) => &endpoint.url,
        }
    }

    /// The wire shape of its replies; a built-in model answers in chat completions.
    pub fn route(&self) -> Route {
        match self {
            Self::BuiltinReader => Route::ChatCompletions,
            Self::Chat(endpoint) => endpoint.route,
        }
    }

    /// What is sent beside model and messages, as JSON text; empty for nothing.
    pub fn parameters_text(&self) -> String {
        match self {
            Self::Chat(endpoint) if !endpoint.parameters.is_empty() => {
                Value::from(endpoint.parameters.clone()).to_string()
            }
            Self::Chat(_) | Self::BuiltinReader => String::new(),
        }
    }

    /// The body that asks it to answer `messages`.
    pub fn body(&self, messages: &[Message]) -> Body {
        match self {
            Self::BuiltinReader => Body::chat(READER, messages, &Map::new()),
            Self::Chat(endpoint) => Body::chat(&endpoint.model, messages, &endpoint.parameters),
        }
    }
}
