//! Every vector of the wire reference: requests, requests that have to be refused, replies, streams.

use std::path::PathBuf;

use laundromat_provider::wire_check::{Coverage, check};

#[test]
fn every_vector_passes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/wire");
    let files = check(|name| std::fs::read_to_string(folder.join(name))).expect("readable");
    let failures: Vec<String> = files
        .iter()
        .flat_map(|file| file.failures.iter().map(move |it| format!("{} {}: {}", file.file, it.vector, it.what)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // What a profile alone makes of a request is what the vector's options make of it.
    let own: Vec<&String> = files.iter().flat_map(|file| &file.own_options).collect();
    assert!(own.is_empty(), "{own:?}");
    let checked: Vec<(&str, usize)> = files.iter().map(|file| (file.file.as_str(), file.coverage.vectors())).collect();
    assert_eq!(
        checked,
        [
            ("transcripts.json", 4),
            ("requests_chat_completions.json", 40),
            ("requests_responses.json", 12),
            ("requests_anthropic.json", 16),
            ("requests_gemini.json", 12),
            ("requests_bedrock_converse.json", 4),
            ("requests_judge.json", 6),
            ("negative_requests.json", 98),
            ("responses_chat_completions.json", 36),
            ("responses_responses.json", 18),
            ("responses_anthropic.json", 19),
            ("responses_gemini.json", 19),
            ("responses_bedrock_converse.json", 8),
            ("streams.json", 21),
        ]
    );
}

#[test]
fn what_differs_or_is_missing_is_named() {
    let transcripts = r#"{"transcripts": {"a": {"system": "s", "turns": [{"role": "user", "text": "u"}], "pointer": "p",
        "expected_report": {}}}}"#;
    let requests = r#"{"vectors": [
        {"id": "x", "profile": "nobody", "transcript": "a"},
        {"id": "y", "profile": "openai", "transcript": "a", "options": {"tempreature": 1}},
        {"id": "z", "profile": "openai", "transcript": "a", "options": {}, "expected_body": {"model": "OTHER"}}
    ]}"#;
    let replies = r#"{"vectors": [{"id": "r", "http_status": 429, "headers": {"retry-after": "2"},
        "body": {"error": {"message": "slow"}}, "expected": {"class": "Error", "reason_raw": null, "text": "", "empty": true,
        "refusal": null, "accept_summary": false, "usage": null,
        "error": {"kind": "rate_limit", "retryable": true, "retry_after_ms": 3000}}}]}"#;
    let streams = r#"{"vectors": [
        {"id": "cut", "route": "chat_completions", "sse": "", "terminal": true, "expected": {}},
        {"id": "palm", "route": "palm", "sse": "", "terminal": true, "expected": {}}
    ]}"#;
    let read = |name: &str| match name {
        "transcripts.json" => Ok(transcripts.to_owned()),
        "requests_chat_completions.json" => Ok(requests.to_owned()),
        "requests_gemini.json" => Ok("{".to_owned()),
        "responses_chat_completions.json" => Ok(replies.to_owned()),
        "streams.json" => Ok(streams.to_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let files = check(read).expect("readable");
    let said = |file: &str| -> Vec<&str> {
        let checked = files.iter().find(|it| it.file == file).expect("a file");
        checked.failures.iter().map(|failure| failure.what.as_str()).collect()
    };
    assert!(said("transcripts.json")[0].starts_with("report: "), "{:?}", said("transcripts.json"));
    let chat = said("requests_chat_completions.json");
    assert_eq!(chat[0], "no profile of the route chat-completions is known as \"nobody\"");
    assert!(chat[1].contains("unknown field `tempreature`"), "{chat:?}");
    assert!(chat[2].starts_with("body: messages = "), "{chat:?}");
    assert!(said("requests_gemini.json")[0].starts_with("not JSON: "));
    assert_eq!(said("responses_chat_completions.json"), ["error.retry_after_ms is 2000, 3000 is expected"]);
    let streams = said("streams.json");
    assert_eq!(streams[0], "terminal is false, true is expected");
    assert!(streams[1].contains("palm"), "{streams:?}");
    let missing = files.iter().filter(|file| file.coverage == Coverage::Missing).count();
    assert_eq!(missing, 9, "{files:?}");
}
