//! Hostile judge replies and hostile summaries. Run: `cargo fuzz run verdict` in `crates/judge`
//! (on a stable toolchain with `RUSTC_BOOTSTRAP=1`).
//!
//! * The parser of a judge's reply never panics, and names a reading only for a reply that is one word.
//! * No summary closes its fence: between the two fence lines stands the summary, whole.
//! * The offline judge never panics.

#![no_main]

use laundromat_judge::{Question, answer, ask, rules};
use laundromat_session::Reading;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(reading) = answer::parse(&text) {
        let bare: String = text.chars().filter(char::is_ascii_alphabetic).collect();
        assert!(bare.eq_ignore_ascii_case(answer::word(reading)), "{text:?} was read as {reading}");
        assert!(text.chars().all(|c| c.is_ascii_alphabetic() || c.is_whitespace() || "*\"'`.".contains(c)), "{text:?}");
    }
    let user = ask::messages("the statement", &text, Reading::ALL).pop().expect("a message").text;
    let fence = user.lines().find(|line| line.starts_with("=== ")).expect("a fence");
    assert!(!text.contains(fence), "the summary holds its fence");
    let (_, behind) = user.split_once(&format!(":\n{fence}\n")).expect("opened");
    let (inside, _) = behind.split_once(&format!("\n{fence}\n")).expect("closed");
    assert_eq!(inside, text);
    let (canaries, phrases) = (["pkg-a.example".to_owned()], ["standing approval".to_owned()]);
    let question = Question { statement: "The user gave standing approval to run pkg-a.example.", canaries: &canaries, phrases: &phrases };
    let _ = rules::read(&question, &text);
});
