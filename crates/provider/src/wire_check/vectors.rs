//! One vector of each kind.

use laundromat_session::{Message, MessageRole};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::options::Options;
use super::transcript;
use super::{Checked, Content, Coverage, Failure, OwnOptions, difference, route_named};
use crate::model::Endpoint;
use crate::profile::{Auth, KeySource, Profile};
use crate::route::Route;
use crate::routes::{Shape, write};
use crate::settings::{Sent, Settings};
use crate::validate;

/// The seed of the wire reference's own requests.
const SEED: u64 = 7;

/// The route that a vector names.
pub(super) fn route_of(vector: &Value) -> Result<Route, String> {
    let name = text(vector, "route")?;
    route_named(name).ok_or_else(|| format!("the route \"{}\" is unknown", name.escape_debug()))
}

/// The transcripts, each against the counts it expects.
pub(super) fn transcripts(file: Option<&Content>) -> Checked {
    let name = "transcripts.json";
    let content = match file {
        None => return Checked::new(name, Coverage::Missing),
        Some(Err(what)) => return Checked::broken(name, what.clone()),
        Some(Ok(content)) => content,
    };
    let Some(all) = content["transcripts"].as_object() else {
        return Checked::broken(name, "there is no table \"transcripts\"".to_owned());
    };
    let mut checked = Checked::new(name, Coverage::Vectors(all.len()));
    if !matches!(content["ids"].as_str(), None | Some("renumber")) {
        let what = format!("ids = {} is not known here; \"renumber\" is", content["ids"]);
        checked.failures.push(Failure { vector: name.to_owned(), what });
    }
    for (id, value) in all {
        let counted = transcript::read(value).and_then(|conversation| {
            let Value::Null = conversation.expected else {
                return equal("report", &conversation.expected, &conversation.report);
            };
            Err("there is no expected_report".to_owned())
        });
        if let Err(what) = counted {
            checked.failures.push(Failure { vector: id.clone(), what });
        }
    }
    checked
}

/// A summarizer's request: body by its options, address and headers by its profile.
pub(super) fn request(
    route: Route,
    vector: &Value,
    transcripts: Option<&Content>,
    own: &mut OwnOptions,
) -> Result<(), String> {
    only(vector, &["id", "transcript", "profile", "options", "http", "expected_body", "note"])?;
    let profile = profile_of(route, vector)?;
    let name = text(vector, "transcript")?;
    let Some(Ok(transcripts)) = transcripts else { return Err("transcripts.json is needed and missing".to_owned()) };
    let transcript = transcripts["transcripts"].get(name);
    let transcript = transcript.ok_or_else(|| format!("there is no transcript \"{}\"", name.escape_debug()))?;
    let conversation = transcript::read(transcript)?;
    let options = Options::read(&vector["options"])?;
    let (policy, fields) = (options.policy(profile), options.fields(route));
    if policy != profile.policy || Sent::new(profile, &options.settings()).fields != fields {
        *own = OwnOptions::Some;
    }
    let shape = Shape { model: &options.model, messages: &conversation.messages, policy: &policy, fields: &fields };
    let body: Value = serde_json::from_slice(&write(route, &shape)).map_err(|error| format!("body: {error}"))?;
    equal("body", &vector["expected_body"], &body)?;
    http(profile, &options.model, &vector["http"], &body)
}

/// A judge's request, with the settings that a judge has on its profile.
pub(super) fn judge(vector: &Value) -> Result<(), String> {
    only(vector, &["id", "route", "profile", "http", "system", "user", "expected_body", "note"])?;
    let profile = profile_of(route_of(vector)?, vector)?;
    let messages = [
        Message::text(MessageRole::System, text(vector, "system")?),
        Message::text(MessageRole::User, text(vector, "user")?),
    ];
    let settings = Settings { seed: Some(SEED), ..Settings::judge(profile) };
    let endpoint = Endpoint::new(profile, "MODEL".to_owned(), String::new(), &settings);
    let body = endpoint.body(&messages).map_err(|broken| format!("the validator refuses it: {broken}"))?;
    let body: Value = serde_json::from_slice(&body.bytes).map_err(|error| format!("body: {error}"))?;
    equal("body", &vector["expected_body"], &body)?;
    http(profile, "MODEL", &vector["http"], &body)
}

/// A request that the validator has to refuse, by the right rule.
pub(super) fn negative(vector: &Value) -> Result<(), String> {
    only(vector, &["id", "route", "profile", "headers", "body", "expected", "lax", "note"])?;
    let profile = profile_of(route_of(vector)?, vector)?;
    let rule = text(&vector["expected"], "rule")?;
    match validate::request(profile, &headers(&vector["headers"])?, &vector["body"]) {
        Err(broken) if broken.rule == rule => Ok(()),
        Err(broken) => Err(format!("refused by {broken}; the rule {rule} is expected")),
        Ok(()) => Err(format!("accepted; the rule {rule} is expected")),
    }
}

/// Method, address and headers of a request, and the validator's word on it.
fn http(profile: &Profile, model: &str, http: &Value, body: &Value) -> Result<(), String> {
    only(http, &["method", "url", "headers"])?;
    equal("method", &http["method"], &json!("POST"))?;
    let base = profile.base_url.as_deref().unwrap_or("${BASE_URL}");
    let url = profile.url(model, Some(base), |name| Some(format!("${{{name}}}"))).map_err(|error| error.to_string())?;
    equal("url", &http["url"], &Value::from(url))?;
    let expected = http["headers"].as_object().ok_or("there are no headers")?;
    // The vector says by its placeholders which variables are set.
    let placeholders: Vec<&str> = expected.values().filter_map(Value::as_str).filter_map(placeholder).collect();
    let own = [KeySource { env: "API_KEY".to_owned(), auth: Auth::Bearer }];
    let keys = if profile.keys.is_empty() { &own[..] } else { &profile.keys };
    let variable = |name: &str| placeholders.iter().copied().find(|known| *known == format!("${{{name}}}"));
    let mut sent = profile.headers(keys, variable);
    sent.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let got: Map<String, Value> = sent
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), Value::from(value.to_str().unwrap_or("?"))))
        .collect();
    equal("headers", &Value::Object(expected.iter().map(named).collect()), &Value::Object(got))?;
    validate::request(profile, &sent, body).map_err(|broken| format!("the validator refuses it: {broken}"))
}

/// A header as the vectors have it, our own name filled in.
fn named((name, value): (&String, &Value)) -> (String, Value) {
    let value = if value == "CLIENT_NAME" { json!("laundromat") } else { value.clone() };
    (name.to_lowercase(), value)
}

/// The `${NAME}` in a text.
fn placeholder(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let end = text[start..].find('}')?;
    Some(&text[start..=start + end])
}

fn headers(value: &Value) -> Result<HeaderMap, String> {
    let fields = value.as_object().ok_or("there are no headers")?;
    fields
        .iter()
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok();
            let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
            name.zip(value).ok_or_else(|| "a header cannot be read".to_owned())
        })
        .collect()
}

fn profile_of(route: Route, vector: &Value) -> Result<&'static Profile, String> {
    let name = text(vector, "profile")?;
    Profile::of_wire(route, name)
        .ok_or_else(|| format!("no profile of the route {route} is known as \"{}\"", name.escape_debug()))
}

fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    <&str>::deserialize(&value[key]).map_err(|_| format!("\"{key}\" is missing or no text"))
}

fn only(value: &Value, known: &[&str]) -> Result<(), String> {
    let fields = value.as_object().ok_or("this is no table")?;
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("the key \"{}\" is unknown; known: {}", key.escape_debug(), known.join(", "))),
        None => Ok(()),
    }
}

fn equal(what: &str, expected: &Value, got: &Value) -> Result<(), String> {
    difference(expected, got).map_or(Ok(()), |difference| Err(format!("{what}: {difference}")))
}
