//! The newer store: all sessions in one database, messages in order of time and row.

use super::head;
use super::message::Messages;
use crate::chat::At;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::input::Input;
use crate::sqlite::{Column, Database, Index};
use crate::values::Sink;

const MESSAGE: &[Column] = &[
    Column::Plain("message_id"),
    Column::Plain("role"),
    Column::Json("content_json"),
    Column::Plain("created_timestamp"),
    Column::Json("metadata_json"),
];
const SESSION: &[Column] = &[Column::Plain("id"), Column::Plain("name"), Column::Plain("description")];

/// Puts the sessions of the database `input`.
pub(super) fn read(input: &Input, file: &str, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let database = Database::open(input)?;
    let messages = database.index("messages", &["session_id", "created_timestamp"])?;
    let heads = if database.has("sessions", &["id"]) { database.index("sessions", &["id"])? } else { Index::default() };
    let mut cut: Vec<String> = [&messages.cut, &heads.cut].into_iter().flatten().cloned().collect();
    for session in Index::sessions(&heads, messages) {
        let mut reading = Messages::new(input.history());
        reading.draft.notes.extend_from_slice(database.notes());
        reading.draft.own_id = Some(session.id);
        if let Some((text, _)) = session.head.and_then(|row| database.row("sessions", SESSION, row).ok())
            && let Ok(fields) = Fields::parse(&text)
        {
            head(&fields, &mut reading.draft);
        }
        let mut rows = session.rows;
        rows.sort_by_key(|key| (key.number(1), key.row));
        for key in rows {
            let record = usize::try_from(key.row).unwrap_or_default();
            match database.row("messages", MESSAGE, key.row) {
                Ok((text, repaired)) => {
                    reading.draft.losses.repair(record, repaired);
                    match Fields::parse(&text) {
                        Ok(fields) => reading.message(&fields, At { file, record }),
                        Err(error) => reading.draft.losses.skip(record, format!("table messages: {error}")),
                    }
                }
                Err(reason) => reading.draft.losses.skip(record, reason),
            }
        }
        for reason in cut.drain(..) {
            reading.draft.losses.skip(0, reason);
        }
        sink.put(reading.finish())?;
    }
    for reason in cut {
        sink.loose.skip(0, reason);
    }
    Ok(())
}
