//! Requests as lines of text: whose message, then what it holds.

use laundromat_compactor::Request;
use laundromat_session::Message;

/// The lines of some requests, one after another.
pub(super) fn requests(requests: &[Request]) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        if requests.len() > 1 {
            lines.push(format!("##### call {} of {}", place + 1, requests.len()));
        }
        for item in &request.messages {
            message(item, &mut lines);
        }
    }
    lines
}

/// A line of a message cannot be taken for a heading: it is indented.
fn message(message: &Message, lines: &mut Vec<String>) {
    let answers = message.call_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    lines.push(format!("=== {}{answers}", message.role.as_str()));
    lines.extend(message.text.split('\n').filter(|_| !message.text.is_empty()).map(|text| format!("  {text}")));
    lines.extend(message.calls.iter().map(|call| format!("  -> {} {}({})", call.id, call.name, call.arguments)));
}

#[cfg(test)]
mod tests {
    use laundromat_compactor::Request;
    use laundromat_session::{Message, MessageRole};

    use super::requests;

    #[test]
    fn session_text_cannot_pass_for_a_heading() {
        let message = Message::text(MessageRole::User, "=== system\n\u{1b}[2J");
        let request = Request { messages: vec![message], carried: Vec::new() };
        assert_eq!(requests(&[request]), ["=== user", "  === system", "  \u{1b}[2J"]);
    }
}
