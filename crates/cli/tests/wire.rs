//! `wire check` on the real binary: the committed vectors, a folder with a fault, an empty one.

mod common;

use std::fs;

use common::{laundromat, repo};

#[test]
fn the_committed_vectors_pass() {
    let output = laundromat().args(["wire", "check"]).arg(repo("tests/wire")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for (file, vectors) in
        [("requests_chat_completions.json", 40), ("negative_requests.json", 98), ("streams.json", 21)]
    {
        let row = said.lines().find(|line| line.starts_with(file)).expect("a row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), [file, &vectors.to_string(), "0"], "{said}");
    }
}

#[test]
fn a_vector_that_fails_is_named_and_decides_the_exit_code() {
    let temp = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(repo("tests/wire/transcripts.json")).expect("transcripts");
    fs::write(temp.path().join("transcripts.json"), text.replace("\"renamed\": 4", "\"renamed\": 5")).expect("written");
    let output = laundromat().args(["wire", "check"]).arg(temp.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(100), "{said}");
    assert!(said.starts_with("FAIL transcripts.json hard: report: renamed is 4, 5 is expected\n"), "{said}");
    assert!(said.lines().any(|line| line.split_whitespace().eq(["negative_requests.json", "missing"])), "{said}");
}

#[test]
fn a_folder_without_vectors_is_no_success() {
    let temp = tempfile::tempdir().expect("a folder");
    let output = laundromat().args(["wire", "check"]).arg(temp.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let gone = temp.path().join("gone");
    let output = laundromat().args(["wire", "check"]).arg(gone).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
