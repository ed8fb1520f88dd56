//! `laundromat-exec/1`: one JSON object to a program's standard input, one from its standard output.

use laundromat_session::{Role, Session, canonical};
use serde_json::{Map, Value, json};

/// What `protocol` says.
pub const PROTOCOL: &str = "laundromat-exec/1";
/// Settings that laundromat tells every program; an arm's own stand beside them.
pub const OUR_SETTINGS: &[&str] = &["model", "date", "session"];

/// The session as OpenAI chat messages: what laundromat knows beyond chat is not in them, and notices that
/// nobody spoke are left out.
pub fn messages(session: &Session) -> Vec<Value> {
    let spoken = session.turns.iter().filter(|turn| !matches!(turn.role, Role::Marker(_)));
    spoken
        .map(|turn| {
            let mut message = json!(canonical::MessageFile { laundromat: None, ..canonical::message(turn) });
            if let Some(message) = message.as_object_mut() {
                // Chat has no assistant message that makes an empty list of calls.
                let no_calls = message.get("tool_calls").and_then(Value::as_array).is_some_and(Vec::is_empty);
                if no_calls {
                    message.remove("tool_calls");
                }
                message.remove("laundromat");
            }
            message
        })
        .collect()
}

/// What goes to standard input.
pub(super) fn input(session: &Session, model: &str, date: &str, settings: &Map<String, Value>) -> Vec<u8> {
    let mut all = Map::new();
    for (name, value) in OUR_SETTINGS.iter().zip([model, date, session.id.as_str()]) {
        all.insert((*name).to_owned(), Value::from(value));
    }
    all.extend(settings.clone());
    json!({"protocol": PROTOCOL, "messages": messages(session), "settings": all}).to_string().into_bytes()
}

/// What came from standard output.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Output {
    /// The context that the agent would go on with; `None` where the program gave none.
    pub(super) context: Option<Vec<Value>>,
    /// What else the program has to say; empty for nothing.
    pub(super) notes: Map<String, Value>,
}

/// Reads standard output. What is wrong with it is a lower-case fragment.
pub(super) fn output(bytes: &[u8]) -> Result<Output, String> {
    if bytes.trim_ascii().is_empty() {
        return Err("standard output is empty; one JSON object is needed".to_owned());
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("standard output is not one JSON object: {error}"))?;
    let Value::Object(mut object) = value else {
        return Err("standard output is JSON, but no object".to_owned());
    };
    let context = match object.remove("context") {
        None | Some(Value::Null) => None,
        Some(Value::Array(messages)) => Some(messages),
        Some(_) => return Err("\"context\" is not a list of messages".to_owned()),
    };
    for (index, message) in context.iter().flatten().enumerate() {
        if message.get("role").and_then(Value::as_str).is_none() {
            return Err(format!("context[{index}] has no role; each message is one of OpenAI chat"));
        }
    }
    let notes = match object.remove("notes") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(notes)) => notes,
        Some(_) => return Err("\"notes\" is not an object".to_owned()),
    };
    Ok(Output { context, notes })
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Role, Session, Turn};
    use serde_json::{Map, Value, json};

    use super::{input, output};

    #[test]
    fn a_program_is_told_the_session_as_chat_and_nothing_else() {
        let note = Turn { synthetic: Some("harness".to_owned()), ..Turn::text_of(Role::User, "note") };
        let turns = vec![Turn::text_of(Role::User, "hi"), Turn::text_of(Role::Marker("cut".to_owned()), ""), note];
        let session = Session { id: "s".to_owned(), title: Some("t".to_owned()), origin: None, turns };
        let settings = Map::from_iter([("keep".to_owned(), json!(2))]);
        let told: Value = serde_json::from_slice(&input(&session, "m", "2026-03-04", &settings)).expect("JSON");
        let expected = json!({
            "protocol": "laundromat-exec/1",
            "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": "note"}],
            "settings": {"model": "m", "date": "2026-03-04", "session": "s", "keep": 2},
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn junk_is_told_apart() {
        for (bytes, told) in [
            ("", "is empty"),
            ("done\n", "not one JSON object"),
            ("{} {}", "not one JSON object"),
            ("[]", "no object"),
            ("{\"context\": 1}", "\"context\" is not a list"),
            ("{\"context\": [{}]}", "context[0] has no role"),
            ("{\"notes\": []}", "\"notes\" is not an object"),
        ] {
            let error = output(bytes.as_bytes()).expect_err(bytes);
            assert!(error.contains(told), "{bytes}: {error}");
        }
        assert_eq!(output(b"{\"context\": null, \"more\": 1}\n").expect("an output").context, None);
    }
}
