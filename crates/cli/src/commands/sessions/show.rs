//! `sessions show`: a session to read, in a pager where there is a terminal. All text of it is hostile: what does
//! not print is shown, not sent.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use console::{Style, set_colors_enabled};
use laundromat_import::{Input, read_each};
use laundromat_report::escape::visible;
use laundromat_session::{Part, Role, Session, Turn};

use crate::args::SessionsShow;
use crate::error::CliError;
use crate::exit_code::ExitCode;

pub(super) fn run(args: &SessionsShow) -> Result<ExitCode, CliError> {
    let terminal = io::stdout().is_terminal();
    if terminal && std::env::var_os("NO_COLOR").is_none() {
        // The pager stands between us and the terminal.
        set_colors_enabled(true);
    }
    let mut found = false;
    let mut out = Out::new(terminal && !args.no_pager);
    read_each(&Input::file(&args.file), args.format.as_deref(), &mut |imported| {
        if args.session.as_ref().is_none_or(|id| *id == imported.session.id) {
            found = true;
            out.session(&imported.session, args.search.as_deref());
        }
        Ok(())
    })?;
    out.finish();
    if !found {
        return Err(CliError::NoSuchSession {
            path: args.file.clone(),
            session: args.session.clone().unwrap_or_default(),
        });
    }
    Ok(ExitCode::Pass)
}

/// Where the text goes: to a pager, or straight out.
struct Out {
    pager: Option<std::process::Child>,
}

impl Out {
    fn new(paged: bool) -> Self {
        Self { pager: paged.then(pager).flatten() }
    }

    fn line(&mut self, text: &str) {
        // A reader who has seen enough is no error.
        let _ = match self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            Some(stdin) => writeln!(stdin, "{text}"),
            None => writeln!(io::stdout(), "{text}"),
        };
    }

    fn finish(self) {
        if let Some(mut pager) = self.pager {
            drop(pager.stdin.take());
            let _ = pager.wait();
        }
    }

    fn session(&mut self, session: &Session, search: Option<&str>) {
        let title = session.title.as_deref().map_or_else(String::new, |title| format!(": {title}"));
        let origin = session.origin.as_deref().unwrap_or("?");
        let head = format!("{}{title} ({origin}, {} turns)", session.id, session.turns.len());
        self.line(&Style::new().bold().apply_to(visible(&head)).to_string());
        for (index, turn) in session.turns.iter().enumerate() {
            let lines = lines(turn);
            let wanted = search.is_none_or(|word| lines.iter().any(|(text, _)| holds(text, word)));
            if wanted {
                self.line("");
                self.line(&style(turn).bold().apply_to(visible(&heading(index + 1, turn))).to_string());
                for (text, kind) in lines {
                    self.line(&marked(&visible(&text), search, &kind.style()));
                }
            }
        }
    }
}

/// The pager that the user has chosen, or the usual one.
fn pager() -> Option<std::process::Child> {
    let chosen = std::env::var("PAGER").unwrap_or_default();
    let mut words = chosen.split_whitespace();
    let mut command = match words.next() {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        None => {
            let mut command = Command::new("less");
            command.args(["-R", "-F", "-X"]);
            command
        }
    };
    command.stdin(Stdio::piped()).spawn().ok()
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Said,
    Thought,
    Called,
}

impl Kind {
    fn style(self) -> Style {
        match self {
            Self::Said => Style::new(),
            Self::Thought => Style::new().dim(),
            Self::Called => Style::new().yellow(),
        }
    }
}

fn style(turn: &Turn) -> Style {
    match turn.role {
        Role::User if turn.synthetic.is_none() => Style::new().green(),
        Role::Assistant => Style::new().cyan(),
        Role::Tool if turn.is_error => Style::new().red(),
        Role::Tool => Style::new().magenta(),
        Role::User | Role::System | Role::Marker(_) | Role::Other(_) => Style::new().blue(),
    }
}

/// Whose turn it is, and what is known of it.
fn heading(number: usize, turn: &Turn) -> String {
    let mut heading = match &turn.role {
        Role::Marker(kind) => format!("#{number} -- {kind} --"),
        role => format!("#{number} {}", role.as_str()),
    };
    let failed = turn.is_error.then_some("failed");
    for note in [turn.synthetic.as_deref(), failed].into_iter().flatten() {
        heading += &format!(" ({note})");
    }
    if let Some(id) = &turn.call_id {
        heading += &format!(" <- {id}");
    }
    if let Some(ts) = &turn.ts {
        heading += &format!("  {ts}");
    }
    heading
}

/// The lines of a turn.
fn lines(turn: &Turn) -> Vec<(String, Kind)> {
    let mut lines = Vec::new();
    let mut add = |text: &str, kind| lines.extend(text.lines().map(|line| (format!("  {line}"), kind)));
    if let Some(reasoning) = &turn.reasoning {
        add(reasoning, Kind::Thought);
    }
    for part in &turn.parts {
        match part {
            Part::Text(text) => add(text, Kind::Said),
            Part::Image(Some(address)) if !address.starts_with("data:") => {
                add(&format!("[image {address}]"), Kind::Thought)
            }
            Part::Image(_) => add("[image]", Kind::Thought),
            Part::Other(kind) => add(&format!("[{kind}]"), Kind::Thought),
        }
    }
    for call in &turn.calls {
        add(&format!("{} -> {}({})", call.id, call.name, call.arguments), Kind::Called);
    }
    lines
}

/// Whether `text` holds `word`, in any case of ASCII letters.
fn holds(text: &str, word: &str) -> bool {
    text.to_ascii_lowercase().contains(&word.to_ascii_lowercase())
}

/// The line in its style, with what was searched for marked.
fn marked(text: &str, search: Option<&str>, style: &Style) -> String {
    let Some(word) = search.filter(|word| !word.is_empty()) else { return style.apply_to(text).to_string() };
    let (lower, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut shown = String::new();
    let mut done = 0;
    for (at, found) in lower.match_indices(&word) {
        shown += &style.apply_to(&text[done..at]).to_string();
        done = at + found.len();
        shown += &Style::new().reverse().apply_to(&text[at..done]).to_string();
    }
    shown + &style.apply_to(&text[done..]).to_string()
}

#[cfg(test)]
mod tests {
    use console::Style;
    use laundromat_session::{Role, Turn};

    use super::{heading, holds, lines, marked};

    #[test]
    fn a_turn_reads_as_what_it_is() {
        let mut turn = Turn::text_of(Role::User, "a\nb");
        turn.synthetic = Some("meta".to_owned());
        turn.reasoning = Some("hm".to_owned());
        assert_eq!(heading(3, &turn), "#3 user (meta)");
        let texts: Vec<String> = lines(&turn).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["  hm", "  a", "  b"]);
    }

    #[test]
    fn what_is_searched_for_is_found_in_any_case_and_nothing_is_lost() {
        assert!(holds("Port", "oRT") && !holds("Port", "x"));
        for word in [None, Some(""), Some("PORT"), Some("x")] {
            let shown = marked("Port and port", word, &Style::new());
            assert_eq!(console::strip_ansi_codes(&shown), "Port and port");
        }
    }
}
