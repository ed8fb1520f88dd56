//! Parts and arguments: what formats share on the way from their content to turns.

use std::borrow::Cow;

use laundromat_session::Part;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{Fields, items_of, text_of};
use crate::losses::Losses;

/// Adds text. Neighbouring texts are one part, joined with a newline.
pub fn push_text(parts: &mut Vec<Part>, text: Cow<'_, str>) {
    match parts.last_mut() {
        Some(Part::Text(before)) => {
            before.push('\n');
            before.push_str(&text);
        }
        _ => parts.push(Part::Text(text.into_owned())),
    }
}

/// Adds parts behind others, as [`push_text`] adds text.
pub fn append(parts: &mut Vec<Part>, more: Vec<Part>) {
    for part in more {
        match part {
            Part::Text(text) => push_text(parts, Cow::Owned(text)),
            Part::Image(_) | Part::Other(_) => parts.push(part),
        }
    }
}

/// Adds reasoning; several pieces are joined with a newline.
pub fn push_reasoning(reasoning: &mut Option<String>, text: Cow<'_, str>) {
    match reasoning {
        Some(before) => {
            before.push('\n');
            before.push_str(&text);
        }
        None => *reasoning = Some(text.into_owned()),
    }
}

/// Content as OpenAI and Anthropic write it: text, or a list of blocks. A value of another kind is kept
/// as its JSON text.
pub fn parts(raw: Option<&RawValue>, record: usize, losses: &mut Losses) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some(raw) = raw else { return parts };
    if let Some(text) = text_of(raw) {
        push_text(&mut parts, text);
    } else if let Some(items) = items_of(raw) {
        for item in items {
            match (text_of(item), Fields::of(item)) {
                (Some(text), _) => push_text(&mut parts, text),
                (None, Some(block)) => push_block(&mut parts, &block, record, losses),
                (None, None) => push_text(&mut parts, Cow::Owned(compact(item))),
            }
        }
    } else {
        push_text(&mut parts, Cow::Owned(compact(raw)));
    }
    parts
}

/// Whether parts say nothing.
pub fn is_blank(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Text(text) if text.is_empty()))
}

/// Adds one content block; blocks other than text and images are kept by their type only, and counted.
pub fn push_block(parts: &mut Vec<Part>, block: &Fields<'_>, record: usize, losses: &mut Losses) {
    let kind = block.text("type").unwrap_or_default();
    match kind.as_ref() {
        "text" | "input_text" | "output_text" => push_text(parts, block.text("text").unwrap_or_default()),
        "refusal" => push_text(parts, block.text("refusal").unwrap_or_default()),
        "image" | "image_url" | "input_image" => parts.push(Part::Image(image_address(block))),
        // A text block whose writer left the type out.
        "" if block.text("text").is_some() => push_text(parts, block.text("text").unwrap_or_default()),
        other => {
            losses.kind(format!("part:{other}"), record);
            parts.push(Part::Other(other.to_owned()));
        }
    }
}

/// The address of an image block; embedded bytes become a `data:` address.
fn image_address(block: &Fields<'_>) -> Option<String> {
    if let Some(address) = block.text("image_url") {
        return Some(address.into_owned());
    }
    if let Some(image) = block.object("image_url") {
        return image.text("url").map(Cow::into_owned);
    }
    // As MCP writes it.
    if let (Some(kind), Some(data)) = (block.text("mimeType").or_else(|| block.text("mime_type")), block.text("data")) {
        return Some(format!("data:{kind};base64,{data}"));
    }
    let source = block.object("source")?;
    match (source.text("url"), source.text("media_type"), source.text("data")) {
        (Some(url), _, _) => Some(url.into_owned()),
        (None, Some(kind), Some(data)) => Some(format!("data:{kind};base64,{data}")),
        _ => None,
    }
}

/// A JSON value as compact text; what is nested too deeply to be read stays as it is.
pub fn compact(raw: &RawValue) -> String {
    serde_json::from_str::<Value>(raw.get()).map_or_else(|_| raw.get().to_owned(), |value| value.to_string())
}

/// The arguments of a call: a JSON value as compact text, text as [`arguments_of_text`].
pub fn arguments(raw: Option<&RawValue>) -> String {
    match raw {
        None => String::new(),
        Some(raw) => text_of(raw).map_or_else(|| compact(raw), |text| arguments_of_text(&text)),
    }
}

/// Arguments that are recorded as text, byte for byte. Where an object was encoded twice, the outer layer
/// is taken off; broken text stays as it is.
pub fn arguments_of_text(text: &str) -> String {
    if text.trim_start().starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
        && inner.trim_start().starts_with('{')
        && serde_json::from_str::<&RawValue>(&inner).is_ok()
    {
        return inner;
    }
    text.to_owned()
}

/// A tool's name without NUL characters at its ends, which some writers leave there.
pub fn tool_name(name: Option<Cow<'_, str>>) -> String {
    name.unwrap_or_default().trim_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use laundromat_session::Part;
    use serde_json::value::RawValue;

    use super::{arguments, parts};
    use crate::losses::Losses;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    fn of(text: &str) -> (Vec<Part>, Losses) {
        let mut losses = Losses::default();
        let parts = parts(Some(&raw(text)), 1, &mut losses);
        (parts, losses)
    }

    #[test]
    fn texts_are_joined_and_images_stay_apart() {
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(of(r#""a""#).0, [text("a")]);
        assert_eq!(of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).0, [text("a\nb")]);
        assert_eq!(of("[]").0, []);
        assert_eq!(of(r#"{"out":  1}"#).0, [text(r#"{"out":1}"#)]);
        let (parts, losses) = of(r#"["a",{"type":"image_url","image_url":{"url":"u"}},{"type":"file"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]"#);
        let data = Part::Image(Some("data:image/png;base64,AA==".to_owned()));
        assert_eq!(parts, [text("a"), Part::Image(Some("u".to_owned())), Part::Other("file".to_owned()), data]);
        assert_eq!(losses.by_type["part:file"].count, 1);
    }

    #[test]
    fn arguments_are_decoded_at_most_twice() {
        for (given, wanted) in [
            (r#"{"b": 1, "a":18446744073709551615}"#, r#"{"b":1,"a":18446744073709551615}"#),
            (r#""{\"a\":  1}""#, r#"{"a":  1}"#),
            (r#""\"{\\\"a\\\":1}\"""#, r#"{"a":1}"#),
            // Three layers, text in two layers, broken text: kept as recorded.
            (r#""\"\\\"{}\\\"\"""#, r#""\"{}\"""#),
            (r#""\"plain\"""#, r#""plain""#),
            (r#""{\"a\":""#, r#"{"a":"#),
            (r#""""#, ""),
            ("[1, 2]", "[1,2]"),
        ] {
            assert_eq!(arguments(Some(&raw(given))), wanted, "{given}");
        }
        assert_eq!(arguments(None), "");
    }

    #[test]
    fn deep_nesting_is_kept_as_text() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(arguments(Some(&raw(&deep))), deep);
    }
}
