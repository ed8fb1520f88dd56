//! The words around a record's own in flattened text: its label, what closes it, its calls. All of
//! them come from the label table; this file only fills them.

use std::borrow::Cow;

use laundromat_session::labels::{Arguments, LabelStyle};
use laundromat_session::{Call, Role};
use serde_json::{Map, Value};

use crate::escape::Escaper;
use crate::python_text;
use crate::records::Record;

/// What opens `record`, number `number` from 1, in flattened text.
pub(crate) fn label(style: &LabelStyle, record: &Record, number: usize, escaper: Option<&Escaper>) -> String {
    let template = match &record.role {
        Role::User => style.user,
        Role::Assistant => style.assistant,
        Role::Tool => style.tool,
        Role::System | Role::Marker(_) | Role::Other(_) => style.system,
    };
    let number = number.to_string();
    let id = attribute(&record.call_id, escaper);
    let name = attribute(&record.tool_name, escaper);
    let filled = fill(template, &[("{id}", &id), ("{name}", &name), ("{n}", &number)]);
    match &record.role {
        // A role no style has a word for stands in the system label's shape, in its own name.
        Role::Other(name) => {
            let name = if name.is_empty() { "unknown" } else { name };
            let name = attribute(name, escaper);
            filled.replace("SYSTEM", &name.to_uppercase()).replace("System", &name).replace("system", &name)
        }
        _ => filled,
    }
}

/// What closes `record`.
pub(crate) fn end(style: &LabelStyle, record: &Record) -> &'static str {
    match &record.role {
        Role::User => style.ends.user,
        Role::Assistant => style.ends.assistant,
        Role::Tool => style.ends.tool,
        Role::System | Role::Marker(_) | Role::Other(_) => style.ends.system,
    }
}

/// The calls of a record whose text is `said`; empty where it has none, or the style writes none.
pub(crate) fn call_lines(style: &LabelStyle, said: &str, calls: &[Call], escaper: Option<&Escaper>) -> String {
    let lines = &style.calls;
    if calls.is_empty() || lines.each.is_empty() {
        return String::new();
    }
    let mut out = String::from(if said.trim().is_empty() { lines.open_alone } else { lines.open });
    for (place, call) in calls.iter().enumerate() {
        if place > 0 {
            out.push_str(lines.between);
        }
        let arguments = arguments(lines.arguments, &call.arguments);
        let arguments = escaper.map_or(Cow::Borrowed(&*arguments), |escaper| escaper.text(&arguments));
        let id = attribute(&call.id, escaper);
        let name = attribute(&call.name, escaper);
        out.push_str(&fill(lines.each, &[("{id}", &id), ("{name}", &name), ("{arguments}", &arguments)]));
    }
    out.push_str(lines.close);
    out
}

fn attribute<'t>(text: &'t str, escaper: Option<&Escaper>) -> Cow<'t, str> {
    escaper.map_or(Cow::Borrowed(text), |escaper| escaper.attribute(text))
}

/// Fills holes in one pass: what is filled in is never looked at for holes again.
pub(crate) fn fill(template: &str, holes: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + holes.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match holes.iter().find(|(hole, _)| rest.starts_with(hole)) {
            Some((hole, text)) => {
                out.push_str(text);
                rest = &rest[hole.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Arguments as a style writes them; what is no JSON object stays as recorded.
fn arguments(style: Arguments, recorded: &str) -> Cow<'_, str> {
    let pairs = |join: &str, pair: &dyn Fn(&str, &Value) -> String| {
        let object: Map<String, Value> = serde_json::from_str(recorded).ok()?;
        Some(object.iter().map(|(key, value)| pair(key, value)).collect::<Vec<_>>().join(join))
    };
    let written = match style {
        Arguments::Recorded => None,
        Arguments::Python => Some(python_text::arguments(recorded)),
        Arguments::Pairs => pairs(", ", &|key, value| format!("{key}={value}")),
        Arguments::Lines => pairs("\n", &|key, value| match value {
            Value::String(text) => format!("{key}: {text}"),
            other => format!("{key}: {other}"),
        }),
    };
    written.map_or(Cow::Borrowed(recorded), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use laundromat_session::Call;
    use laundromat_session::labels::{self, Arguments};

    use super::{arguments, call_lines, fill};
    use crate::axes::Escape;
    use crate::escape::Escaper;

    #[test]
    fn holes_are_filled_once() {
        assert_eq!(fill("[{n}] {name} {x} {", &[("{n}", "{name}"), ("{name}", "b")]), "[{name}] b {x} {");
    }

    #[test]
    fn arguments_are_written_as_the_style_says() {
        let json = "{\"a\": \"x y\", \"n\": [1]}";
        assert_eq!(arguments(Arguments::Pairs, json), "a=\"x y\", n=[1]");
        assert_eq!(arguments(Arguments::Lines, json), "a: x y\nn: [1]");
        assert_eq!(arguments(Arguments::Python, json), "{'a': 'x y', 'n': [1]}");
        assert_eq!(arguments(Arguments::Pairs, "[1"), "[1");
    }

    #[test]
    fn calls_cannot_leave_their_attribute() {
        let style = labels::by_id("xml-message-type").expect("a style");
        let call = Call { id: "c".to_owned(), name: "a\"><b".to_owned(), arguments: "<x>".to_owned() };
        assert_eq!(
            call_lines(style, "", &[call], Some(&Escaper::new(&Escape::Xml))),
            "<tool_call id=\"c\" name=\"a&quot;&gt;&lt;b\">&lt;x&gt;</tool_call>"
        );
    }
}
