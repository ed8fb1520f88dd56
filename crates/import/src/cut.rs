//! Shortening a session to its first turns.

use std::collections::HashMap;

use laundromat_session::{Role, Session};

/// What a cut took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// Turns that were dropped.
    pub dropped: usize,
    /// Results among them whose call is still there: these calls are unanswered now, which is normal.
    pub results_lost: usize,
}

/// Keeps the first `turns` turns of `session`, in place, and says what that cost.
pub fn truncate(session: &mut Session, turns: usize) -> Cut {
    let dropped = session.turns.split_off(turns.min(session.turns.len()));
    let mut open: HashMap<&str, usize> = HashMap::new();
    for call in session.turns.iter().flat_map(|turn| &turn.calls) {
        *open.entry(&call.id).or_default() += 1;
    }
    for turn in session.turns.iter().filter(|turn| turn.role == Role::Tool) {
        take(&mut open, turn.call_id.as_deref());
    }
    let results = dropped.iter().filter(|turn| turn.role == Role::Tool);
    let results_lost = results.filter(|turn| take(&mut open, turn.call_id.as_deref())).count();
    Cut { dropped: dropped.len(), results_lost }
}

/// Takes one open call with this id, if there is one.
fn take(open: &mut HashMap<&str, usize>, id: Option<&str>) -> bool {
    match open.get_mut(id.unwrap_or_default()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use laundromat_session::{Call, Role, Session, Turn};

    use super::{Cut, truncate};

    #[test]
    fn a_cut_between_call_and_results_is_told() {
        let call = |id: &str| Call { id: id.to_owned(), name: "f".to_owned(), arguments: String::new() };
        let result = |id: &str| Turn { call_id: Some(id.to_owned()), ..Turn::text_of(Role::Tool, "r") };
        let session = Session {
            id: "s".to_owned(),
            title: None,
            origin: None,
            turns: vec![
                Turn::text_of(Role::User, "do"),
                Turn { calls: vec![call("1"), call("2")], ..Turn::text_of(Role::Assistant, "") },
                result("1"),
                result("2"),
                result("9"),
            ],
        };
        for (turns, cut) in [
            (9, Cut::default()),
            (4, Cut { dropped: 1, results_lost: 0 }),
            (3, Cut { dropped: 2, results_lost: 1 }),
            (2, Cut { dropped: 3, results_lost: 2 }),
            (1, Cut { dropped: 4, results_lost: 0 }),
        ] {
            let mut shorter = session.clone();
            assert_eq!(truncate(&mut shorter, turns), cut);
            assert_eq!(shorter.turns, session.turns[..turns.min(5)]);
        }
    }
}
