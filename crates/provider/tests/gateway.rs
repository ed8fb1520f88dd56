//! The gateway over real sockets: one conversation in four shapes is one conversation, and an answer says the
//! same in each.

use laundromat_provider::gateway::{Answer, Declined, Door, Gateway, Reply, Request};
use laundromat_provider::reply::{self, Completion};
use laundromat_provider::{CallFailure, FailureKind, Route};
use laundromat_session::{Message, MessageRole, SentCall};
use serde_json::{Value, json};

/// The smallest typed conversation: its path and body in each shape.
fn shapes() -> [(&'static str, Value); 4] {
    let function = json!({"name": "read_file", "arguments": "{\"a\":1}"});
    [
        (
            "/v1/chat/completions",
            json!({"model": "m", "temperature": 0, "messages": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": [{"type": "text", "text": "U"}]},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "x-9", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "x-9", "content": "R"},
                {"role": "user", "content": "P"}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "instructions": "S", "store": false, "temperature": 0, "input": [
                {"role": "user", "content": "U"},
                {"type": "function_call", "call_id": "x-9", "name": "read_file", "arguments": "{\"a\":1}"},
                {"type": "function_call_output", "call_id": "x-9", "output": "R"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "P"}]}]}),
        ),
        (
            "/v1/messages",
            json!({"model": "m", "system": [{"type": "text", "text": "S"}], "temperature": 0, "messages": [
                {"role": "user", "content": "U"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "x-9", "name": "read_file", "input": {"a": 1}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "x-9", "content": [{"type": "text", "text": "R"}]},
                    {"type": "text", "text": "P"}]}]}),
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({"systemInstruction": {"parts": [{"text": "S"}]}, "temperature": 0, "contents": [
                {"role": "user", "parts": [{"text": "U"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"a": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "R"}}}]},
                {"role": "user", "parts": [{"text": "P"}]}]}),
        ),
    ]
}

fn conversation() -> Vec<Message> {
    let call = SentCall { id: "call00001".to_owned(), name: "read_file".to_owned(), arguments: "{\"a\":1}".to_owned() };
    vec![
        Message::text(MessageRole::System, "S"),
        Message::text(MessageRole::User, "U"),
        Message { calls: vec![call], ..Message::text(MessageRole::Assistant, "") },
        Message::result("call00001", "R"),
        Message::text(MessageRole::User, "P"),
    ]
}

/// A chat reply with this text, finish reason and call.
fn chat_reply(text: &str, finish: &str, calls: &Value) -> Vec<u8> {
    let message = json!({"role": "assistant", "content": text, "tool_calls": calls});
    json!({"model": "served", "choices": [{"message": message, "finish_reason": finish}],
           "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
    .to_string()
    .into_bytes()
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

/// Sends one request while `answer` stands behind the door; the status, the text and what was asked.
async fn ask(
    door: &mut Door,
    path: &str,
    body: &Value,
    answer: impl FnOnce(&Request) -> Reply,
) -> (u16, String, Option<Request>) {
    let request = client().post(format!("{}{path}", door.base_url())).body(body.to_string()).send();
    let sent = async {
        let response = request.await.expect("a response");
        (response.status().as_u16(), response.text().await.expect("text"))
    };
    tokio::pin!(sent);
    tokio::select! {
        (status, text) = &mut sent => (status, text, None),
        Some(asked) = door.next() => {
            let request = asked.request.clone();
            asked.reply(answer(&request));
            let (status, text) = sent.await;
            (status, text, Some(request))
        }
    }
}

fn answered(bytes: Vec<u8>) -> impl FnOnce(&Request) -> Reply {
    move |request| {
        let completion: Completion = reply::stored(Route::ChatCompletions, &bytes).expect("a completion");
        Reply::Answer(Box::new(Answer::new(request, 1, Route::ChatCompletions, &bytes, &completion)))
    }
}

#[tokio::test]
async fn one_conversation_is_the_same_in_every_shape() {
    let gateway = Gateway::start(0).await.expect("a gateway");
    let mut door = gateway.door("m").expect("a door");
    for (path, body) in shapes() {
        let (status, _, request) = ask(&mut door, path, &body, answered(chat_reply("ok", "stop", &Value::Null))).await;
        let request = request.expect("it arrives");
        assert_eq!(status, 200, "{path}");
        assert_eq!(request.messages, conversation(), "{path}");
        assert_eq!((request.model.as_str(), request.left_out), ("m", vec!["temperature".to_owned()]), "{path}");
        assert_eq!(request.raw, body.to_string().into_bytes(), "the body is kept as it came");
    }
}

#[tokio::test]
async fn how_a_reply_ended_stays_what_it_is_in_every_shape() {
    let gateway = Gateway::start(0).await.expect("a gateway");
    let mut door = gateway.door("m").expect("a door");
    let call = json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    // Finish reason, then what each shape says: chat, responses, anthropic, gemini.
    let cases = [
        ("stop", ["stop", "completed", "end_turn", "STOP"]),
        ("length", ["length", "max_output_tokens", "max_tokens", "MAX_TOKENS"]),
        ("content_filter", ["content_filter", "content_filter", "refusal", "SAFETY"]),
        ("tool_calls", ["tool_calls", "function_call", "tool_use", "functionCall"]),
        ("not known", ["not known", "unknown", "null", "FINISH_REASON_UNSPECIFIED"]),
    ];
    for (finish, words) in cases {
        let calls = if finish == "tool_calls" { call.clone() } else { Value::Null };
        for ((path, body), word) in shapes().into_iter().zip(words) {
            let bytes = chat_reply("the text", finish, &calls);
            let (_, text, _) = ask(&mut door, path, &body, answered(bytes)).await;
            let reply: Value = serde_json::from_str(&text).expect("JSON");
            let (said, ended) = match path {
                "/v1/chat/completions" => {
                    (&reply["choices"][0]["message"]["content"], &reply["choices"][0]["finish_reason"])
                }
                "/v1/responses" if finish == "stop" => (&reply["output"][0]["content"][0]["text"], &reply["status"]),
                "/v1/responses" if finish == "tool_calls" => {
                    (&reply["output"][0]["content"][0]["text"], &reply["output"][1]["type"])
                }
                "/v1/responses" => (&reply["output"][0]["content"][0]["text"], &reply["incomplete_details"]["reason"]),
                "/v1/messages" => (&reply["content"][0]["text"], &reply["stop_reason"]),
                _ => (&reply["candidates"][0]["content"]["parts"][0]["text"], &reply["candidates"][0]["finishReason"]),
            };
            assert_eq!(said, "the text", "{path} {finish}");
            match word {
                "null" => assert!(ended.is_null(), "{path} {finish}: {ended}"),
                "functionCall" => assert_eq!(reply["candidates"][0]["content"]["parts"][1][word]["name"], "f"),
                word => assert_eq!(ended, word, "{path} {finish}"),
            }
        }
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_end_marker_and_holds_the_text() {
    let gateway = Gateway::start(0).await.expect("a gateway");
    let mut door = gateway.door("m").expect("a door");
    let ends = ["data: [DONE]\n\n", "event: response.completed\n", "event: message_stop\n", "\"STOP\""];
    for ((path, mut body), end) in shapes().into_iter().zip(ends) {
        let path = if path.contains("models") {
            "/v1beta/models/m:streamGenerateContent?alt=sse".to_owned()
        } else {
            body["stream"] = json!(true);
            path.to_owned()
        };
        let bytes = chat_reply("line one\nline two", "stop", &Value::Null);
        let (status, text, _) = ask(&mut door, &path, &body, answered(bytes)).await;
        assert_eq!(status, 200);
        assert!(text.contains(r"line one\nline two"), "{path}: {text}");
        assert!(text.rfind(end).is_some_and(|at| text[at..].matches("\n\n").count() == 1), "{path}: {text}");
        for line in text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|line| *line != "[DONE]") {
            serde_json::from_str::<Value>(line).expect("an event is JSON on one line");
        }
    }
}

#[tokio::test]
async fn failures_and_malformed_requests_come_in_the_clients_shape() {
    let gateway = Gateway::start(0).await.expect("a gateway");
    let mut door = gateway.door("m").expect("a door");
    for (path, body) in shapes() {
        let failure =
            CallFailure { status: Some(400), ..CallFailure::new(FailureKind::ContextOverflow, "prompt is too long") };
        let declined = move |_: &Request| Reply::Declined(Declined::from(&failure));
        let (status, text, _) = ask(&mut door, path, &body, declined).await;
        let error: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(status, 400);
        assert_eq!(error["error"]["message"], "prompt is too long", "{path}: {text}");

        for junk in [json!([]), json!({}), json!({"messages": [{"role": "wizard", "content": "x"}], "contents": 1})] {
            let none = |_: &Request| Reply::Declined(Declined::unavailable("not reached"));
            let (status, text, request) = ask(&mut door, path, &junk, none).await;
            assert_eq!((status, request), (400, None), "{path}: {text}");
        }
    }
}

#[tokio::test]
async fn nobody_gets_in_without_an_open_door() {
    let gateway = Gateway::start(0).await.expect("a gateway");
    let door = gateway.door("the-model").expect("a door");
    let base = door.base_url().to_owned();
    let get = |url: String, host: Option<&'static str>| async move {
        let mut request = client().get(url);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let response = request.send().await.expect("a response");
        (response.status().as_u16(), response.text().await.expect("text"))
    };
    let (status, text) = get(format!("{base}/v1/models"), None).await;
    assert!(status == 200 && text.contains("\"id\":\"the-model\""), "{text}");
    let root = base.rsplit_once('/').expect("a token").0.to_owned();
    assert_eq!(get(format!("{root}/lt00/v1/models"), None).await.0, 401);
    assert_eq!(get(root.replace("/t", "/v1/models"), None).await.0, 401);
    assert_eq!(get(format!("{base}/v1/models"), Some("evil.example")).await.0, 403);
    assert_eq!(get(format!("{base}/v1/files"), None).await.0, 404);
    drop(door);
    assert_eq!(get(format!("{base}/v1/models"), None).await.0, 401, "a closed door's token is worth nothing");
}
