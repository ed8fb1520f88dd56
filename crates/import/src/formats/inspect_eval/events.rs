//! The messages of a sample that has them only in its events: what the model was sent last, and its reply.
//! Newer logs keep each message once in a pool and name ranges of it.

use serde_json::value::RawValue;

use crate::fields::{Fields, items_of};

/// The messages of the last request, and the reply to it.
pub(super) fn messages<'a>(sample: &Fields<'a>) -> Vec<&'a RawValue> {
    let pool = sample
        .items("message_pool")
        .or_else(|| sample.object("events_data").and_then(|data| data.items("messages")))
        .unwrap_or_default();
    let mut events = sample.items("events").unwrap_or_default().into_iter().rev().filter_map(Fields::of);
    let is_request = |event: &Fields<'_>| event.text("event").as_deref() == Some("model");
    let Some(event) = events.find(is_request) else { return Vec::new() };
    let mut messages = event.items("input").unwrap_or_default();
    if messages.is_empty() {
        for range in event.items("input_refs").unwrap_or_default() {
            messages.extend(slice(&pool, range));
        }
    }
    messages.extend(event.object("output").and_then(|output| reply(&output)));
    messages
}

/// The messages that a range of the pool names.
fn slice<'a, 'p>(pool: &'p [&'a RawValue], range: &RawValue) -> &'p [&'a RawValue] {
    let ends = items_of(range).unwrap_or_default();
    let number = |at: usize| ends.get(at).and_then(|raw| raw.get().parse::<usize>().ok());
    match (number(0), number(1)) {
        (Some(start), Some(end)) => pool.get(start..end.min(pool.len())).unwrap_or_default(),
        _ => &[],
    }
}

fn reply<'a>(output: &Fields<'a>) -> Option<&'a RawValue> {
    output.items("choices")?.into_iter().find_map(Fields::of)?.raw("message")
}
