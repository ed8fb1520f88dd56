//! The database of newer versions: ids stand in columns, the rest of a record in one cell.

use std::collections::HashMap;

use super::message::Messages;
use crate::chat::At;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::losses::Losses;
use crate::sqlite::{Column, Database, Index};
use crate::values::Sink;

const RECORD: &[Column] = &[Column::Json("data")];
const SESSION: &[Column] =
    &[Column::Plain("id"), Column::Plain("title"), Column::Plain("parent_id"), Column::Json("revert")];

/// Puts the sessions of the database `input`.
pub(super) fn read(input: &Input, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let database = Database::open(input)?;
    let file = input.name();
    let heads = if database.has("session", &["id"]) { database.index("session", &["id"])? } else { Index::default() };
    let messages = database.index("message", &["session_id", "time_created", "id"])?;
    let parts = database.index("part", &["message_id", "id"])?;
    for reason in [&heads.cut, &messages.cut, &parts.cut].into_iter().flatten() {
        sink.loose.skip(0, reason);
    }
    let mut by_message: HashMap<String, Vec<(Option<String>, i64)>> = HashMap::new();
    for key in parts.rows {
        let mut cells = key.cells.into_iter();
        let message = cells.next().flatten().unwrap_or_default();
        by_message.entry(message).or_default().push((cells.next().flatten(), key.row));
    }
    for session in Index::sessions(&heads, messages) {
        let mut reading = Messages::new(input.history());
        reading.draft.notes.extend_from_slice(database.notes());
        reading.draft.own_id = Some(session.id);
        if let Some((text, _)) = session.head.and_then(|row| database.row("session", SESSION, row).ok())
            && let Ok(fields) = Fields::parse(&text)
        {
            reading.head(&fields);
        }
        let mut rows = session.rows;
        rows.sort_by_cached_key(|key| (key.number(1), key.cells.get(2).cloned().flatten(), key.row));
        for key in rows {
            let record = usize::try_from(key.row).unwrap_or_default();
            let own = key.cells.get(2).cloned().flatten().unwrap_or_default();
            let mut texts = Vec::new();
            let mut parts = by_message.remove(&own).unwrap_or_default();
            parts.sort();
            for (_, row) in parts {
                texts.extend(data(&database, "part", row, record, &mut reading.draft.losses));
            }
            let Some(info) = data(&database, "message", key.row, record, &mut reading.draft.losses) else { continue };
            let parts: Vec<Fields<'_>> = texts.iter().filter_map(|text| opened(text)).collect();
            match opened(&info) {
                Some(info) => reading.message(&info, &parts, At { file: &file, record }),
                None => reading.draft.losses.skip(record, "table message: data that is no object"),
            }
        }
        sink.put(reading.finish())?;
    }
    Ok(())
}

/// The object in the cell `data` of a row.
fn opened(row: &str) -> Option<Fields<'_>> {
    Fields::parse(row).ok()?.object("data")
}

/// A row of `table` with the cell `data`; one that cannot be read is counted.
fn data(database: &Database, table: &str, row: i64, record: usize, losses: &mut Losses) -> Option<String> {
    match database.row(table, RECORD, row) {
        Ok((text, repaired)) => {
            losses.repair(record, repaired);
            Some(text)
        }
        Err(reason) => {
            losses.skip(record, reason);
            None
        }
    }
}
