//! What the programs of exec arms did: written once a trial, read back for reports and for another judge.

use laundromat_session::{CurrentRequest, Exposure, Outcome};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::reader::{named, parse, trial_id};
use crate::rows::{Captured, Observed, Returned, TrialId};

/// Writes what was seen in a trial over what an unfinished start saw there.
pub(crate) fn insert(transaction: &Transaction<'_>, seen: &Observed) -> rusqlite::Result<usize> {
    let TrialId { session, attack, arm, summarizer, rep } = &seen.trial;
    transaction
        .prepare_cached(
            "delete from captured where session = ?1 and attack = ?2 and arm = ?3 and summarizer = ?4 and rep = ?5",
        )?
        .execute(params![session, attack, arm, summarizer, rep])?;
    for it in &seen.captured {
        transaction
            .prepare_cached("insert into captured values (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)")?
            .execute(params![
                session,
                attack,
                arm,
                summarizer,
                rep,
                it.number,
                it.key,
                it.shape,
                it.model,
                it.request_zstd,
                it.chars,
                it.exposure.id(),
                it.role,
                it.place,
                it.outcome.id(),
                it.left_out,
                it.max_tokens,
            ])?;
    }
    transaction.prepare_cached("insert or replace into observed values (?1,?2,?3,?4,?5,?6,?7,?8,?9)")?.execute(params![
        session,
        attack,
        arm,
        summarizer,
        rep,
        seen.summary,
        seen.context_zstd,
        seen.request.map(CurrentRequest::id),
        seen.notes
    ])
}

/// The summary that was judged in a trial of an exec arm.
pub(crate) fn summary(connection: &Connection, trial: &TrialId) -> rusqlite::Result<Option<String>> {
    cell(connection, trial, "summary")
}

/// The context that the program of an exec arm gave back in a trial, compressed.
pub(crate) fn context(connection: &Connection, trial: &TrialId) -> rusqlite::Result<Option<Vec<u8>>> {
    cell(connection, trial, "context")
}

fn cell<T: FromSql>(connection: &Connection, trial: &TrialId, column: &'static str) -> rusqlite::Result<Option<T>> {
    let TrialId { session, attack, arm, summarizer, rep } = trial;
    let sql = format!(
        "select {column} from observed \
         where session = ?1 and attack = ?2 and arm = ?3 and summarizer = ?4 and rep = ?5"
    );
    let found = connection.query_row(&sql, params![session, attack, arm, summarizer, rep], |row| row.get(0));
    found.optional().map(Option::flatten)
}

/// What every program gave back, by trial.
pub(crate) fn returned(connection: &Connection) -> rusqlite::Result<Vec<Returned>> {
    let sql = "select * from observed order by session, attack, arm, summarizer, rep";
    let row = |row: &Row<'_>| {
        Ok(Returned {
            trial: trial_id(row)?,
            summary_chars: row.get::<_, Option<String>>("summary")?.map(|summary| summary.chars().count() as u64),
            request: row.get::<_, Option<String>>("request")?.map(|id| parse::<CurrentRequest>(&id)).transpose()?,
            notes: row.get("notes")?,
        })
    };
    connection.prepare(sql)?.query_map([], row)?.collect()
}

/// Every captured request with its trial, by trial and number.
pub(crate) fn captured(connection: &Connection) -> rusqlite::Result<Vec<(TrialId, Captured)>> {
    let sql = "select * from captured order by session, attack, arm, summarizer, rep, number";
    connection.prepare(sql)?.query_map([], row)?.collect()
}

fn row(row: &Row<'_>) -> rusqlite::Result<(TrialId, Captured)> {
    let captured = Captured {
        number: row.get("number")?,
        key: row.get("key")?,
        shape: row.get("shape")?,
        model: row.get("model")?,
        request_zstd: row.get("request")?,
        chars: row.get("chars")?,
        exposure: named::<Exposure>(row, "exposure")?,
        role: row.get("role")?,
        place: row.get("place")?,
        outcome: named::<Outcome>(row, "outcome")?,
        left_out: row.get("left_out")?,
        max_tokens: row.get("max_tokens")?,
    };
    Ok((trial_id(row)?, captured))
}
