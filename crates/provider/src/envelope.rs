//! Where an error reply keeps what it says. Every family of servers wraps it in its own way.

use std::borrow::Cow;

use serde_json::Value;

use crate::members::{Members, Object, plain};

/// Longest text that is quoted from a reply.
const LONGEST_QUOTE: usize = 200;

/// The error record of a reply, whichever way it is wrapped; `None` where there is none.
///
/// * `{"error": {message, type, code, ...}}`: OpenAI and who copies it, Anthropic, Google;
/// * the same in a list of one: Google;
/// * `{"error": "text"}`: LM Studio, xAI;
/// * `{"detail": ...}`: the Codex backend, FastAPI servers;
/// * `{message, type, code}`: Mistral, older vLLM, Bedrock.
pub(crate) fn record(body: &Value) -> Option<Cow<'_, Object>> {
    match body {
        Value::Array(list) => list.first()?.as_object().and_then(in_object),
        body => body.as_object().and_then(in_object),
    }
}

/// The error record of a reply that is an object.
pub(crate) fn in_object(body: &Object) -> Option<Cow<'_, Object>> {
    match body.get("error") {
        Some(Value::Object(record)) => return Some(Cow::Borrowed(record)),
        Some(Value::String(text)) => return Some(Cow::Owned(saying(text.clone()))),
        _ => {}
    }
    if let Some(detail) = body.get("detail") {
        return Some(Cow::Owned(saying(plain(detail))));
    }
    if body.contains_key("message") && !body.contains_key("choices") {
        let names = ["message", "type", "code", "param"];
        let members = names.iter().filter_map(|name| body.get_key_value(*name));
        return Some(Cow::Owned(members.map(|(name, value)| (name.clone(), value.clone())).collect()));
    }
    None
}

fn saying(message: String) -> Object {
    [("message".to_owned(), Value::String(message))].into_iter().collect()
}

/// What a record says in words.
pub(crate) fn message(record: &Object) -> Option<String> {
    record.said("message").map(plain)
}

/// One line of what a server said, cut.
pub(crate) fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{message, quote, record};

    #[test]
    fn every_envelope_is_opened() {
        for body in [
            json!({"error": {"message": "no"}}),
            json!([{"error": {"message": "no", "status": "X"}}]),
            json!({"error": "no"}),
            json!({"detail": "no"}),
            json!({"message": "no", "type": "x"}),
        ] {
            assert_eq!(record(&body).and_then(|record| message(&record)).as_deref(), Some("no"), "{body}");
        }
        let detail = json!({"detail": [{"loc": ["body"]}]});
        assert_eq!(record(&detail).and_then(|r| message(&r)).as_deref(), Some(r#"[{"loc":["body"]}]"#));
    }

    #[test]
    fn what_is_no_error_has_no_record() {
        for body in [json!([]), json!("no"), json!({}), json!({"error": null}), json!({"error": [1]}), json!(["no"])] {
            assert_eq!(record(&body), None, "{body}");
        }
        assert_eq!(record(&json!({"message": "no", "choices": []})), None);
    }

    #[test]
    fn quotes_are_one_line_and_short() {
        assert_eq!(quote("a\n  b\t c "), "a b c");
        assert_eq!(quote(&"xä".repeat(500)).chars().count(), 201);
        assert_eq!(quote(&"x".repeat(200)).chars().count(), 200);
    }
}
