//! Google ADK sessions, and the cases of its eval sets. Who speaks is the event's author; results come in
//! events of an agent in the user role.

use std::collections::{BTreeSet, HashSet};

use laundromat_session::{Role, Turn};
use serde_json::value::RawValue;

use crate::by_name::pair_by_name;
use crate::chat::{At, id, named_call, time};
use crate::content::{push_text, tool_name};
use crate::error::ImportError;
use crate::fields::{Fields, items_of};
use crate::gemini::{Speaker, content, either, result};
use crate::input::{History, Input};
use crate::losses::Losses;
use crate::outlet::Draft;
use crate::reader::{Confidence, Each, Reader};
use crate::records::Line;
use crate::replies::Replies;
use crate::sample::Sample;
use crate::values::{Numbering, each_object, each_value, messages};

/// The kind of marker that a compaction becomes.
const COMPACTION: &str = "compaction";

/// ADK sessions.
#[derive(Debug)]
pub(super) struct AdkSession;

impl Reader for AdkSession {
    fn id(&self) -> &'static str {
        "adk-session"
    }

    fn title(&self) -> &'static str {
        "Google ADK session"
    }

    fn detect(&self, sample: &Sample) -> Option<Confidence> {
        let fields = match sample.records().next()? {
            Line::Object(fields) => fields,
            Line::List(raw) => items_of(raw)?.into_iter().find_map(Fields::of)?,
        };
        let is_case = |case: Fields<'_>| case.has("conversation") || case.has("conversation_scenario");
        if eval_cases(&fields).is_some_and(|cases| cases.into_iter().filter_map(Fields::of).all(is_case)) {
            return Some(Confidence::Sure);
        }
        let events = fields.items("events")?;
        let mut events = events.into_iter().filter_map(Fields::of).peekable();
        events.peek()?;
        let named = either(&fields, "appName", "app_name").is_some() || fields.has("context");
        // An event that is damaged has no author, and does not make it another format.
        events.any(|event| event.has("author")).then_some(if named { Confidence::Sure } else { Confidence::Likely })
    }

    fn read(&self, input: &Input, each: &mut Each<'_>) -> Result<(), ImportError> {
        let file = input.name();
        let history = input.history();
        each_value(input, self.id(), each, &mut |line, numbering, sink| {
            each_object(&line, numbering, sink, &mut |fields, sink| {
                if let Some(cases) = eval_cases(fields) {
                    for case in cases.into_iter().filter_map(Fields::of) {
                        sink.put_unmarked(eval_case(&case, &file, numbering))?;
                    }
                    return Ok(());
                }
                sink.put(session(fields, &file, numbering, history))
            })
        })
    }
}

/// The cases of an eval set.
fn eval_cases<'a>(fields: &Fields<'a>) -> Option<Vec<&'a RawValue>> {
    either(fields, "evalCases", "eval_cases").and_then(items_of)
}

fn session(fields: &Fields<'_>, file: &str, numbering: Numbering, history: History) -> Draft {
    let mut draft = Draft { own_id: id(fields, "id"), ..Draft::default() };
    let losses = &mut draft.losses;
    let (mut replies, mut named) = (Replies::default(), Vec::new());
    let (mut agents, mut seen) = (BTreeSet::new(), HashSet::new());
    let events = messages(fields.raw("events"), numbering, losses);
    for (place, (index, event)) in events.iter().enumerate() {
        let at = numbering.at(file, *index);
        let author = event.text("author").unwrap_or_default();
        // A resumed session may hold its history twice. Pieces may have the id of the whole event.
        if is_superseded(event, &events[place + 1..]) || id(event, "id").is_some_and(|id| !seen.insert(id)) {
            losses.duplicates.add(at.record);
            continue;
        }
        if author != "user" {
            agents.insert(author.clone().into_owned());
        }
        if let Some(compaction) = event.object("actions").and_then(|actions| actions.object("compaction"))
            && history == History::Live
        {
            replies.turn(marker(&compaction, at));
        }
        let before = replies.count();
        let speaker = if author == "user" { Speaker::User } else { Speaker::Model };
        let said = event.object("content");
        let parts = said.as_ref().and_then(|said| said.raw("parts"));
        content(parts, speaker, at, (&mut replies, &mut named), losses);
        replies.end_reply();
        if replies.count() == before {
            losses.kind("event:without content".to_owned(), at.record);
        }
        replies.stamp(before, time(event, "timestamp").as_deref());
    }
    draft.turns = replies.finish();
    pair_by_name(&mut draft.turns, &named);
    if agents.len() > 1 {
        draft.notes.push(format!("several agents speak: {}", agents.into_iter().collect::<Vec<_>>().join(", ")));
    }
    draft
}

/// A streamed piece, where the whole event follows.
fn is_superseded(event: &Fields<'_>, later: &[(usize, Fields<'_>)]) -> bool {
    let same = |(_, other): &&(usize, Fields<'_>)| {
        let invocation =
            |event: &Fields<'_>| either(event, "invocationId", "invocation_id").map(|raw| raw.get().to_owned());
        !other.is_true("partial")
            && other.text("author") == event.text("author")
            && invocation(other) == invocation(event)
    };
    event.is_true("partial") && later.iter().any(|other| same(&other))
}

/// A compaction, with the summary that stands for what it covers.
fn marker(compaction: &Fields<'_>, at: At<'_>) -> Turn {
    let mut said = Vec::new();
    let summary = either(compaction, "compactedContent", "compacted_content").and_then(Fields::of);
    for part in summary.and_then(|it| it.items("parts")).unwrap_or_default().into_iter().filter_map(Fields::of) {
        part.text("text").into_iter().for_each(|text| push_text(&mut said, text));
    }
    at.turn(Role::Marker(COMPACTION.to_owned()), said)
}

/// A case of an eval set: for each turn of a person, what was called and what was said.
fn eval_case(case: &Fields<'_>, file: &str, numbering: Numbering) -> Draft {
    let own_id = id(case, "eval_id").or_else(|| id(case, "evalId"));
    let mut draft = Draft { own_id, ..Draft::default() };
    let losses = &mut draft.losses;
    let (mut replies, mut named) = (Replies::default(), Vec::new());
    for (index, invocation) in messages(case.raw("conversation"), numbering, losses) {
        let at = numbering.at(file, index);
        let before = replies.count();
        let parts = |camel: &str, snake: &str| {
            either(&invocation, camel, snake).and_then(Fields::of).and_then(|said| said.raw("parts"))
        };
        content(parts("userContent", "user_content"), Speaker::User, at, (&mut replies, &mut named), losses);
        let between = either(&invocation, "intermediateData", "intermediate_data").and_then(Fields::of);
        if let Some(between) = &between {
            said_between(between, at, (&mut replies, &mut named), losses);
            tools(between, at, &mut replies, &mut named);
        }
        content(parts("finalResponse", "final_response"), Speaker::Model, at, (&mut replies, &mut named), losses);
        replies.end_reply();
        replies.stamp(
            before,
            time(&invocation, "creation_timestamp").or(time(&invocation, "creationTimestamp")).as_deref(),
        );
    }
    draft.turns = replies.finish();
    pair_by_name(&mut draft.turns, &named);
    draft
}

/// What agents said and did before the answer: newer cases have whole events, older ones the words of each
/// agent as a pair of its name and parts.
fn said_between(
    between: &Fields<'_>,
    at: At<'_>,
    (replies, named): (&mut Replies, &mut Vec<String>),
    losses: &mut Losses,
) {
    for event in objects_of(either(between, "invocationEvents", "invocation_events")) {
        let parts = event.object("content");
        content(parts.as_ref().and_then(|said| said.raw("parts")), Speaker::Model, at, (replies, named), losses);
        replies.end_reply();
    }
    let responses = either(between, "intermediateResponses", "intermediate_responses");
    for pair in responses.and_then(items_of).unwrap_or_default() {
        let parts = items_of(pair).and_then(|pair| pair.get(1).copied());
        content(parts, Speaker::Model, at, (replies, named), losses);
        replies.end_reply();
    }
}

fn objects_of(raw: Option<&RawValue>) -> impl Iterator<Item = Fields<'_>> {
    raw.and_then(items_of).unwrap_or_default().into_iter().filter_map(Fields::of)
}

fn tools(between: &Fields<'_>, at: At<'_>, replies: &mut Replies, named: &mut Vec<String>) {
    for call in objects_of(either(between, "toolUses", "tool_uses")) {
        let id = id(&call, "id").unwrap_or_default();
        replies.reply(at).calls.push(named_call(id, call.text("name"), call.raw("args")));
    }
    for response in objects_of(either(between, "toolResponses", "tool_responses")) {
        named.push(tool_name(response.text("name")));
        replies.turn(result(&response, at));
    }
    replies.end_reply();
}
