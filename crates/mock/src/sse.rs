//! Server-sent events, whole and spoiled.

use serde_json::Value;

/// The end of a chat stream.
const DONE: &str = "[DONE]";
/// The longest piece of text in one event.
const PIECE: usize = 64;

/// A stream as it is sent.
#[derive(Debug, Default)]
pub(crate) struct Events(Vec<Event>);

#[derive(Debug)]
struct Event {
    name: Option<String>,
    data: String,
}

impl Events {
    /// An event without a name.
    pub(crate) fn data(&mut self, data: &Value) {
        self.0.push(Event { name: None, data: data.to_string() });
    }

    /// An event that is named by its `type`.
    pub(crate) fn named(&mut self, data: &Value) {
        let name = data.get("type").and_then(Value::as_str).map(str::to_owned);
        self.0.push(Event { name, data: data.to_string() });
    }

    /// The end marker of chat streams.
    pub(crate) fn done(&mut self) {
        self.0.push(Event { name: None, data: DONE.to_owned() });
    }

    /// Makes the data of the first event no JSON.
    pub(crate) fn spoil(&mut self) {
        if let Some(first) = self.0.first_mut() {
            first.data.truncate(first.data.floor_char_boundary(first.data.len() / 2));
        }
    }

    /// Leaves out the second half, and with it what says that the stream is whole.
    pub(crate) fn end_early(&mut self) {
        self.0.truncate(self.0.len() / 2);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for event in &self.0 {
            if let Some(name) = &event.name {
                text.push_str("event: ");
                text.push_str(name);
                text.push('\n');
            }
            text.push_str("data: ");
            text.push_str(&event.data);
            text.push_str("\n\n");
        }
        text.into_bytes()
    }
}

/// A text in the pieces in which it is streamed.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Events, pieces};

    fn three() -> Events {
        let mut events = Events::default();
        events.named(&json!({"type": "begin"}));
        events.data(&json!({"text": "ü"}));
        events.done();
        events
    }

    #[test]
    fn events_are_written_with_their_names() {
        let text = String::from_utf8(three().bytes()).unwrap();
        assert_eq!(text, "event: begin\ndata: {\"type\":\"begin\"}\n\ndata: {\"text\":\"ü\"}\n\ndata: [DONE]\n\n");
    }

    #[test]
    fn a_stream_can_be_spoiled_or_end_too_soon() {
        let mut spoiled = three();
        spoiled.spoil();
        assert!(String::from_utf8(spoiled.bytes()).unwrap().starts_with("event: begin\ndata: {\"type\":\n\n"));
        let mut early = three();
        early.end_early();
        assert_eq!(early.bytes(), b"event: begin\ndata: {\"type\":\"begin\"}\n\n");
    }

    #[test]
    fn pieces_are_the_text() {
        let text = "aü€".repeat(50);
        assert!(pieces(&text).count() > 4);
        assert_eq!(pieces(&text).collect::<String>(), text);
        assert_eq!(pieces("").count(), 0);
    }
}
