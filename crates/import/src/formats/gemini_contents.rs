//! Gemini contents: requests, alone or recorded with their reply. Results stand in the user role, and
//! usually nothing has an id: a result is paired by its tool's name and its place.

use laundromat_session::{Part, Role, Turn};

use crate::by_name::pair_by_name;
use crate::chat::role_named;
use crate::content::push_text;
use crate::error::ImportError;
use crate::fields::{Fields, items_of, text_of};
use crate::gemini::{Speaker, content, either};
use crate::input::Input;
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::replies::Replies;
use crate::sample::Sample;
use crate::values::{Numbering, each_value, messages};

/// Gemini contents.
#[derive(Debug)]
pub(super) struct GeminiContents;

impl Reader for GeminiContents {
    fn id(&self) -> &'static str {
        "gemini-contents"
    }

    fn title(&self) -> &'static str {
        "Gemini contents"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let first = sample.records().next()?;
        let (list, sure) = match &first {
            Line::Object(fields) => (body_of(fields)?.items("contents")?, Confidence::Sure),
            Line::List(raw) => (items_of(raw)?, Confidence::Likely),
        };
        let contents: Vec<Fields<'_>> = list.into_iter().filter_map(Fields::of).collect();
        // A reply that was cut off may have no parts, and a damaged one anything.
        let is_content = |it: &&Fields<'_>| {
            it.has("parts") && matches!(it.text("role").as_deref(), None | Some("user" | "model" | "function"))
        };
        let own = contents.iter().filter(is_content).count();
        (own > 0 && own * 2 > contents.len()).then_some(sure)
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            let mut draft = Draft::default();
            draft.turns = conversation(&line, &file, numbering, &mut draft.losses);
            sink.put_unmarked(draft)
        })
    }
}

/// The object with the contents: the record itself or its request.
fn body_of<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let has_list = |body: &Fields<'_>| body.raw("contents").is_some_and(|raw| raw.get().starts_with(['[', '{', '"']));
    if has_list(fields) { Some(fields.clone()) } else { fields.object("request").filter(has_list) }
}

fn conversation(line: &Line<'_>, file: &str, numbering: Numbering, losses: &mut Losses) -> Vec<Turn> {
    let (mut replies, mut named) = (Replies::default(), Vec::new());
    let (given, reply) = match line {
        Line::List(raw) => (messages(Some(raw), numbering, losses), None),
        Line::Object(fields) => {
            let Some(body) = body_of(fields) else {
                losses.skip(numbering.record(0), "no contents");
                return Vec::new();
            };
            system(&body, file, numbering, &mut replies);
            // One content and a plain text are contents too, to the client libraries.
            if let Some(text) = body.text("contents") {
                replies.turn(numbering.at(file, 0).says(Role::User, text));
            }
            let given = match body.object("contents") {
                Some(only) => vec![(0, only)],
                None => messages(body.raw("contents"), numbering, losses),
            };
            (given, fields.object("response"))
        }
    };
    let next = given.last().map_or(0, |(index, _)| index + 1);
    let candidates = reply.and_then(|reply| reply.items("candidates")).unwrap_or_default();
    let answer = candidates.first().copied().and_then(Fields::of).and_then(|candidate| candidate.object("content"));
    for (index, fields) in given.into_iter().chain(answer.map(|answer| (next, answer))) {
        let at = numbering.at(file, index);
        let speaker = match fields.text("role").as_deref() {
            Some("model") => Speaker::Model,
            None | Some("user" | "function" | "tool") => Speaker::User,
            Some(other) => {
                let role = role_named(other, at.record, losses);
                replies.turn(at.turn(role, texts(&fields)));
                continue;
            }
        };
        let before = replies.count();
        content(fields.raw("parts"), speaker, at, (&mut replies, &mut named), losses);
        replies.end_reply();
        if replies.count() == before {
            losses.kind("content:says nothing", at.record);
        }
    }
    let mut turns = replies.finish();
    pair_by_name(&mut turns, &named);
    turns
}

fn system(body: &Fields<'_>, file: &str, numbering: Numbering, replies: &mut Replies) {
    let Some(raw) = either(body, "systemInstruction", "system_instruction") else { return };
    let mut said = Vec::new();
    match (text_of(raw), Fields::of(raw)) {
        (Some(text), _) => push_text(&mut said, text),
        (None, Some(fields)) => said = texts(&fields),
        (None, None) => {}
    }
    if !said.is_empty() {
        replies.turn(numbering.at(file, 0).turn(Role::System, said));
    }
}

/// The texts of a content's parts.
fn texts(content: &Fields<'_>) -> Vec<Part> {
    let mut said = Vec::new();
    for part in content.items("parts").unwrap_or_default().into_iter().filter_map(Fields::of) {
        part.text("text").into_iter().for_each(|text| push_text(&mut said, text));
    }
    said
}
