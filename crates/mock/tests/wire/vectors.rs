//! The wire vectors: what must be refused, how, and what must be accepted.

use std::collections::BTreeMap;

use laundromat_mock::rules::check;
use laundromat_mock::{Mock, Profile, Script};
use serde_json::Value;

use crate::client::{CHAT, Client};

const NEGATIVE: &str = include_str!("../data/negative_requests.json");
const ACCEPTED: &str = include_str!("../data/requests_chat_completions.json");

/// The chat vectors of a file, by profile.
fn vectors(text: &str) -> BTreeMap<String, Vec<Value>> {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut by_profile = BTreeMap::<String, Vec<Value>>::new();
    for vector in file["vectors"].as_array().unwrap() {
        if vector["id"].as_str().unwrap().starts_with("chat_completions/") {
            let profile = vector["profile"].as_str().unwrap().replace('_', "-");
            by_profile.entry(profile).or_default().push(vector.clone());
        }
    }
    by_profile
}

#[test]
fn every_negative_vector_is_refused_as_documented() {
    let mut refused = 0;
    for (profile, vectors) in vectors(NEGATIVE) {
        let mock = Mock::start(Script::default().profile(profile.parse().unwrap()).key("k")).unwrap();
        let mut client = Client::new(mock.port());
        for vector in vectors {
            let id = vector["id"].as_str().unwrap();
            let headers = vector["headers"].as_object().unwrap();
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
            let reply = client.call("POST", CHAT, &headers, vector["body"].to_string().as_bytes()).unwrap();
            let expected = &vector["expected"];
            assert_eq!(u64::from(reply.status), expected["status"], "{id}");
            assert_eq!(reply.header("x-mock-rule"), expected["rule"].as_str(), "{id}");
            assert_eq!(reply.json(), expected["error_body"], "{id}");
            refused += 1;
        }
        assert!(mock.calls().iter().all(|call| call.rule.is_some() && call.answered));
    }
    assert_eq!(refused, 31);
}

#[test]
fn every_request_vector_is_accepted_under_its_profile() {
    let mut accepted = 0;
    for (profile, vectors) in vectors(ACCEPTED) {
        let profile: Profile = profile.parse().unwrap();
        let mock = Mock::start(Script::default().profile(profile)).unwrap();
        let mut client = Client::new(mock.port());
        for vector in vectors {
            let body = &vector["expected_body"];
            assert_eq!(check(body, profile), Ok(()), "{}", vector["id"]);
            let reply = client.chat(vector["id"].as_str().unwrap(), body).unwrap();
            assert_eq!(reply.status, 200, "{}", vector["id"]);
            accepted += 1;
        }
    }
    assert_eq!(accepted, 40);
}
