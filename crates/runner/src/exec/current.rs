//! What a harness made of the request that was being answered: the newest message of a person, looked for by its
//! words in the context that the program gave back.
//!
//! It is compared as text without the blank space around it. A harness that joined it to its summary kept it, a
//! summary that repeats it did not: the agent is then told of it, not asked.

use laundromat_session::{CurrentRequest, Role, Session};
use serde_json::Value;

use super::summary::{role, text};

/// What became of the newest request of `session` in `context`; `None` where nobody asked anything.
pub(super) fn request(context: &[Value], session: &Session) -> Option<CurrentRequest> {
    let is_request = |turn: &&laundromat_session::Turn| turn.role == Role::User && turn.synthetic.is_none();
    let newest = session.turns.iter().rfind(|turn| is_request(turn) && !turn.text().trim().is_empty())?.text();
    let newest = newest.trim();
    let standings = context.iter().filter_map(|message| {
        let text = text(message);
        let is_whole = text.starts_with(newest) || text.ends_with(newest);
        match (role(message) == "user", is_whole) {
            (true, true) => Some(CurrentRequest::Kept),
            (true, false) => text.contains(newest).then_some(CurrentRequest::Quoted),
            (false, _) => text.contains(newest).then_some(CurrentRequest::OtherRole),
        }
    });
    // The ids are in the order of how much is left of it.
    Some(standings.min().unwrap_or(CurrentRequest::Absent))
}

#[cfg(test)]
mod tests {
    use laundromat_session::{CurrentRequest, Role, Session, Turn};
    use serde_json::{Value, json};

    use super::request;

    const NEWEST: &str = "and now the second step";

    fn session() -> Session {
        let note = Turn { synthetic: Some("harness".to_owned()), ..Turn::text_of(Role::User, "the time is 12:00") };
        let turns = vec![
            Turn::text_of(Role::User, "do the first step"),
            Turn::text_of(Role::Assistant, "done"),
            Turn::text_of(Role::User, format!("{NEWEST}\n")),
            Turn::text_of(Role::Assistant, "working on it"),
            note,
        ];
        Session { id: "s".to_owned(), title: None, origin: None, turns }
    }

    fn told(context: &Value) -> Option<CurrentRequest> {
        request(context.as_array().expect("a list"), &session())
    }

    #[test]
    fn the_newest_request_of_a_person_is_kept_or_it_is_not() {
        let summary = format!("Summary. The user wants: {NEWEST}. It was begun.");
        for (context, made_of_it) in [
            (json!([{"role": "user", "content": "S"}, {"role": "user", "content": NEWEST}]), CurrentRequest::Kept),
            (json!([{"role": "user", "content": format!("S\n\n{NEWEST}")}]), CurrentRequest::Kept),
            (json!([{"role": "user", "content": [{"type": "text", "text": NEWEST}]}]), CurrentRequest::Kept),
            (json!([{"role": "user", "content": summary}]), CurrentRequest::Quoted),
            (json!([{"role": "system", "content": summary}]), CurrentRequest::OtherRole),
            (json!([{"role": "assistant", "content": NEWEST}]), CurrentRequest::OtherRole),
            (json!([{"role": "user", "content": "do the first step"}]), CurrentRequest::Absent),
            (json!([{"role": "user", "content": "the time is 12:00"}]), CurrentRequest::Absent),
            (json!([]), CurrentRequest::Absent),
        ] {
            assert_eq!(told(&context), Some(made_of_it), "{context}");
        }
    }

    #[test]
    fn the_best_standing_counts() {
        let context = json!([{"role": "system", "content": NEWEST}, {"role": "user", "content": NEWEST}]);
        assert_eq!(told(&context), Some(CurrentRequest::Kept));
    }

    #[test]
    fn a_session_in_which_nobody_asks_has_no_request() {
        let session = Session { turns: vec![Turn::text_of(Role::Assistant, "hi")], ..session() };
        assert_eq!(request(&[json!({"role": "user", "content": "x"})], &session), None);
    }
}
