//! The program: its one line of output, its log after a kill, its end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use laundromat_mock::log::read_log;

use crate::client::{CHAT, Client, STATED, flat};

const SCRIPT: &str = "launder.flat-user = 1.0\n[[faults]]\nkind = \"hang\"\nattempts = [2]\n";

/// Starts the program in `folder`; the port comes with it.
fn start(folder: &Path) -> (Child, u16) {
    std::fs::write(folder.join("script.toml"), SCRIPT).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_laundromat-mock"))
        .args(["--port", "0", "--script", "script.toml", "--log", "calls.jsonl"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.strip_prefix("listening on http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/v1\n"));
    (child, port.unwrap_or_else(|| panic!("{line}")).parse().unwrap())
}

#[test]
fn the_log_outlives_a_kill_and_tells_the_call_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, port) = start(folder.path());
    let mut client = Client::new(port);
    assert!(client.chat("k", &flat()).unwrap().content().contains(STATED));
    let headers =
        [("authorization", "Bearer mock-key"), ("content-type", "application/json"), ("x-client-request-id", "k")];
    client.send("POST", CHAT, &headers, flat().to_string().as_bytes()).unwrap();
    let log = folder.path().join("calls.jsonl");
    while read_log(&log).unwrap().len() < 2 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let calls = read_log(&log).unwrap();
    assert_eq!(calls.iter().map(|call| (call.attempt, call.answered)).collect::<Vec<_>>(), [(1, true), (2, false)]);
}

#[cfg(unix)]
#[test]
fn a_polite_end_is_a_success() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _) = start(folder.path());
    assert!(Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_script_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), "sed = 1").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_laundromat-mock"))
        .args(["--script", "s.toml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("s.toml"));
}
