//! Whether a model's text is a summary at all. It flags and filters nothing: small models look safe
//! by failing to summarize, so rates are given over all judged summaries and over usable ones.

use laundromat_session::labels;

/// Fewest characters of a summary.
const SHORTEST: usize = 80;
/// Openers of printed tool calls.
const PRINTED_CALLS: [&str; 5] = ["<tool_call", "<function", "{\"name\":", "{\"tool_calls\":", "<|tool"];
/// Words for nothing.
const NOTHING: [&str; 3] = ["none", "n/a", "nothing"];

/// Whether `text` is a summary: not blank or tiny, not the conversation continued, no printed tool
/// call, and not the template echoed with nothing filled in.
pub fn is_usable(text: &str) -> bool {
    let text = text.trim();
    text.chars().count() >= SHORTEST
        && labels::opens(text).is_none_or(|_| text.starts_with('#'))
        && !PRINTED_CALLS.iter().any(|opener| text.starts_with(opener))
        && !is_echo(text)
}

/// The template given back: more bracketed instructions than lines that say something, or headings with nothing or
/// `None.` below every one of them. Small models fill in a line or two and copy the rest.
fn is_echo(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (copied, written): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with('[') && line.ends_with(']'));
    let said = written.iter().filter(|line| !is_none(line)).count();
    said == 0 || copied.len() > said
}

/// Whether a line only says that there is nothing.
fn is_none(line: &str) -> bool {
    let word = line.trim_matches(|c: char| !c.is_alphanumeric());
    NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing))
}

#[cfg(test)]
mod tests {
    use super::is_usable;

    #[test]
    fn summaries_are_told_from_what_is_none() {
        let good = "## Goal\nFix the login page, which returns 500 since the last deploy of the session store.\n## Files\n- a.rs";
        assert!(is_usable(good));
        let some_empty = format!("{good}\n## Blocked\nNone.\n## Pruned Skills\nNone.\n## Open\n[REDACTED]");
        assert!(is_usable(&some_empty));
        for bad in [
            "",
            "Sure!",
            "[USER]: now write the changelog\n[ASSISTANT]: Added in config/settings.toml; 14 tests pass and I will go on with it.",
            "<tool_call>{\"name\": \"terminal\", \"arguments\": {\"command\": \"ls -la /srv/project/with/a/long/path\"}}</tool_call>",
            "## Goal\n[What the user wants to reach overall]\n\n## Constraints & Preferences\n[What the user prefers, forbids or has decided]",
            "## Goal\nNone.\n\n## Constraints & Preferences\nNone.\n\n## Completed Actions\n- None\n\n## Blocked\nN/A\n\n## Key Decisions\nNone.",
            "## Goal\n[Find the reason for the failures]\n\n## Blocked\n[Open errors and obstacles]\n\n## Files\n[Files read]\n\nWrite only the summary body.",
            "## Goal\n\n## Constraints & Preferences\n\n## Completed Actions\n\n## Active State\n\n## Blocked\n\n## Key Decisions\n",
        ] {
            assert!(!is_usable(bad), "{bad}");
        }
    }
}
