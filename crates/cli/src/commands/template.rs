//! `template check`: whose turn planted text is in once a model's own template has written the request.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use laundromat_compactor::Request;
use laundromat_session::{MessageRole, Plant};
use laundromat_template::{By, Found, Render, Source, Span, Template, TemplateError, check};

use crate::args::TemplateCheck;
use crate::commands::load;
use crate::commands::sent::sent;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::llama_server::Server;
use crate::terminal::{line, note};

pub(crate) fn run(args: &TemplateCheck) -> Result<ExitCode, CliError> {
    let compactor = load::arm(&args.arm)?;
    let subject = load::subject(&args.from)?;
    let sent = sent(&compactor, &subject, &args.from.date.to_string())?;
    let mut code = ExitCode::Pass;
    if let Some(path) = &args.template {
        let template = read(path)?;
        let broken = |source| CliError::Template { path: path.clone(), source };
        code = look(&template, sent.requests(), subject.plant.as_ref(), broken)?;
    }
    if let Some(url) = &args.server {
        let server = Server::new(url)?;
        note(&format!("as the server at {url} renders it:"));
        let broken = |source| CliError::TemplateServer { server: url.clone(), source };
        code = worse(code, look(&server, sent.requests(), subject.plant.as_ref(), broken)?);
    }
    Ok(code)
}

fn read(path: &Path) -> Result<Template, CliError> {
    let file = File::open(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
    let source = Source::read(BufReader::new(file));
    let source = source.map_err(|source| CliError::TemplateSource { path: path.to_owned(), source })?;
    Template::new(source).map_err(|source| CliError::Template { path: path.to_owned(), source })
}

/// Of two answers the one that says more against the request.
fn worse(one: ExitCode, other: ExitCode) -> ExitCode {
    let found = [ExitCode::GateFailed, ExitCode::Inconclusive].into_iter().find(|code| [one, other].contains(code));
    found.unwrap_or(ExitCode::Pass)
}

fn look(
    renders: &impl Render,
    requests: &[Request],
    plant: Option<&Plant>,
    broken: impl Fn(TemplateError) -> CliError,
) -> Result<ExitCode, CliError> {
    let mut code = ExitCode::Pass;
    for request in requests {
        let spans = spans(request, plant);
        if spans.is_empty() {
            line("nothing that is asked about is in this request");
            continue;
        }
        let found = check(renders, &request.messages, &spans).map_err(&broken)?;
        tell(&found);
        if found == Found::UnknownTemplate {
            return Ok(ExitCode::Inconclusive);
        }
        code = worse(
            code,
            match () {
                () if found.gives_to_user() => ExitCode::GateFailed,
                () if found.is_unsure() => ExitCode::Inconclusive,
                () => ExitCode::Pass,
            },
        );
    }
    Ok(code)
}

/// What is asked about: the plant, or all tool results where there is none.
fn spans(request: &Request, plant: Option<&Plant>) -> Vec<Span> {
    match plant {
        Some(plant) => request.places(plant).into_iter().map(|(message, bytes)| Span { message, bytes }).collect(),
        None => {
            let messages = request.messages.iter().enumerate();
            let results = messages.filter(|(_, message)| message.role == MessageRole::Tool);
            results.map(|(index, message)| Span { message: index, bytes: 0..message.text.len() }).collect()
        }
    }
}

fn tell(found: &Found) {
    let Found::Turns { family, pieces, forged } = found else {
        line("the template's turn tokens are none that are known: whose turns they open cannot be told");
        return;
    };
    line(&format!("turn tokens: {family}"));
    for piece in pieces {
        let by = match piece.by {
            By::Template => "by the template",
            By::Forged => "by a forged token",
        };
        let whose = match &piece.owner {
            Some(owner) => format!("in a turn of {owner}, {by}"),
            None => "left out by the template".to_owned(),
        };
        let (message, from, to) = (piece.message, piece.bytes.start, piece.bytes.end);
        line(&format!("message {message} ({} on the wire), bytes {from} to {to}: {whose}", piece.wire.as_str()));
    }
    for (message, token) in forged {
        line(&format!("message {message}, byte {}: forged turn token {}", token.at, token.text));
    }
    if found.is_unsure() {
        note("a turn has a name that is not known here: whose it is for the model cannot be told");
    }
    if found.gives_to_user() {
        note("text that is not the user's on the wire is in a user's turn for the model");
    }
}
