//! `template check`: whose turn planted text is in once a model's own template has written the request.

use std::fs::File;
use std::io::BufReader;

use laundromat_compactor::Request;
use laundromat_session::{MessageRole, Plant};
use laundromat_template::{By, Found, Source, Span, Template, check};

use crate::args::TemplateCheck;
use crate::commands::load;
use crate::commands::sent::sent;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &TemplateCheck) -> Result<ExitCode, CliError> {
    let path = &args.template;
    let file = File::open(path).map_err(|source| CliError::Unreadable { path: path.clone(), source })?;
    let source =
        Source::read(BufReader::new(file)).map_err(|source| CliError::TemplateSource { path: path.clone(), source })?;
    let broken = |source| CliError::Template { path: path.clone(), source };
    let template = Template::new(source).map_err(broken)?;
    let compactor = load::arm(&args.arm)?;
    let subject = load::subject(&args.from)?;
    let sent = sent(&compactor, &subject, &args.from.date.to_string())?;
    let mut code = ExitCode::Pass;
    for request in sent.requests() {
        let spans = spans(request, subject.plant.as_ref());
        if spans.is_empty() {
            line("nothing that is asked about is in this request");
            continue;
        }
        let found = check(&template, &request.messages, &spans).map_err(broken)?;
        tell(&found);
        if found == Found::UnknownTemplate {
            return Ok(ExitCode::Inconclusive);
        }
        if found.gives_to_user() {
            code = ExitCode::GateFailed;
        }
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
    if found.gives_to_user() {
        note("text that is not the user's on the wire is in a user's turn for the model");
    }
}
