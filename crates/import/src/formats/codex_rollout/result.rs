//! The output of a call: text, JSON text around the text, a list of blocks, or an object.

use serde_json::value::RawValue;

use crate::content::compact;
use crate::fields::{Fields, items_of, text_of};

/// What came out of a call.
pub(super) struct Outcome<'r> {
    pub(super) said: Said<'r>,
    pub(super) failed: bool,
}

/// The words of it.
pub(super) enum Said<'r> {
    Text(String),
    Blocks(Vec<&'r RawValue>),
}

/// Opens `raw`.
pub(super) fn outcome(raw: &RawValue) -> Outcome<'_> {
    if let Some(text) = text_of(raw) {
        let (text, failed) = unwrapped(&text).unwrap_or_else(|| (text.into_owned(), false));
        return Outcome { said: Said::Text(text), failed };
    }
    if let Some(object) = Fields::of(raw) {
        let failed = object.raw("success").is_some_and(|success| success.get() == "false");
        if object.text("type").is_some() {
            return Outcome { said: Said::Blocks(vec![raw]), failed };
        }
        if let Some(content) = object.raw("content") {
            let inner = outcome(content);
            return Outcome { failed: failed || inner.failed, ..inner };
        }
        let (text, failed) = unwrapped(raw.get()).unwrap_or_else(|| (compact(raw), failed));
        return Outcome { said: Said::Text(text), failed };
    }
    match items_of(raw) {
        Some(blocks) if blocks.iter().all(|block| is_block(block)) => {
            Outcome { said: Said::Blocks(blocks), failed: false }
        }
        _ => Outcome { said: Said::Text(compact(raw)), failed: false },
    }
}

fn is_block(raw: &RawValue) -> bool {
    let kind = Fields::of(raw).and_then(|block| block.text("type"));
    kind.is_some_and(|kind| kind.contains("text") || kind.contains("image") || kind.contains("content"))
}

/// The text inside `{"output": ..., "metadata": {"exit_code": ...}}`, and whether the command failed.
fn unwrapped(text: &str) -> Option<(String, bool)> {
    let object = text.trim_start().starts_with('{').then(|| Fields::parse(text).ok()).flatten()?;
    let metadata = object.object("metadata")?;
    let output = object.text("output")?;
    let failed = metadata.label("exit_code").is_some_and(|code| code != "0");
    Some((output.into_owned(), failed))
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{Said, outcome};

    #[test]
    fn outputs_have_many_shapes() {
        for (given, wanted, failed) in [
            (r#""plain""#, "plain", false),
            (r#""{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}""#, "a", false),
            (r#""{\"output\":\"a\",\"metadata\":{\"exit_code\":2}}""#, "a", true),
            (r#""{\"output\":\"a\"}""#, r#"{"output":"a"}"#, false),
            (r#"{"content":"a","success":false}"#, "a", true),
            (r#"{"output":"a","metadata":{"exit_code":1}}"#, "a", true),
            (r#"[{"type":"input_text","text":"a"}]"#, "1 blocks", false),
            (r#"{"type":"input_text","text":"a"}"#, "1 blocks", false),
            (r#"[{"name":"x"}]"#, r#"[{"name":"x"}]"#, false),
        ] {
            let raw: Box<RawValue> = serde_json::from_str(given).expect("JSON");
            let outcome = outcome(&raw);
            let said = match outcome.said {
                Said::Text(text) => text,
                Said::Blocks(blocks) => format!("{} blocks", blocks.len()),
            };
            assert_eq!((said.as_str(), outcome.failed), (wanted, failed), "{given}");
        }
    }
}
