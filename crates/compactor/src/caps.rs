//! Caps as data: how long one text, one call's arguments and all records together may be.

use std::ops::Range;

use laundromat_session::Role;
use laundromat_session::fault::choose_remedy;
use laundromat_session::fields::{Document, Fields};
use laundromat_session::holes;
use laundromat_session::labels::{self, LabelStyle};
use serde_json::Value;

use crate::tracked::{Tracked, char_offset};

/// What the markers inside a shortened text may tell.
const TEXT_HOLES: &[&str] = &["{omitted}", "{total}"];
/// What the marker for whole records that are left out has to tell.
const GAP_HOLES: &[&str] = &["{first}", "{last}", "{chars}"];
/// The least bound on all records together: below it there is no room for slices and their markers.
const LEAST_TOTAL: usize = 1000;

/// All caps of an arm. Arms with equal caps see the identical view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// Cap on each record's text.
    pub text: Option<TextCap>,
    /// Caps on the texts of single roles, in place of `text`.
    pub roles: RoleCaps,
    /// Cap on each call's arguments.
    pub arguments: Option<ArgumentsCap>,
    /// Bound on all records together.
    pub total: Option<TotalCap>,
}

/// Caps on texts by who speaks; a role without one has the cap for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleCaps {
    /// User turns.
    pub user: Option<TextCap>,
    /// Assistant turns.
    pub assistant: Option<TextCap>,
    /// Tool results.
    pub tool: Option<TextCap>,
}

impl Caps {
    /// The cap on a record's text.
    pub(crate) fn text_of(&self, role: &Role) -> Option<&TextCap> {
        let own = match role {
            Role::User => self.roles.user.as_ref(),
            Role::Assistant => self.roles.assistant.as_ref(),
            Role::Tool => self.roles.tool.as_ref(),
            Role::System | Role::Marker(_) | Role::Other(_) => None,
        };
        own.or(self.text.as_ref())
    }
}

/// Longer texts keep their head and tail around a marker. All counts are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCap {
    /// Texts up to this length stay whole.
    pub limit: usize,
    /// Characters kept at the start.
    pub head: usize,
    /// Characters kept at the end.
    pub tail: usize,
    /// What stands between; may hold `{omitted}` and `{total}`.
    pub marker: String,
}

/// Longer arguments keep their head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentsCap {
    /// Arguments up to this length stay whole.
    pub limit: usize,
    /// Characters kept.
    pub head: usize,
    /// What follows them.
    pub marker: String,
}

/// When all records are longer than `limit`, slices of whole records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalCap {
    /// Most characters of all records with their labels and the blank lines between.
    pub limit: usize,
    /// Most slices.
    pub slices: usize,
    /// What stands for the records between two slices: holds `{first}`, `{last}` and `{chars}`, or
    /// nothing at all.
    pub marker: String,
    /// The record that the oldest slice begins with.
    pub start: SliceStart,
    /// The label style that sizes are counted with, so that every arm counts alike.
    pub labels: &'static str,
    /// What shortens the middle of a record that is longer than a slice.
    pub record_marker: String,
}

/// Where the oldest slice of a view begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SliceStart {
    /// At any record.
    #[default]
    Any,
    /// At a genuine user turn, where there is one in it.
    UserTurn,
}

impl TotalCap {
    pub(crate) fn style(&self) -> &'static LabelStyle {
        labels::by_id(self.labels).unwrap_or(&labels::STYLES[0])
    }

    /// The marker for records `first..=last` (from 1) of `chars` characters.
    pub(crate) fn gap(&self, first: usize, last: usize, chars: usize) -> String {
        self.marker
            .replace("{first}", &first.to_string())
            .replace("{last}", &last.to_string())
            .replace("{chars}", &thousands(chars))
    }
}

impl TextCap {
    /// Caps `text` in place.
    pub(crate) fn apply(&self, text: &mut Tracked) {
        // Bytes are never fewer than characters, so most texts are passed without counting.
        if text.text().len() <= self.limit {
            return;
        }
        let total = text.text().chars().count();
        if total > self.limit {
            let marker = fill_marker(&self.marker, total - self.head - self.tail, total);
            text.keep_ends(self.head, self.tail, &marker);
        }
    }
}

fn fill_marker(marker: &str, omitted: usize, total: usize) -> String {
    marker.replace("{omitted}", &thousands(omitted)).replace("{total}", &thousands(total))
}

/// Shortens `text` in the middle to at most `target` characters. With the `label` that stands before
/// it, it is cut half and half: the head's half holds the label.
pub(crate) fn shorten_middle(text: &mut Tracked, target: usize, label: usize, marker: &str) {
    let length = text.text().chars().count();
    if length <= target {
        return;
    }
    let total = label + length;
    // The widest marker is the one that reports everything omitted.
    let width = fill_marker(marker, total, total).chars().count();
    let kept = (label + target).saturating_sub(width);
    let tail = (kept / 2).min(target.saturating_sub(width));
    let head = (kept - kept / 2).saturating_sub(label);
    let marker = fill_marker(marker, length - head - tail, total);
    // A target too small even for the marker leaves the marker's head.
    let marker: String = marker.chars().take(target).collect();
    text.keep_ends(head, tail, &marker);
}

impl ArgumentsCap {
    /// The capped arguments as flattened text shows them: cut, and no longer JSON.
    pub(crate) fn flat(&self, arguments: &str) -> String {
        if arguments.len() <= self.limit || arguments.chars().count() <= self.limit {
            return arguments.to_owned();
        }
        format!("{}{}", &arguments[..char_offset(arguments, self.head)], self.marker)
    }

    /// The capped arguments as the text of a JSON object. A cut text is wrapped, and cut further until
    /// the wrapped text is no longer than the flattened one, since escaping can make it longer.
    pub(crate) fn object(&self, arguments: String) -> String {
        if arguments.len() <= self.limit || arguments.chars().count() <= self.limit {
            return arguments;
        }
        object_within(&arguments, self.head, self.head + self.marker.chars().count())
    }
}

/// `{"truncated": head}` with at most `head` characters of `arguments`, at most `limit` long in all.
pub(crate) fn object_within(arguments: &str, head: usize, limit: usize) -> String {
    let mut keep = head;
    loop {
        let cut = &arguments[..char_offset(arguments, keep)];
        let wrapped = laundromat_session::normal_form::wrap("truncated", Value::from(cut));
        let length = wrapped.chars().count();
        if length <= limit {
            return wrapped;
        }
        if keep == 0 {
            return "{}".to_owned();
        }
        // Dropping the excess is enough where nothing is escaped; dense escapes need more rounds,
        // and halving at the most keeps a round from dropping too much.
        keep = keep.saturating_sub(length - limit).max(keep / 2).min(keep - 1);
    }
}

/// `12,345`.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Reads the `[caps]` table of an arm.
pub(crate) fn read<'i>(document: &mut Document<'i>, mut caps: Fields<'i>) -> Caps {
    let mut text_cap = |key: &'static str| caps.table(document, key).and_then(|fields| text_cap(document, fields));
    let text = text_cap("text");
    let roles = RoleCaps { user: text_cap("user"), assistant: text_cap("assistant"), tool: text_cap("tool") };
    let arguments = caps.table(document, "arguments").and_then(|mut fields| {
        let limit = fields.required(document, "limit");
        let head = fields.required_at::<usize>(document, "head");
        let marker = fields.required(document, "marker");
        if let (Some(limit), Some((head, span))) = (limit, &head)
            && *head > limit
        {
            document.fault(
                span,
                &fields.path_of("head"),
                "the head is longer than the limit",
                "make limit at least head",
            );
        }
        fields.finish(document);
        Some(ArgumentsCap { limit: limit?, head: head?.0, marker: marker? })
    });
    let total = caps.table(document, "total").and_then(|fields| total(document, fields));
    caps.finish(document);
    Caps { text, roles, arguments, total }
}

/// Reads the cap of texts.
fn text_cap<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<TextCap> {
    let limit = fields.required(document, "limit");
    let head = fields.required(document, "head");
    let tail = fields.required(document, "tail");
    let marker = text_marker(document, &mut fields, "marker");
    let span = fields.span();
    let path = fields.path_of("limit");
    fields.finish(document);
    let cap = TextCap { limit: limit?, head: head?, tail: tail?, marker: marker? };
    if cap.head + cap.tail > cap.limit {
        document.fault(
            &span,
            &path,
            "head and tail together are longer than the limit",
            "make limit at least head + tail",
        );
    }
    Some(cap)
}

fn total<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<TotalCap> {
    let limit = fields.required_at::<usize>(document, "limit");
    let slices = fields.required_at::<usize>(document, "slices");
    let marker = fields.required_at::<String>(document, "marker");
    let record_marker = text_marker(document, &mut fields, "record-marker");
    let labels = style(document, &mut fields, "labels").and_then(|(style, _)| style);
    if let Some((limit, span)) = &limit
        && *limit < LEAST_TOTAL
    {
        document.fault(
            span,
            &fields.path_of("limit"),
            format!("{limit} characters are too few for all records together"),
            format!("write at least {LEAST_TOTAL}"),
        );
    }
    let start = fields.optional(document, "start").unwrap_or_default();
    if let Some((marker, span)) = marker.as_ref().filter(|(marker, _)| !marker.is_empty()) {
        for problem in holes::problems(marker, GAP_HOLES) {
            document.fault(
                span,
                &fields.path_of("marker"),
                problem,
                format!("write each of {} once and no other braces", holes::listed(GAP_HOLES)),
            );
        }
    }
    if let Some((0, span)) = &slices {
        document.fault(span, &fields.path_of("slices"), "0 slices keep nothing", "write at least 1");
    }
    fields.finish(document);
    Some(TotalCap {
        limit: limit?.0,
        slices: slices?.0,
        marker: marker?.0,
        start,
        labels: labels?.id,
        record_marker: record_marker?,
    })
}

/// Takes a marker that stands inside a shortened text.
pub(crate) fn text_marker<'i>(
    document: &mut Document<'i>,
    fields: &mut Fields<'i>,
    key: &'static str,
) -> Option<String> {
    let (marker, span) = fields.required_at::<String>(document, key)?;
    for problem in holes::unknown(&marker, TEXT_HOLES) {
        document.fault(
            &span,
            &fields.path_of(key),
            problem,
            format!("write no other braces than {}", holes::listed(TEXT_HOLES)),
        );
    }
    Some(marker)
}

/// Takes a key that names a label style, with its byte range; an unknown style is a fault.
pub(crate) fn style<'i>(
    document: &mut Document<'i>,
    fields: &mut Fields<'i>,
    key: &'static str,
) -> Option<(Option<&'static LabelStyle>, Range<usize>)> {
    let (id, span) = fields.required_at::<String>(document, key)?;
    let found = labels::by_id(&id);
    if found.is_none() {
        let known: Vec<&str> = labels::STYLES.iter().map(|style| style.id).collect();
        document.fault(
            &span,
            &fields.path_of(key),
            format!("unknown label style \"{id}\""),
            choose_remedy(&id, &known),
        );
    }
    Some((found, span))
}

#[cfg(test)]
mod tests {
    use super::{ArgumentsCap, object_within, thousands};

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 12345, 1_234_567].map(thousands), ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn wrapped_arguments_stay_within_the_limit() {
        let cap = ArgumentsCap { limit: 1500, head: 1200, marker: "...".to_owned() };
        for c in ["a", "\"", "\u{1}", "ä", "🦀"] {
            let long = c.repeat(2000);
            let object = cap.object(long.clone());
            assert!(object.chars().count() <= 1203, "{c}");
            assert!(serde_json::from_str::<serde_json::Map<_, _>>(&object).is_ok(), "{object}");
            assert_eq!(cap.flat(&long).chars().count(), 1203);
        }
        assert_eq!(object_within("aaaa", 4, 3), "{}");
    }
}
