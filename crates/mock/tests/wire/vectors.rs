//! The wire vectors: what must be refused, how, and what must be accepted.

use std::collections::BTreeMap;

use laundromat_mock::rules::check;
use laundromat_mock::{Dialect, Mock, Profile, Route, Script, Version};
use serde_json::Value;

use crate::client::{Client, path};

const NEGATIVE: &str = include_str!("../../../../tests/wire/negative_requests.json");
const ACCEPTED: &[(&str, usize, &str)] = &[
    ("chat_completions", 40, include_str!("../../../../tests/wire/requests_chat_completions.json")),
    ("responses", 12, include_str!("../../../../tests/wire/requests_responses.json")),
    ("anthropic", 16, include_str!("../../../../tests/wire/requests_anthropic.json")),
    ("gemini", 12, include_str!("../../../../tests/wire/requests_gemini.json")),
    ("bedrock_converse", 4, include_str!("../../../../tests/wire/requests_bedrock_converse.json")),
    ("judge", 6, include_str!("../../../../tests/wire/requests_judge.json")),
];

fn read(text: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(text).unwrap()["vectors"].as_array().unwrap().clone()
}

fn route(name: &str, profile: &str) -> Route {
    match (name, profile) {
        ("responses", "codex_backend") => Route::Codex,
        ("chat_completions", _) => Route::Chat,
        ("responses", _) => Route::Responses,
        ("anthropic", _) => Route::Anthropic,
        ("gemini", _) => Route::Gemini,
        ("bedrock_converse", _) => Route::Converse,
        other => panic!("{other:?}"),
    }
}

/// The vector's headers, its placeholders filled in.
fn headers(headers: &Value) -> Vec<(&str, String)> {
    let headers = headers.as_object().unwrap().iter();
    headers
        .map(|(name, value)| {
            let value = value.as_str().unwrap();
            let filled = value.find("${").map_or(value.to_owned(), |at| format!("{}mock-key", &value[..at]));
            (name.as_str(), filled)
        })
        .collect()
}

fn borrowed<'a>(headers: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    headers.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

fn dialect(route: Route, profile: Profile, headers: &[(&str, String)]) -> Dialect {
    let version = headers.iter().find(|(name, _)| *name == "anthropic-version");
    Dialect::new(route, profile).version(version.and_then(|(_, name)| Version::of(name)).unwrap_or_default())
}

#[test]
fn every_negative_vector_is_refused_as_documented() {
    let mut by_profile = BTreeMap::<String, Vec<Value>>::new();
    for vector in read(NEGATIVE) {
        by_profile.entry(vector["profile"].as_str().unwrap().to_owned()).or_default().push(vector);
    }
    let mut refused = 0;
    for (name, vectors) in by_profile {
        let profile: Profile = name.parse().unwrap();
        let mock = Mock::start(Script::default().profile(profile).key("k")).unwrap();
        let mut client = Client::new(mock.port());
        for vector in vectors {
            let (id, expected) = (vector["id"].as_str().unwrap(), &vector["expected"]);
            let route = route(vector["route"].as_str().unwrap(), &name);
            let headers = headers(&vector["headers"]);
            let reply =
                client.call("POST", path(route), &borrowed(&headers), vector["body"].to_string().as_bytes()).unwrap();
            assert_eq!(u64::from(reply.status), expected["status"], "{id}");
            assert_eq!(reply.header("x-mock-rule"), expected["rule"].as_str(), "{id}");
            assert_eq!(reply.json(), expected["error_body"], "{id}");
            // What no header is about is refused by the pure rules as well.
            let about_the_head = ["auth", "version", "account_header"].contains(&expected["rule"].as_str().unwrap());
            let pure = check(&vector["body"], dialect(route, profile, &headers)).err();
            assert_eq!(pure.map(|violation| violation.rule), expected["rule"].as_str().filter(|_| !about_the_head));
            refused += 1;
        }
        assert!(mock.calls().iter().all(|call| call.rule.is_some() && call.answered && call.route.is_some()));
    }
    assert_eq!(refused, 98);
}

#[test]
fn every_request_vector_is_accepted_where_its_url_leads() {
    for (file, count, text) in ACCEPTED {
        let vectors = read(text);
        assert_eq!(vectors.len(), *count, "{file}");
        for vector in vectors {
            let (id, name) = (vector["id"].as_str().unwrap(), vector["profile"].as_str().unwrap());
            let route = route(vector["route"].as_str().unwrap_or(file), name);
            let profile: Profile = name.parse().unwrap();
            let http = &vector["http"];
            let headers = headers(&http["headers"]);
            let body = &vector["expected_body"];
            assert_eq!(check(body, dialect(route, profile, &headers)), Ok(()), "{id}");

            let url = http["url"].as_str().unwrap().replace("${BASE_URL}", "http://mock/v1");
            let (_, rest) = url.split_once("://").unwrap();
            let mock = Mock::start(Script::default().profile(profile)).unwrap();
            let reply = Client::new(mock.port())
                .call("POST", &rest[rest.find('/').unwrap()..], &borrowed(&headers), body.to_string().as_bytes())
                .unwrap();
            assert_eq!(reply.status, 200, "{id}: {}", String::from_utf8_lossy(&reply.body));
            assert_eq!(mock.calls()[0].route, Some(route), "{id}");
        }
    }
}
