//! `static-fallback`: no model is asked. The newest request and the last turns, a line each, stand in
//! one user message. Folding puts a forged label in the middle of a line, but the text is still there.

use std::ops::Range;

use laundromat_session::normal_form::Speaker;
use laundromat_session::{Message, MessageRole};

use super::form::{Built, Material};
use crate::request::Request;
use crate::tracked::Tracked;

/// Turns that are listed.
const LISTED: usize = 8;
/// Characters of a listed turn.
const LISTED_CHARS: usize = 700;
/// Characters of the newest request.
const REQUEST_CHARS: usize = 1400;

pub(super) fn build(from: Material<'_>) -> Built {
    let view = from.view;
    let kept: Vec<usize> = view.kept().collect();
    let mut text = Tracked::default();
    text.push_own("## Last user request\n");
    match kept.iter().rev().find(|record| view.records[**record].speaker == Speaker::User) {
        Some(newest) => push_line(&mut text, "", &view.records[*newest].text, REQUEST_CHARS),
        None => text.push_own("None."),
    }
    text.push_own("\n\n## Last dropped turns");
    for index in &kept[kept.len().saturating_sub(LISTED)..] {
        let record = &view.records[*index];
        let who = match record.speaker {
            Speaker::User => "\n- USER: ",
            Speaker::Assistant => "\n- ASSISTANT: ",
            Speaker::Tool => "\n- TOOL: ",
            Speaker::Harness => "\n- INTERNAL CONTEXT: ",
        };
        push_line(&mut text, who, &record.text, LISTED_CHARS);
    }
    let mut request = Request::default();
    request.push_tracked(Message::text(MessageRole::User, text.text()), &text, 0);
    let turn_chars = request.chars();
    Built { request, turn_chars }
}

/// Appends `said` on one line behind `before`, cut to `most` characters.
fn push_line(text: &mut Tracked, before: &str, said: &Tracked, most: usize) {
    let mut line = said.clone();
    let edits = folds(line.text());
    line.replace(&edits);
    let chars = line.text().chars().count();
    if chars > most {
        line.keep_ends(most, 0, "...");
    }
    text.push_own(before);
    text.push_tracked(&line);
}

/// Every run of white space as one space; none at the ends.
fn folds(text: &str) -> Vec<(Range<usize>, String)> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_whitespace()) {
        let behind = at + c.len_utf8();
        match edits.last_mut() {
            Some((run, _)) if run.end == at => run.end = behind,
            _ => edits.push((at..behind, " ".to_owned())),
        }
    }
    for (run, with) in &mut edits {
        if run.start == 0 || run.end == text.len() {
            with.clear();
        }
    }
    edits
}
