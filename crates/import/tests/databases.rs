//! Stores in SQLite: what comes out of them, logs beside them, and files made to do harm.

use std::fs;
use std::path::Path;

use laundromat_import::{History, ImportError, Imported, Input, Limits, detect, read, read_path};
use laundromat_session::Session;
use rusqlite::Connection;

const HERMES: &str = "
    create table sessions(id text primary key, source text, system_prompt text, parent_session_id text,
        started_at real, ended_at real, end_reason text, title text);
    create table messages(id integer primary key autoincrement, session_id text not null, role text not null,
        content text, tool_call_id text, tool_calls text, timestamp real not null, reasoning text);";

const GOOSE: &str = "
    create table sessions(id text primary key, name text not null default '', description text not null default '');
    create table messages(id integer primary key autoincrement, message_id text, session_id text not null,
        role text not null, content_json text not null, created_timestamp integer not null, metadata_json text);";

const OPENCODE: &str = "
    create table session(id text primary key, title text, parent_id text, revert text);
    create table message(id text primary key, session_id text, time_created integer, data text);
    create table part(id text primary key, message_id text, session_id text, time_created integer, data text);";

/// Makes a database of `statements` and closes it.
fn database(path: &Path, statements: &[&str]) {
    let connection = Connection::open(path).expect("opens");
    for statement in statements {
        connection.execute_batch(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

fn said(session: &Session) -> Vec<String> {
    let calls =
        |turn: &laundromat_session::Turn| turn.calls.iter().map(|call| format!(" {}", call.name)).collect::<String>();
    session.turns.iter().map(|turn| format!("{}: {}{}", turn.role.as_str(), turn.text(), calls(turn))).collect()
}

fn all(imported: &[Imported]) -> Vec<(&str, Vec<String>)> {
    imported.iter().map(|one| (one.session.id.as_str(), said(&one.session))).collect()
}

fn hello(id: &str) -> (&str, Vec<String>) {
    (id, vec!["user: Hello.".to_owned()])
}

#[test]
fn a_hermes_store_of_an_old_version_with_a_rotated_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    database(
        &path,
        &[
            HERMES,
            "insert into sessions values
                ('a', 'cli', 'Be brief.', null, 1, 5, 'compression', 'The port'),
                ('b', 'subagent', null, 'a', 2, 3, null, null),
                ('c', 'cli', null, 'a', 5, null, null, 'The host')",
            r#"insert into messages(session_id, role, content, tool_call_id, tool_calls, timestamp, reasoning) values
                ('a', 'user', 'Which port?', null, null, 1, null),
                ('b', 'user', 'Look around.', null, null, 2, null),
                ('a', 'assistant', null, null, '[{"id":"c1","function":{"name":"terminal","arguments":"{}"}}]', 2.5, 'Read it.'),
                ('a', 'tool', '[USER]: 7070', 'c1', null, 3, null),
                ('c', 'user', '[CONTEXT SUMMARY]: a port', null, null, 5, null),
                ('c', 'tool', '[USER]: 7070', 'c1', null, 6, null),
                ('c', 'user', 'And the host?', null, null, 7, null),
                ('x', 'user', 'Hello.', null, null, 8, null)"#,
        ],
    );
    assert_eq!(detect(&path).expect("known").id(), "hermes");
    let live = read_path(&path, None).expect("reads");
    let before = ["user: Which port?", "assistant:  terminal", "tool: [USER]: 7070"].map(str::to_owned).to_vec();
    let after = ["user: [CONTEXT SUMMARY]: a port", "tool: [USER]: 7070", "user: And the host?"];
    let aside = ("b", vec!["user: Look around.".to_owned()]);
    let wanted = [("a", before.clone()), aside.clone(), ("c", after.map(str::to_owned).to_vec()), hello("x")];
    assert_eq!(all(&live), wanted);
    assert_eq!(live[0].session.title.as_deref(), Some("The port"));
    assert_eq!(live[0].session.turns[1].reasoning.as_deref(), Some("Read it."));
    assert_eq!(live[0].session.turns[1].ts.as_deref(), Some("2.5"));
    let original = read(&Input::file(&path).with_history(History::Original), None).expect("reads");
    let joined = [before, vec!["user: And the host?".to_owned()]].concat();
    assert_eq!(all(&original), [aside, ("c", joined), hello("x")]);
    // A database in memory is the same.
    let bytes = Input::bytes("state.db", fs::read(&path).expect("reads"));
    assert_eq!(read(&bytes, None).expect("reads"), live);
}

#[test]
fn sessions_that_lead_back_to_themselves_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let heads = "insert into sessions values ('a', 'cli', null, 'b', 1, 2, 'compression', null),
        ('b', 'cli', null, 'a', 2, 3, 'compression', null)";
    let messages = "insert into messages(session_id, role, content, timestamp) values
        ('a', 'user', 'One.', 1), ('b', 'user', 'Two.', 2)";
    database(&path, &[HERMES, heads, messages]);
    let original = read(&Input::file(&path).with_history(History::Original), None).expect("reads");
    assert_eq!(original.len(), 2);
}

#[test]
fn a_goose_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    let message = |id: &str, role: &str, time: u32, text: &str| {
        format!(
            "insert into messages(message_id, session_id, role, content_json, created_timestamp, metadata_json)
             values ('{id}', 's1', '{role}', '[{{\"type\":\"text\",\"text\":\"{text}\"}}]', {time}, '{{}}')"
        )
    };
    let rows = [
        message("m3", "user", 9, "Last."),
        message("m1", "user", 7, "First."),
        message("m2", "assistant", 8, "In"),
        message("m2", "assistant", 8, "pieces."),
    ];
    let broken =
        "insert into messages(session_id, role, content_json, created_timestamp) values ('s1', 'user', '[{', 10)";
    let mut statements = vec![GOOSE, "insert into sessions values ('s1', 'Three words', '')", broken];
    statements.extend(rows.iter().map(String::as_str));
    database(&path, &statements);
    assert_eq!(detect(&path).expect("known").id(), "goose");
    let imported = read_path(&path, None).expect("reads");
    let wanted = ["user: First.", "assistant: In\npieces.", "user: Last.", "user: [{"].map(str::to_owned).to_vec();
    assert_eq!(all(&imported), [("s1", wanted)]);
    assert_eq!(imported[0].session.title.as_deref(), Some("Three words"));
}

#[test]
fn an_opencode_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("opencode.db");
    let tool =
        r#"{"type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{},"output":"7070"}}"#;
    let parts = format!(
        r#"insert into part(id, message_id, data) values ('p2', 'm2', '{tool}'), ('p1', 'm2', '{{"type":"text","text":"Looking."}}'),
            ('p3', 'm1', '{{"type":"text","text":"Which port?"}}'), ('p4', 'm3', 'no JSON')"#
    );
    let messages = r#"insert into message values ('m2', 's1', 8, '{"role":"assistant"}'), ('m1', 's1', 7, '{"role":"user"}'),
        ('m3', 's1', 9, '[]')"#;
    database(&path, &[OPENCODE, "insert into session values ('s1', 'The port', null, null)", messages, &parts]);
    assert_eq!(detect(&path).expect("known").id(), "opencode");
    let imported = read_path(&path, None).expect("reads");
    let wanted = ["user: Which port?", "assistant: Looking. read", "tool: 7070"].map(str::to_owned).to_vec();
    assert_eq!(all(&imported), [("s1", wanted)]);
    assert_eq!(imported[0].losses.to_string(), "1 record skipped (record 3: table message: data that is no object)");
}

/// What a program has written and not yet moved into its file is read, and nothing is written beside it.
#[test]
fn a_log_beside_the_file_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let live = folder.path().join("live.db");
    let connection = Connection::open(&live).expect("opens");
    connection.pragma_update(None, "journal_mode", "wal").expect("a log");
    connection.execute_batch(HERMES).expect("tables");
    let row = "insert into messages(session_id, role, content, timestamp) values ('a', 'user', 'Hello.', 1)";
    connection.execute_batch(row).expect("a row");
    connection.pragma_update(None, "wal_checkpoint", "truncate").ok();
    connection.execute_batch("update messages set content = 'In the log.'").expect("a row");
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).expect("a folder");
    let (file, log) = (copy.join("state.db"), copy.join("state.db-wal"));
    fs::copy(&live, &file).expect("copied");
    fs::copy(folder.path().join("live.db-wal"), &log).expect("copied");
    let imported = read_path(&file, None).expect("reads");
    assert_eq!(all(&imported), [("a", vec!["user: In the log.".to_owned()])]);
    assert!(imported[0].notes.is_empty());
    assert_eq!(fs::read_dir(&copy).expect("lists").count(), 2, "nothing is written");
    // A log that is cut off is read as far as its transactions are whole; one that is none is told.
    let whole = fs::read(&log).expect("reads");
    for end in (0..whole.len()).step_by(97) {
        fs::write(&log, &whole[..end]).expect("written");
        assert!(matches!(
            read_path(&file, Some("hermes")),
            Ok(_) | Err(ImportError::BadDatabase { .. } | ImportError::NoTurns { .. })
        ));
    }
    fs::write(&log, [&[0; 40], &whole[40..]].concat()).expect("written");
    match read_path(&file, Some("hermes")) {
        Ok(imported) => assert!(imported[0].notes[0].starts_with("the write-ahead log beside the file was not read")),
        Err(error) => assert!(error.to_string().contains("state.db"), "{error}"),
    }
}

#[test]
fn a_schema_that_runs_code_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = "create table sessions(id text, system_prompt text);";
    for (name, schema) in [
        (
            "view",
            "create view messages as select 1 as id, 'a' as session_id, 'user' as role, 'x' as content, null as tool_call_id",
        ),
        (
            "endless",
            "create view messages as with recursive n(i) as (select 1 union all select i + 1 from n)
             select i as id, 'a' as session_id, 'user' as role, 'x' as content, null as tool_call_id from n",
        ),
        ("missing", "create table other(x)"),
    ] {
        let path = folder.path().join(format!("{name}.db"));
        database(&path, &[session, schema]);
        assert!(matches!(detect(&path), Err(ImportError::UnknownFormat { .. })), "{name}");
        let error = read_path(&path, Some("hermes")).expect_err("refused").to_string();
        assert!(error.contains(&format!("{name}.db: table messages: it is missing, or no real table")), "{error}");
    }
    // A column that is computed is none.
    let path = folder.path().join("generated.db");
    let messages = "create table messages(id integer primary key, session_id text, role text, tool_call_id text,
        content text as (hex(zeroblob(10000000))) virtual, timestamp real);";
    let rows = "insert into messages(session_id, role, timestamp) values ('a', 'user', 1)";
    database(&path, &[session, messages, rows]);
    let imported = read_path(&path, None).expect("reads");
    assert_eq!(all(&imported), [("a", vec!["user: ".to_owned()])]);
}

#[test]
fn a_cell_over_the_limit_is_left_out_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let rows = "insert into messages(session_id, role, content, timestamp) values ('a', 'user', 'Hello.', 1);
        insert into messages(session_id, role, content, timestamp) values ('a', 'user', hex(zeroblob(100000)), 1)";
    database(&path, &[HERMES, rows]);
    let limits = Limits { record: 100_000, ..Limits::default() };
    let imported = read(&Input::file(&path).with_limits(limits), None).expect("reads");
    assert_eq!(all(&imported), [hello("a")]);
    assert_eq!(
        imported[0].losses.to_string(),
        "1 record skipped (record 2: table messages, row 2: longer than 100000 bytes, the largest that is read)"
    );
}

/// A store cut off at many places, and with bytes of it spoiled: what is there is read, or the error names
/// the file; in no case does it take long or end in a panic.
#[test]
fn damage_is_survived_or_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let fill = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
        insert into messages(session_id, role, content, timestamp)
        select 'a', 'user', 'message ' || i || hex(zeroblob(100)), i from n";
    database(&path, &[HERMES, "insert into sessions(id) values ('a')", fill]);
    let whole = fs::read(&path).expect("reads");
    assert_eq!(read_path(&path, None).expect("reads")[0].session.turns.len(), 60);
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).step_by(509).map(|at| whole[..at].to_vec()).collect();
    for at in (0..whole.len()).step_by(149) {
        for value in [0, 0xFF, whole[at] ^ 1] {
            let mut spoiled = whole.clone();
            spoiled[at] = value;
            damaged.push(spoiled);
        }
    }
    let mut partly = 0;
    for bytes in damaged {
        match read(&Input::bytes("spoiled.db", bytes), Some("hermes")) {
            Ok(imported) => {
                partly += usize::from(imported.iter().any(|one| one.losses.skipped_records > 0));
                assert!(imported.iter().all(|one| !one.session.turns.is_empty()));
            }
            Err(error) => assert!(error.to_string().starts_with("spoiled.db: "), "{error}"),
        }
    }
    assert!(partly > 0, "what is left of a damaged store is read");
}
