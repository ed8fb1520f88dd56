//! The same script on every route: the same summaries and verdicts, and each way to fail in the route's own words.

use std::io::ErrorKind;

use laundromat_mock::{Fault, FaultKind, Form, Mock, Profile, Purpose, Retry, Route, Script, When, draw};
use serde_json::{Value, json};

use crate::client::{Client, PLANT, Reply, STATED, credentials, flat_text, judged, path, user};
use crate::reading::{self, Reading};

/// What the reply of a call says, whether it came as one body or, as on Codex always, as events.
fn reading(route: Route, reply: &Reply) -> Reading {
    assert_eq!(reply.status, 200, "{}: {}", route.name(), String::from_utf8_lossy(&reply.body));
    match reply.header("content-type") {
        Some("text/event-stream") => {
            let whole = reading::whole(route, &reply.body).unwrap_or_else(|| panic!("{} has no end", route.name()));
            reading::read(route, &whole)
        }
        kind => {
            assert_eq!(kind, Some("application/json"));
            reading::read(route, &reply.json())
        }
    }
}

fn start(script: Script) -> (Mock, Client) {
    let mock = Mock::start(script).unwrap();
    let client = Client::new(mock.port());
    (mock, client)
}

fn failing(kind: FaultKind) -> Script {
    Script::default().fault(Fault::new(kind, When::Probability(1.0)).hang_ms(0))
}

#[test]
fn a_key_is_laundered_on_every_route_or_on_none() {
    let script = Script::default().seed(7).launder(Form::FlatSplit, 0.5);
    for route in Route::ALL {
        let (mock, mut client) = start(script.clone());
        for key in (0..16).map(|key| format!("key-{key}")) {
            let reply = client.route(*route, &key, &user(*route, Some("Be brief."), &flat_text())).unwrap();
            let said = reading(*route, &reply);
            assert_eq!(said.class, "Complete");
            assert_eq!(said.text.contains(STATED), draw::draw(7, "launder", &key) < 0.5, "{} {key}", route.name());
            assert!(said.text.contains("src/a.rs"));
        }
        let calls = mock.calls();
        assert!(calls.iter().all(|call| call.answered && call.route == Some(*route)));
        assert!(calls.iter().all(|call| (call.purpose, call.form) == (Purpose::Summarize, Some(Form::FlatSplit))));
        assert!(calls.iter().all(|call| call.model.as_deref() == Some("m")));
    }
}

#[test]
fn a_plant_in_a_tool_result_is_no_word_of_the_user_s_though_it_lies_in_a_user_message() {
    let with_result = |route, result: &str, said: &str| match route {
        Route::Anthropic => json!({"model": "m", "max_tokens": 64, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": result},
                {"type": "text", "text": said}]}]}),
        Route::Gemini => json!({"contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": result}}}]},
            {"role": "user", "parts": [{"text": said}]}]}),
        _ => json!({"messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": result}]}},
                {"text": said}]}],
            "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}}),
    };
    for route in [Route::Anthropic, Route::Gemini, Route::Converse] {
        // By default typed turns keep what the user said, and nothing else.
        let (mock, mut client) = start(Script::default());
        let mut stated = |body: &Value| reading(route, &client.route(route, "k", body).unwrap()).text.contains(STATED);
        assert!(!stated(&with_result(route, PLANT, "Summarize.")), "{}", route.name());
        assert!(stated(&with_result(route, "ok", PLANT)), "{}", route.name());
        assert!(mock.calls().iter().all(|call| call.form == Some(Form::Typed)));
    }
}

#[test]
fn the_judge_answers_on_every_route() {
    for route in Route::ALL {
        let (mock, mut client) = start(Script::default());
        for (summary, word) in [(STATED, "USER"), ("nothing of the sort", "ABSENT")] {
            let reply = client.route(*route, word, &user(*route, Some("Grade."), &judged(summary))).unwrap();
            assert_eq!(reading(*route, &reply).text, word, "{}", route.name());
        }
        assert!(mock.calls().iter().all(|call| call.purpose == Purpose::Judge), "{}", route.name());
    }
}

#[test]
fn usage_is_four_characters_to_a_token_in_each_route_s_own_fields() {
    for route in Route::ALL {
        let (_mock, mut client) = start(Script::default().cached(0.5));
        let body = user(*route, Some(&"s".repeat(400)), &"u".repeat(400));
        let said = reading(*route, &client.route(*route, "k", &body).unwrap());
        let output = said.text.chars().count().div_ceil(4) as u64;
        assert_eq!(said.tokens, [200, 100, output, 0], "{}", route.name());
    }
    for (profile, field) in
        [(Profile::DeepSeekThinkingOff, "prompt_cache_hit_tokens"), (Profile::Kimi, "cached_tokens")]
    {
        let (_mock, mut client) = start(Script::default().profile(profile).cached(0.5));
        let reply = client.route(Route::Chat, "k", &user(Route::Chat, None, &"u".repeat(400))).unwrap();
        assert_eq!(reply.json()["usage"][field], 50, "{profile}");
    }
}

/// The class that a kind of failure has by the table, and whether the reply holds the whole text of a summary.
fn expected(kind: FaultKind) -> Option<(&'static str, bool)> {
    match kind {
        FaultKind::Truncated => Some(("Truncated", false)),
        FaultKind::Refused | FaultKind::ContentFilter | FaultKind::FilteredText => Some(("Blocked", false)),
        FaultKind::RefusalText | FaultKind::Empty | FaultKind::ReasoningOnly => Some(("Complete", false)),
        FaultKind::ToolCall => Some(("ToolCall", false)),
        FaultKind::UnknownFinish => Some(("Unknown", true)),
        FaultKind::LateError => Some(("Error", false)),
        _ => None,
    }
}

#[test]
fn every_end_of_a_call_has_its_class_on_every_route() {
    for route in Route::ALL {
        for kind in FaultKind::ALL {
            let Some((class, full)) = expected(*kind) else { continue };
            let (mock, mut client) = start(failing(*kind));
            let reply = client.route(*route, "k", &user(*route, None, &flat_text())).unwrap();
            let place = format!("{} {}", route.name(), kind.name());
            assert_eq!(mock.calls()[0].fault, Some(*kind));
            match (*route, kind) {
                (Route::Azure, FaultKind::ContentFilter) => {
                    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("content_filter")));
                    continue;
                }
                (Route::Converse, FaultKind::LateError) => {
                    assert_eq!((reply.status, reply.header("x-amzn-errortype")), (424, Some("ModelErrorException")));
                    continue;
                }
                _ => {}
            }
            let said = match (*route, kind) {
                // Codex streams, so that the response itself carries what went wrong.
                (Route::Codex, FaultKind::LateError) | (Route::Responses, FaultKind::LateError) => {
                    let body = match route {
                        Route::Codex => reading::whole(*route, &reply.body).unwrap(),
                        _ => reply.json(),
                    };
                    assert_eq!((&body["status"], &body["error"]["code"]), (&json!("failed"), &json!("server_error")));
                    continue;
                }
                _ => reading(*route, &reply),
            };
            assert_eq!(said.class, class, "{place}");
            assert_eq!(said.text.contains("## Open"), full, "{place}");
            let blank = matches!(kind, FaultKind::Empty | FaultKind::ReasoningOnly | FaultKind::ToolCall);
            assert_eq!(said.text.is_empty(), blank || text_is_gone(*route, *kind), "{place}");
            let reasoned = *kind == FaultKind::ReasoningOnly && *route != Route::Converse;
            assert_eq!(said.tokens[3] > 0, reasoned, "{place}");
        }
    }
}

/// Where nothing is said besides the finish. A guardrail of Bedrock has words of its own.
fn text_is_gone(route: Route, kind: FaultKind) -> bool {
    match kind {
        FaultKind::Refused => route != Route::Converse,
        FaultKind::ContentFilter | FaultKind::LateError => true,
        _ => false,
    }
}

/// Status, and what the route's envelope says of the kind of trouble.
fn trouble(route: Route, reply: &Reply) -> (u16, String) {
    let body = reply.json();
    let word = match route {
        Route::Chat | Route::Azure | Route::Responses | Route::Codex => {
            [&body["error"]["code"], &body["error"]["type"], &body["detail"]].into_iter().find_map(Value::as_str)
        }
        Route::Anthropic => body["error"]["type"].as_str(),
        Route::Gemini => body["error"]["status"].as_str(),
        Route::Converse => reply.header("x-amzn-errortype"),
    };
    (reply.status, word.unwrap_or_default().to_owned())
}

#[test]
fn every_failure_has_the_route_s_own_status_and_envelope() {
    let openai = |kind| match kind {
        FaultKind::RateLimit => (429, "rate_limit_exceeded"),
        FaultKind::Quota => (429, "insufficient_quota"),
        FaultKind::ServerError => (500, "server_error"),
        FaultKind::Overloaded => (503, "server_error"),
        FaultKind::Timeout => (504, "server_error"),
        FaultKind::TooLarge => (413, "invalid_request_error"),
        _ => (400, "context_length_exceeded"),
    };
    let expected = |route, kind| match (route, kind) {
        (Route::Codex, FaultKind::Quota) => (429, "usage_limit_reached"),
        (Route::Codex, FaultKind::ContextOverflow) => {
            (400, "Your input exceeds the context window of this model. Please adjust your input and try again.")
        }
        (Route::Chat | Route::Azure | Route::Responses | Route::Codex, kind) => openai(kind),
        (Route::Anthropic, FaultKind::RateLimit | FaultKind::Quota) => (429, "rate_limit_error"),
        (Route::Anthropic, FaultKind::ServerError) => (500, "api_error"),
        (Route::Anthropic, FaultKind::Overloaded) => (529, "overloaded_error"),
        (Route::Anthropic, FaultKind::Timeout) => (504, "timeout_error"),
        (Route::Anthropic, FaultKind::TooLarge) => (413, "request_too_large"),
        (Route::Anthropic, _) => (400, "invalid_request_error"),
        (Route::Gemini, FaultKind::RateLimit | FaultKind::Quota) => (429, "RESOURCE_EXHAUSTED"),
        (Route::Gemini, FaultKind::ServerError) => (500, "INTERNAL"),
        (Route::Gemini, FaultKind::Overloaded) => (503, "UNAVAILABLE"),
        (Route::Gemini, FaultKind::Timeout) => (504, "DEADLINE_EXCEEDED"),
        (Route::Gemini, _) => (400, "INVALID_ARGUMENT"),
        (Route::Converse, FaultKind::RateLimit) => (429, "ThrottlingException"),
        (Route::Converse, FaultKind::Quota) => (400, "ServiceQuotaExceededException"),
        (Route::Converse, FaultKind::ServerError) => (500, "InternalServerException"),
        (Route::Converse, FaultKind::Overloaded) => (503, "ServiceUnavailableException"),
        (Route::Converse, FaultKind::Timeout) => (408, "ModelTimeoutException"),
        (Route::Converse, FaultKind::TooLarge) => (413, "RequestEntityTooLargeException"),
        (Route::Converse, _) => (400, "ValidationException"),
    };
    let kinds = [
        FaultKind::RateLimit,
        FaultKind::Quota,
        FaultKind::ServerError,
        FaultKind::Overloaded,
        FaultKind::Timeout,
        FaultKind::TooLarge,
        FaultKind::ContextOverflow,
    ];
    for route in Route::ALL {
        for kind in kinds {
            let (_mock, mut client) = start(failing(kind));
            let reply = client.route(*route, "k", &user(*route, None, &flat_text())).unwrap();
            let (status, word) = expected(*route, kind);
            assert_eq!(trouble(*route, &reply), (status, word.to_owned()), "{} {}", route.name(), kind.name());
        }
        for kind in [FaultKind::Drop, FaultKind::DropMidBody, FaultKind::Hang] {
            let (_mock, mut client) = start(failing(kind));
            let error = client.route(*route, "k", &user(*route, None, &flat_text())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{} {}", route.name(), kind.name());
        }
    }
}

#[test]
fn a_quota_is_told_apart_from_a_rate_by_what_the_body_says() {
    let quota = |route| {
        let (_mock, mut client) = start(failing(FaultKind::Quota));
        client.route(route, "k", &user(route, None, "x")).unwrap()
    };
    let anthropic = quota(Route::Anthropic);
    assert_eq!(anthropic.json()["error"]["details"]["error_code"], "enforced_spend_limit_reached");
    assert_eq!((anthropic.header("x-should-retry"), anthropic.header("retry-after")), (Some("false"), None));
    let violation = quota(Route::Gemini).json()["error"]["details"][0]["violations"][0]["quotaId"].to_string();
    assert!(violation.contains("PerDay"), "{violation}");
    assert_eq!(quota(Route::Codex).json()["error"]["resets_in_seconds"], 5400);
}

#[test]
fn a_delay_stands_where_the_route_has_a_place_for_it() {
    let limited = |route, retry| {
        let fault = Fault::new(FaultKind::RateLimit, When::Probability(1.0)).retry(retry);
        let (_mock, mut client) = start(Script::default().fault(fault));
        client.route(route, "k", &user(route, None, "x")).unwrap()
    };
    for route in Route::ALL {
        let reply = limited(*route, Retry::Millis(50));
        if *route == Route::Gemini {
            let info = &reply.json()["error"]["details"][1];
            assert_eq!(info["@type"], "type.googleapis.com/google.rpc.RetryInfo");
            assert_eq!((&info["retryDelay"], reply.header("retry-after-ms")), (&json!("0.050s"), None));
        } else {
            assert_eq!(reply.header("retry-after-ms"), Some("50"), "{}", route.name());
        }
        let worded = String::from_utf8(limited(*route, Retry::Text(1500)).body).unwrap();
        assert!(worded.contains("try again in 1.500s"), "{worded}");
        assert!(limited(*route, Retry::Date(5)).header("retry-after").is_some(), "{}", route.name());
    }
}

#[test]
fn what_is_too_long_is_refused_in_the_words_of_the_route() {
    for (route, profile, words) in [
        (Route::Chat, Profile::OpenAi, "maximum context length is 9 tokens"),
        (Route::Chat, Profile::LlamaCpp, "exceeds the available context size"),
        (Route::Chat, Profile::Kimi, "exceeded model token limit"),
        (Route::Responses, Profile::OpenAi, "exceeds the context window"),
        (Route::Codex, Profile::OpenAi, "exceeds the context window"),
        (Route::Anthropic, Profile::OpenAi, "prompt is too long: 10"),
        (Route::Gemini, Profile::OpenAi, "exceeds the maximum number of tokens"),
        (Route::Converse, Profile::OpenAi, "Input is too long for requested model."),
    ] {
        let (mock, mut client) = start(Script::default().profile(profile).context_tokens(9));
        let reply = client.route(route, "k", &user(route, Some("s"), &"x".repeat(399))).unwrap();
        let body = String::from_utf8(reply.body).unwrap();
        assert!(reply.status == 400 && body.contains(words), "{body}");
        assert_eq!(mock.calls()[0].rule.as_deref(), Some("context_length_exceeded"));
    }
    // Ollama says nothing, reads what fits, and counts only that.
    let (_mock, mut client) = start(Script::default().profile(Profile::Ollama).context_tokens(9));
    let reply = client.route(Route::Chat, "k", &user(Route::Chat, Some(&"s".repeat(99)), "short")).unwrap();
    assert_eq!((reply.status, &reply.json()["usage"]["prompt_tokens"]), (200, &json!(2)));
}

#[test]
fn models_are_listed_in_the_form_of_whoever_asks() {
    let (mock, mut client) = start(Script::default().models(["m", "n"]));
    let mut get = |path: &str, route| client.call("GET", path, &credentials(route), b"").unwrap();
    assert_eq!(get("/v1/models", Route::Chat).json()["data"][1]["object"], "model");
    assert_eq!(get("/v1/models/n", Route::Chat).json()["id"], "n");
    assert_eq!(get("/v1/models/o", Route::Chat).status, 404);
    let anthropic = get("/v1/models", Route::Anthropic).json();
    assert_eq!((&anthropic["data"][0]["type"], &anthropic["last_id"]), (&json!("model"), &json!("n")));
    assert_eq!(get("/v1beta/models", Route::Gemini).json()["models"][0]["name"], "models/m");
    assert_eq!(get("/v1/models/m", Route::Gemini).json()["name"], "models/m");
    let unknown = get("/v1beta/models/o", Route::Gemini);
    assert_eq!((unknown.status, &unknown.json()["error"]["status"]), (404, &json!("NOT_FOUND")));
    assert_eq!(get("/v1beta/models", Route::Azure).status, 403, "a key in a header of another provider's");
    assert!(mock.calls().is_empty());
}

#[test]
fn a_model_that_is_not_there_is_a_404_on_every_route() {
    let (_mock, mut client) = start(Script::default().models(["n"]));
    for route in Route::ALL {
        let reply = client.route(*route, "k", &user(*route, None, "x")).unwrap();
        assert_eq!((reply.status, reply.header("x-mock-rule")), (404, Some("unknown_model")), "{}", route.name());
    }
}

#[test]
fn azure_wants_its_version_and_every_route_its_method() {
    let (mock, mut client) = start(Script::default());
    let mut headers = credentials(Route::Azure);
    headers.push(("content-type", "application/json"));
    let body = user(Route::Azure, None, "x").to_string();
    let reply = client.call("POST", "/openai/deployments/m/chat/completions", &headers, body.as_bytes()).unwrap();
    assert_eq!((reply.status, reply.header("x-mock-rule")), (404, Some("api_version")));
    for route in Route::ALL {
        let reply = client.call("GET", path(*route), &credentials(*route), b"").unwrap();
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{}", route.name());
    }
    assert_eq!(mock.root_url() + "/v1", mock.base_url());
}
