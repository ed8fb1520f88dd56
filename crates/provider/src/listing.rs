//! Whether a destination answers and has a model, found out without a call that costs anything: its list of models
//! is looked at, or only its address where it has none.

use std::time::SystemTime;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::client::{Client, Looked};
use crate::failure::CallFailure;
use crate::model::Endpoint;
use crate::profile::{ModelList, path_segment};
use crate::reply;
use crate::route::Route;

/// What a destination says of its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// It answers, and has no list that could be looked at.
    Unlisted,
    /// It has a list.
    Listed {
        /// The names in it; some servers give a part of it at a time.
        names: Vec<String>,
        /// Whether the endpoint's model exists.
        has_model: bool,
    },
}

impl Client {
    /// Whether `endpoint` answers, and what its list of models says. It is asked once, and not under the limits of
    /// calls. A cassette has no list.
    ///
    /// # Errors
    /// When it does not answer or does not take the key.
    pub async fn listing(&self, endpoint: &Endpoint) -> Result<Listing, CallFailure> {
        let Some(network) = self.network() else { return Ok(Listing::Unlisted) };
        let Some(list) = list_url(endpoint) else {
            // Whatever it says to somebody without a key: it answers.
            return network.look(origin(&endpoint.url), HeaderMap::new()).await.map(|_| Listing::Unlisted);
        };
        let looked = network.look(&format!("{list}{}", page(endpoint.route)), network.headers(endpoint)).await?;
        if matches!(looked.status, 404 | 405 | 501) {
            return Ok(Listing::Unlisted);
        }
        let names = names(endpoint.route, &read(endpoint.route, &looked)?);
        let mut has_model = names.contains(&endpoint.model);
        if !has_model && !endpoint.model.is_empty() && resolves_names(endpoint.route) {
            let url = format!("{list}/{}", path_segment(&endpoint.model));
            has_model = network.look(&url, network.headers(endpoint)).await?.status == 200;
        }
        Ok(Listing::Listed { names, has_model })
    }
}

/// Where the models of a destination are listed.
fn list_url(endpoint: &Endpoint) -> Option<String> {
    if endpoint.profile.models == ModelList::None {
        return None;
    }
    let calls = match endpoint.route {
        Route::ChatCompletions => "/chat/completions",
        Route::Responses => "/responses",
        Route::Anthropic => "/messages",
        Route::Gemini => return endpoint.url.rsplit_once("/models/").map(|(base, _)| format!("{base}/models")),
        Route::BedrockConverse => return None,
    };
    endpoint.url.strip_suffix(calls).map(|base| format!("{base}/models"))
}

/// As much of a list at once as there is.
fn page(route: Route) -> &'static str {
    match route {
        Route::Anthropic => "?limit=1000",
        Route::Gemini => "?pageSize=1000",
        Route::ChatCompletions | Route::Responses | Route::BedrockConverse => "",
    }
}

/// Whether single models can be asked for, by names that stand in no list.
fn resolves_names(route: Route) -> bool {
    matches!(route, Route::Anthropic | Route::Gemini)
}

/// The body of a list, or what went wrong with it, in the words of failed calls.
fn read(route: Route, looked: &Looked) -> Result<Value, CallFailure> {
    match serde_json::from_slice(&looked.body) {
        Ok(body) if looked.status == 200 => Ok(body),
        _ => match reply::read(route, looked.status, &looked.headers, &looked.body, SystemTime::now()) {
            Err((failure, _)) => Err(failure),
            Ok(_) => Ok(Value::Null),
        },
    }
}

/// The names in a list: `data` or the whole of it with `id`s, or Google's `models` with names of resources.
fn names(route: Route, body: &Value) -> Vec<String> {
    let (list, name) = match route {
        Route::Gemini => (body.get("models"), "name"),
        _ => (body.get("data").or(Some(body)), "id"),
    };
    let entries = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named = entries.iter().filter_map(|entry| entry.get(name)?.as_str());
    named.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect()
}

/// An address without its path.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |end| &url[..host + end])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Listing, list_url, names, origin};
    use crate::client::{Client, Sending, Timeouts};
    use crate::limits::Pace;
    use crate::model::{Endpoint, Model};
    use crate::profile::Profile;
    use crate::retry::Retry;
    use crate::route::Route;
    use crate::settings::Settings;

    fn list_of(profile: &str) -> Option<String> {
        let profile = Profile::named(profile).expect("a profile");
        let url = profile.url("m/x", Some("http://h/v1"), |_| Some("v".to_owned())).expect("an address");
        list_url(&Endpoint::new(profile, "m/x".to_owned(), url, &Settings::default()))
    }

    #[test]
    fn each_route_has_its_list_where_it_has_one() {
        assert_eq!(list_of("generic").as_deref(), Some("http://h/v1/models"));
        assert_eq!(list_of("openai-responses").as_deref(), Some("http://h/v1/models"));
        assert_eq!(list_of("anthropic-2026-10-21").as_deref(), Some("http://h/v1/v1/models"));
        assert_eq!(list_of("gemini-3x").as_deref(), Some("http://h/v1/v1beta/models"));
        for without in ["azure", "codex", "vertex-gemini", "bedrock-converse"] {
            assert_eq!(list_of(without), None, "{without}");
        }
        // All others have one that their own address leads to.
        for profile in Profile::all() {
            let url = profile.url("m", Some("http://h"), |_| Some("v".to_owned())).expect("an address");
            let endpoint = Endpoint::new(profile, "m".to_owned(), url, &Settings::default());
            assert_eq!(list_url(&endpoint).is_some(), profile.models != super::ModelList::None, "{}", profile.id);
        }
    }

    #[test]
    fn lists_are_read_in_all_their_forms() {
        let ids = json!([{"id": "a"}, {"id": "b"}, {}]);
        assert_eq!(names(Route::ChatCompletions, &json!({"data": ids})), ["a", "b"]);
        assert_eq!(names(Route::ChatCompletions, &ids), ["a", "b"]);
        assert_eq!(names(Route::Gemini, &json!({"models": [{"name": "models/g"}]})), ["g"]);
        assert!(names(Route::Anthropic, &json!({"x": 1})).is_empty());
        assert_eq!(origin("https://h:1/a/b?c"), "https://h:1");
        assert_eq!(origin("http://h"), "http://h");
    }

    #[tokio::test]
    async fn who_does_not_answer_is_told_so() {
        let url = "http://127.0.0.1:9/v1/chat/completions".to_owned();
        let profile = Profile::named("generic").expect("a profile");
        let model = Model::Chat(Endpoint::new(profile, "m".to_owned(), url, &Settings::default()));
        let pace = Pace { concurrency: 1, requests_per_minute: None, tokens_per_minute: None };
        let sending = Sending { retry: Retry::default(), timeouts: Timeouts::default(), pace };
        let client = Client::new([&model], sending).expect("a client");
        let endpoint = model.as_endpoint().expect("one");
        let failure = client.listing(endpoint).await.expect_err("nobody is there");
        assert!(failure.to_string().starts_with("no connection"), "{failure}");
        assert_ne!(client.listing(endpoint).await, Ok(Listing::Unlisted));
    }
}
