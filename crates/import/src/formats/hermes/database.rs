//! The store: sessions and messages in order of their rows. Columns grew over versions, so that each is
//! taken where there is one.

use std::collections::{HashMap, HashSet};

use super::head;
use super::row::{Entries, State};
use crate::chat::At;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::{History, Input};
use crate::sqlite::{Column, Database, Index, Key, SessionRows};
use crate::values::Sink;

const MESSAGE: &[Column] = &[
    Column::Plain("role"),
    Column::Plain("content"),
    Column::Plain("tool_call_id"),
    Column::Json("tool_calls"),
    Column::Plain("timestamp"),
    Column::Plain("reasoning"),
    Column::Plain("reasoning_content"),
    Column::Json("reasoning_details"),
    Column::Json("codex_reasoning_items"),
    Column::Plain("_compressed_summary"),
    Column::Plain("active"),
    Column::Plain("compacted"),
    Column::Plain("display_kind"),
];
const SESSION: &[Column] = &[
    Column::Plain("id"),
    Column::Plain("title"),
    Column::Plain("parent_session_id"),
    Column::Plain("system_prompt"),
    Column::Plain("system_prompt_hash"),
];

/// Puts the sessions of the store `input`.
pub(super) fn read(input: &Input, file: &str, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let database = Database::open(input)?;
    let heads = database.index("sessions", &["id", "parent_session_id", "end_reason", "ended_at", "started_at"])?;
    let messages = database.index("messages", &["session_id"])?;
    for reason in [&messages.cut, &heads.cut].into_iter().flatten() {
        sink.loose.skip(0, reason);
    }
    let before = match input.history() {
        History::Live => HashMap::new(),
        History::Original => rotations(&heads),
    };
    let mut sessions: HashMap<String, SessionRows> = HashMap::new();
    let mut order = Vec::new();
    for session in Index::sessions(&heads, messages) {
        order.push(session.id.clone());
        sessions.insert(session.id.clone(), session);
    }
    let went_on: HashSet<&String> = before.values().filter(|parent| !in_circle(parent, &before)).collect();
    let store = Store { database: &database, file, sessions: &sessions };
    for id in order {
        // A session that went on in another is the beginning of that one.
        if went_on.contains(&id) {
            continue;
        }
        let mut entries = Entries::default();
        for ancestor in chain(&id, &before).into_iter().rev() {
            let first = entries.entries.len();
            store.messages(&ancestor, &mut entries);
            if ancestor != id {
                entries.entries[first..].iter_mut().for_each(|entry| entry.state = State::Archived);
            }
        }
        let mut draft = entries.finish(input.history());
        draft.own_id = Some(id.clone());
        if let Some(row) = sessions.get(&id).and_then(|session| session.head)
            && let Ok((text, _)) = database.row("sessions", SESSION, row)
            && let Ok(fields) = Fields::parse(&text)
        {
            head(&fields, &mut draft);
        }
        draft.notes.extend_from_slice(database.notes());
        sink.put(draft)?;
    }
    Ok(())
}

/// For each session that a compaction began, the one that it ended. Of several children the one goes on with
/// the session that began when it ended; others are branches and sub-agents.
fn rotations(heads: &Index) -> HashMap<String, String> {
    let cell = |key: &Key, at: usize| key.cells.get(at).cloned().flatten().unwrap_or_default();
    let time = |key: &Key, at: usize| cell(key, at).parse::<f64>().unwrap_or_default();
    let ended: HashMap<String, f64> =
        heads.rows.iter().filter(|key| cell(key, 2) == "compression").map(|key| (cell(key, 0), time(key, 3))).collect();
    let mut next: HashMap<String, (f64, String)> = HashMap::new();
    for key in &heads.rows {
        let parent = cell(key, 1);
        let Some(end) = ended.get(&parent) else { continue };
        let distance = (time(key, 4) - end).abs();
        let nearer = next.get(&parent).is_none_or(|(other, _)| distance < *other);
        if nearer && cell(key, 0) != parent {
            next.insert(parent, (distance, cell(key, 0)));
        }
    }
    next.into_iter().map(|(parent, (_, child))| (child, parent)).collect()
}

/// A session and those before it, the newest first.
fn chain(id: &str, before: &HashMap<String, String>) -> Vec<String> {
    let mut chain = vec![id.to_owned()];
    while let Some(parent) = chain.last().and_then(|id| before.get(id)).filter(|parent| !chain.contains(parent)) {
        chain.push(parent.clone());
    }
    chain
}

/// Whether the sessions before `id` lead back to it, which only a damaged store has.
fn in_circle(id: &str, before: &HashMap<String, String>) -> bool {
    let oldest = chain(id, before).pop().unwrap_or_default();
    before.contains_key(&oldest)
}

struct Store<'d> {
    database: &'d Database,
    file: &'d str,
    sessions: &'d HashMap<String, SessionRows>,
}

impl Store<'_> {
    /// Adds the messages of the session `id`.
    fn messages(&self, id: &str, entries: &mut Entries) {
        let Some(session) = self.sessions.get(id) else { return };
        let mut rows: Vec<i64> = session.rows.iter().map(|key| key.row).collect();
        rows.sort_unstable();
        for row in rows {
            let record = usize::try_from(row).unwrap_or_default();
            match self.database.row("messages", MESSAGE, row) {
                Ok((text, repaired)) => {
                    entries.losses.repair(record, repaired);
                    match Fields::parse(&text) {
                        Ok(fields) => entries.message(&fields, At { file: self.file, record }),
                        Err(error) => entries.losses.skip(record, format!("table messages, row {row}: {error}")),
                    }
                }
                Err(reason) => entries.losses.skip(record, reason),
            }
        }
    }
}
