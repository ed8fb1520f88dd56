//! `laundromat gateway` alone: an agent is pointed at it, and what it asks is kept and shown.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use common::paid::{KEY, mock, script};
use common::repo;
use laundromat_mock::Bodies;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// One request by hand; the whole response.
fn post(base: &str, path: &str, body: &str) -> String {
    let (host, token) = base.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a base URL");
    let mut stream = TcpStream::connect(host).expect("a connection");
    let head = format!("POST /{token}{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

#[test]
fn what_an_agent_asks_is_kept_with_the_plants_place_and_role() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("captured");
    let mut child = Command::new(env!("CARGO_BIN_EXE_laundromat"))
        .args(["gateway", "--plant", "standing-approval", "--session"])
        .arg(repo("sessions/fix-region-rollup-test.json"))
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut value = |name: &str| {
        let line = lines.by_ref().map(|line| line.expect("text")).find(|line| line.starts_with(name));
        line.expect("a line").rsplit(' ').next().expect("a value").to_owned()
    };
    let base = value("base URL");
    assert!(base.starts_with("http://127.0.0.1:"), "{base}");

    // The planted messages as an agent would send them on, typed and then flattened.
    let messages = fs::read_to_string(out.join("planted-messages.json")).expect("the planted session");
    let reply = post(&base, "/v1/chat/completions", &format!("{{\"model\": \"m\", \"messages\": {messages}}}"));
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"finish_reason\":\"stop\""), "{reply}");
    let flat = serde_json::json!({"max_tokens": 9, "messages": [{"role": "user", "content": messages}]});
    assert!(post(&base, "/v1/messages", &flat.to_string()).contains("\"stop_reason\":\"end_turn\""));
    let bare = serde_json::json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    assert!(post(&base, "/v1beta/models/m:generateContent", &bare.to_string()).contains("\"finishReason\":\"STOP\""));
    assert!(post(&base, "/v1/responses", "{").starts_with("HTTP/1.1 400"));
    assert!(post(&base[..base.len() - 4], "/v1/responses", "{}").starts_with("HTTP/1.1 401"));

    let mut shown = || {
        let mut requests = lines.by_ref().map(|line| line.expect("text")).filter(|line| line.contains("request-"));
        requests.next().expect("a line")
    };
    let typed = shown();
    assert!(typed.contains("request-0001.json: chat-completions") && typed.ends_with("role tool"), "{typed}");
    let flat = shown();
    assert!(flat.contains("anthropic, 1 messages") && flat.ends_with("full, message 1 of 1, role user"), "{flat}");
    let bare = shown();
    assert!(bare.contains("gemini") && bare.ends_with("the plant is not in it"), "{bare}");
    let kept: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("request-0002.json")).expect("a file")).expect("JSON");
    assert_eq!((&kept["exposure"], &kept["role"]), (&"full".into(), &"user".into()));
    assert_eq!(kept["left_out"][0], "max_tokens");

    kill(Pid::from_raw(i32::try_from(child.id()).expect("a pid")), Signal::SIGINT).expect("a signal");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

/// A name with a slash stands in Gemini's path as it is or encoded, and a server without an experiment answers.
#[test]
fn a_server_named_by_its_address_answers_within_the_clients_bound() {
    let mock = mock(script().bodies(Bodies::Keep));
    let temp = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_laundromat"))
        .env("LAUNDROMAT_TEST_KEY", KEY)
        .args(["gateway", "--model", "vendor/some-model", "--key-env", "LAUNDROMAT_TEST_KEY", "--to"])
        .arg(mock.base_url())
        .arg("--out")
        .arg(temp.path().join("captured"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let base = lines.by_ref().map(|line| line.expect("text")).find(|line| line.starts_with("base URL"));
    let base = base.expect("a line").rsplit(' ').next().expect("a value").to_owned();
    let body = serde_json::json!({
        "contents": [{"role": "user", "parts": [{"text": "Summarize: [USER]: hello"}]}],
        "generationConfig": {"maxOutputTokens": 77, "temperature": 0},
    });
    for name in ["vendor/some-model", "vendor%2Fsome-model"] {
        let reply = post(&base, &format!("/v1beta/models/{name}:generateContent"), &body.to_string());
        assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("\"finishReason\":\"STOP\""), "{reply}");
    }
    for number in ["0001", "0002"] {
        let path = temp.path().join(format!("captured/request-{number}.json"));
        let kept: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
        assert_eq!((&kept["model"], &kept["max_tokens"]), (&"vendor/some-model".into(), &77.into()));
        assert_eq!(kept["left_out"], serde_json::json!(["generationConfig.temperature"]));
    }
    for call in mock.calls() {
        let body: serde_json::Value = serde_json::from_slice(&call.body.expect("a body")).expect("JSON");
        assert_eq!((&body["model"], &body["max_tokens"]), (&"vendor/some-model".into(), &77.into()));
    }
    kill(Pid::from_raw(i32::try_from(child.id()).expect("a pid")), Signal::SIGINT).expect("a signal");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn faults_of_the_arguments_are_told() {
    let told = |arguments: &[&str]| {
        let output = common::laundromat().arg("gateway").args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let session = repo("sessions/fix-region-rollup-test.json").display().to_string();
    assert!(told(&["--plant", "x"]).contains("--session"));
    assert!(
        told(&["--session", &session, "--plant", "standing-aproval"]).contains("did you mean \"standing-approval\"?")
    );
    let quickstart = repo("scenarios/quickstart.toml").display().to_string();
    assert!(told(&["--to", "http://h/v1"]).contains("--model"));
    assert!(told(&["--model", "m", "--to", "localhost"]).contains("gateway: --to: this is not the base"));
    assert!(told(&["--model", "m"]).contains("unknown model \"m\""));
    assert!(told(&["--model", "m", "--profile", "mistrl"]).contains("did you mean \"mistral\"?"));
    // Nothing would hold a budget here, so an experiment that wants one is refused.
    let temp = tempfile::tempdir().expect("a folder");
    let capped = temp.path().join("capped.toml");
    let text = fs::read_to_string(&quickstart).expect("the scenario");
    fs::write(&capped, format!("{text}\n[budget]\nmax-calls = 0\n")).expect("written");
    assert!(told(&["--experiment", &capped.display().to_string()]).contains("a gateway keeps no budget"));
    assert!(told(&["--experiment", &quickstart, "--summarizer", "x"]).contains("there is no summarizer \"x\""));
}
