//! Where a request goes: the paths that providers serve, and what a path alone says of a call.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::profile::Profile;

/// A wire shape together with the way it is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// `/v1/chat/completions`, also below `/openai` and `/api` as Groq and OpenRouter have it.
    #[default]
    Chat,
    /// Chat completions of an Azure deployment.
    Azure,
    /// `/v1/responses`.
    Responses,
    /// `/backend-api/codex/responses`: the Responses shape, streams only.
    Codex,
    /// `/v1/messages`.
    Anthropic,
    /// `generateContent` and `streamGenerateContent`, below `v1beta`, `v1` or a Vertex project.
    Gemini,
    /// `/model/M/converse` of Bedrock.
    Converse,
}

impl Route {
    /// Every route.
    pub const ALL: &[Self] =
        &[Self::Chat, Self::Azure, Self::Responses, Self::Codex, Self::Anthropic, Self::Gemini, Self::Converse];

    /// The route's id, as in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Azure => "azure",
            Self::Responses => "responses",
            Self::Codex => "codex",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Converse => "converse",
        }
    }

    /// The header in which a reply carries its request id.
    pub(crate) fn id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::Converse => "x-amzn-requestid",
            _ => "x-request-id",
        }
    }

    /// The longest body in bytes, where the provider names a bound.
    pub(crate) fn longest_body(self) -> Option<usize> {
        match self {
            Self::Anthropic => Some(32 << 20),
            _ => None,
        }
    }
}

/// How the path wants the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As the body asks.
    AsAsked,
    /// As events, whatever the body says.
    Events,
}

/// A place that calls are posted to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    pub(crate) route: Route,
    /// The model, where the path names it.
    pub(crate) model: Option<Cow<'a, str>>,
    pub(crate) manner: Manner,
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    Call(Target<'a>),
    /// The list of models, or one of them.
    Models {
        api: ModelsApi,
        model: Option<Cow<'a, str>>,
    },
}

/// Below which version of a path models are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelsApi {
    /// `/v1/models`, which three providers serve: the headers say whose form is wanted.
    Shared,
    /// `/v1beta/models`.
    Google,
}

impl Place<'_> {
    /// The one method that is served there.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Call(_) => "POST",
            Self::Models { .. } => "GET",
        }
    }

    pub(crate) fn route(&self) -> Option<Route> {
        match self {
            Self::Call(target) => Some(target.route),
            Self::Models { .. } => None,
        }
    }
}

/// What `path` leads to on a server of `profile`.
pub(crate) fn find(path: &str, profile: Profile) -> Option<Place<'_>> {
    let call = |route| Some(Place::Call(Target { route, model: None, manner: Manner::AsAsked }));
    match path {
        "/v1/chat/completions" | "/openai/v1/chat/completions" | "/api/v1/chat/completions" => call(Route::Chat),
        "/chat/completions" if profile.serves_at_root() => call(Route::Chat),
        "/v1/responses" | "/openai/v1/responses" => call(Route::Responses),
        "/backend-api/codex/responses" => call(Route::Codex),
        "/v1/messages" => call(Route::Anthropic),
        "/v1/models" | "/openai/v1/models" | "/api/v1/models" => {
            Some(Place::Models { api: ModelsApi::Shared, model: None })
        }
        "/v1beta/models" => Some(Place::Models { api: ModelsApi::Google, model: None }),
        _ => with_model(path),
    }
}

/// The paths that name a model.
fn with_model(path: &str) -> Option<Place<'_>> {
    let call = |route, model, manner| Some(Place::Call(Target { route, model: Some(decoded(model)), manner }));
    if let Some(rest) = path.strip_prefix("/openai/deployments/") {
        return match rest.split_once('/') {
            Some((model, "chat/completions")) if !model.is_empty() => call(Route::Azure, model, Manner::AsAsked),
            _ => None,
        };
    }
    if let Some(rest) = path.strip_prefix("/model/") {
        let model = rest.strip_suffix("/converse").filter(|model| !model.is_empty())?;
        return call(Route::Converse, model, Manner::AsAsked);
    }
    let (api, rest) = if let Some(rest) = path.strip_prefix("/v1beta/models/") {
        (ModelsApi::Google, rest)
    } else if let Some(rest) = path.strip_prefix("/v1/models/") {
        (ModelsApi::Shared, rest)
    } else {
        let (_, rest) = path.strip_prefix("/v1/projects/")?.split_once("/publishers/google/models/")?;
        (ModelsApi::Google, rest)
    };
    match rest.rsplit_once(':') {
        Some((model, "generateContent")) if !model.is_empty() => call(Route::Gemini, model, Manner::AsAsked),
        Some((model, "streamGenerateContent")) if !model.is_empty() => call(Route::Gemini, model, Manner::Events),
        _ if rest.is_empty() || rest.contains('/') || path.starts_with("/v1/projects/") => None,
        _ => Some(Place::Models { api, model: Some(decoded(rest)) }),
    }
}

/// A path segment without its percent signs; one that is no text is left as it is.
fn decoded(segment: &str) -> Cow<'_, str> {
    if !segment.contains('%') {
        return Cow::Borrowed(segment);
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, more @ ..] = rest {
        let byte = match more {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(segment), Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::{Manner, ModelsApi, Place, Route, decoded, find};
    use crate::profile::Profile;

    fn call(path: &str) -> Option<(Route, Option<String>, Manner)> {
        match find(path, Profile::OpenAi) {
            Some(Place::Call(target)) => {
                Some((target.route, target.model.map(std::borrow::Cow::into_owned), target.manner))
            }
            _ => None,
        }
    }

    #[test]
    fn each_path_leads_to_its_route() {
        let model = |name: &str| Some(name.to_owned());
        for (path, expected) in [
            ("/v1/chat/completions", (Route::Chat, None, Manner::AsAsked)),
            ("/openai/deployments/gpt/chat/completions", (Route::Azure, model("gpt"), Manner::AsAsked)),
            ("/v1/responses", (Route::Responses, None, Manner::AsAsked)),
            ("/backend-api/codex/responses", (Route::Codex, None, Manner::AsAsked)),
            ("/v1/messages", (Route::Anthropic, None, Manner::AsAsked)),
            ("/v1/models/g-3:generateContent", (Route::Gemini, model("g-3"), Manner::AsAsked)),
            ("/v1beta/models/g:streamGenerateContent", (Route::Gemini, model("g"), Manner::Events)),
            (
                "/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
                (Route::Gemini, model("g"), Manner::AsAsked),
            ),
            ("/model/anthropic.c-v1%3A0/converse", (Route::Converse, model("anthropic.c-v1:0"), Manner::AsAsked)),
        ] {
            assert_eq!(call(path), Some(expected), "{path}");
        }
    }

    #[test]
    fn what_is_near_a_path_is_nothing() {
        for path in [
            "/",
            "/chat/completions",
            "/v1/chat/completions/",
            "/openai/deployments//chat/completions",
            "/model//converse",
            "/model/m/converse-stream",
            "/v1beta/models/",
            "/v1/models/:generateContent/x",
            "/v1/projects/p/publishers/google/models/g",
        ] {
            assert_eq!(find(path, Profile::OpenAi), None, "{path}");
        }
        assert!(find("/chat/completions", Profile::DeepSeekThinkingOff).is_some());
    }

    #[test]
    fn models_are_listed_in_two_places() {
        let one = |path| match find(path, Profile::OpenAi) {
            Some(Place::Models { api, model }) => Some((api, model.map(std::borrow::Cow::into_owned))),
            _ => None,
        };
        assert_eq!(one("/v1/models"), Some((ModelsApi::Shared, None)));
        assert_eq!(one("/v1/models/m"), Some((ModelsApi::Shared, Some("m".to_owned()))));
        assert_eq!(one("/v1beta/models/m"), Some((ModelsApi::Google, Some("m".to_owned()))));
    }

    #[test]
    fn a_percent_sign_that_encodes_nothing_stays() {
        for (segment, expected) in
            [("a%2Fb", "a/b"), ("100%", "100%"), ("a%zz", "a%zz"), ("%C3%A4", "ä"), ("%ff", "%ff")]
        {
            assert_eq!(decoded(segment), expected);
        }
    }

    #[test]
    fn names_are_those_of_the_log() {
        for route in Route::ALL {
            assert_eq!(serde_json::to_value(route).unwrap(), route.name());
        }
    }
}
