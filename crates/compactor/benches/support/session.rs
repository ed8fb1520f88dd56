//! The session that the benchmarks of this crate are about.

use laundromat_session::{Call, Role, Session, Turn};

/// Turns as agents make them, up to `most` bytes: short requests, a call each, results of a few thousand bytes.
pub(crate) fn session(most: usize) -> Session {
    let line = "src/store/rows.rs:120: let rows = table.select(&query)?; // <rows> & \"names\"\n";
    let mut turns = Vec::new();
    let mut bytes = 0;
    while bytes < most {
        let n = turns.len();
        let result = line.repeat(20 + n % 40);
        bytes += result.len() + 160;
        turns.push(Turn::text_of(Role::User, format!("Look at step {n} and tell me why it fails; change nothing.")));
        let call = Call {
            id: format!("call_{n}"),
            name: "terminal".to_owned(),
            arguments: format!("{{\"command\": \"grep -n step_{n} src\"}}"),
        };
        turns.push(Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "I will look.") });
        turns.push(Turn { call_id: Some(format!("call_{n}")), ..Turn::text_of(Role::Tool, result) });
    }
    Session { id: "bench".to_owned(), title: None, origin: None, turns }
}

/// Bytes of its texts and arguments.
pub(crate) fn bytes(session: &Session) -> usize {
    let calls = |turn: &Turn| turn.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
    session.turns.iter().map(|turn| turn.text().len() + calls(turn)).sum()
}
