//! The gateway without a run: any agent can be pointed at it, and what it asks is kept and looked through.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laundromat_provider::gateway::{Answer, Asked, Declined, Gateway, Reply};
use laundromat_provider::key::{Sample, call_key};
use laundromat_provider::{Client, Model, Purpose, Unanswered, reply};
use laundromat_session::{Exposure, Message, Outcome};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::bounded::Bounded;
use super::ending::{Came, unsendable};
use super::sighting::{Planted, Seen};
use crate::error::RunError;
use crate::experiment::Limits;

/// How the gateway is run alone.
#[derive(Debug)]
pub struct Alone {
    /// Who answers.
    pub model: Model,
    /// How long to wait and how often to try.
    pub limits: Limits,
    /// What to look for.
    pub planted: Option<Planted>,
    /// Folder for what is captured, one file a request.
    pub folder: PathBuf,
    /// The port; 0 for a free one.
    pub port: u16,
}

/// What happens.
#[derive(Debug)]
pub enum AloneEvent {
    /// It listens.
    Open {
        /// What a client takes as its base URL, without a version.
        base_url: String,
        /// What it takes as its key.
        token: String,
    },
    /// A request was answered and kept.
    Caught(Box<Caught>),
}

/// A captured request.
#[derive(Debug)]
pub struct Caught {
    /// Its file.
    pub file: PathBuf,
    /// Its shape.
    pub shape: &'static str,
    /// Messages in it.
    pub messages: usize,
    /// Characters in it.
    pub chars: usize,
    /// Where the plant stands; `None` where none is looked for.
    pub seen: Option<Seen>,
    /// What its call came to.
    pub outcome: Outcome,
}

struct Shared {
    client: Client,
    model: Model,
    planted: Option<Planted>,
    folder: PathBuf,
}

/// Answers until `stop` is done.
///
/// # Errors
/// When a key is missing, the port is taken, or the folder cannot be written.
pub async fn serve(alone: Alone, stop: impl Future<Output = ()>, notify: impl Fn(AloneEvent)) -> Result<(), RunError> {
    let Alone { model, limits, planted, folder, port } = alone;
    let client = Client::new([&model], limits.sending())?;
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, error))?;
    let gateway = Gateway::start(port).await.map_err(|source| RunError::Gateway { port, source })?;
    let mut door = gateway.door(model.name()).map_err(|source| RunError::Gateway { port, source })?;
    notify(AloneEvent::Open { base_url: door.base_url().to_owned(), token: door.token().to_owned() });
    let shared = Arc::new(Shared { client, model, planted, folder });
    let mut calls: JoinSet<Result<Caught, RunError>> = JoinSet::new();
    let mut number = 0;
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => return Ok(()),
            Some(asked) = door.next() => {
                number += 1;
                calls.spawn(answer(Arc::clone(&shared), asked, number));
            }
            Some(done) = calls.join_next(), if !calls.is_empty() => {
                let caught = done.map_err(|error| RunError::Internal(format!("a call failed: {error}")))?;
                notify(AloneEvent::Caught(Box::new(caught?)));
            }
        }
    }
}

async fn answer(shared: Arc<Shared>, asked: Asked, number: u32) -> Result<Caught, RunError> {
    let request = &asked.request;
    let bounded = Bounded::of(&shared.model, request);
    let model = &*bounded.model;
    let asked_for = match model.body(&request.messages) {
        Ok(body) => {
            let sample = Sample { trial: "gateway", ordinal: number };
            let key = call_key(Purpose::Summarize, &model.key_endpoint(), &body.digest, sample);
            shared.client.ask(model, &request.messages, &body, &key).await
        }
        Err(broken) => Err(Unanswered::Failed(unsendable(&broken))),
    };
    let (reply, came) = match asked_for {
        Ok(logged) => {
            let route = model.route();
            let completion = reply::stored(route, &logged.reply)
                .map_err(|error| RunError::Internal(format!("a reply cannot be read: {error}")))?;
            let answer = Answer::new(request, number, route, &logged.reply, &completion);
            (Reply::Answer(Box::new(answer)), Came::Reply(Box::new(completion)))
        }
        Err(Unanswered::Failed(failure)) => (Reply::Declined(Declined::from(&failure)), Came::Failure(failure)),
        Err(Unanswered::NotRecorded) => {
            return Err(RunError::Internal("a call without a cassette was not recorded".to_owned()));
        }
    };
    let seen = shared.planted.as_ref().map(|planted| planted.seen_in(&request.messages));
    let text = match &came {
        Came::Reply(completion) => Value::from(completion.text.as_str()),
        Came::Failure(failure) => Value::from(failure.to_string()),
        Came::OverBudget(_) | Came::TooMany => Value::Null,
    };
    let kept = json!({
        "shape": request.shape.id(), "model": request.model, "left_out": bounded.left_out,
        "max_tokens": bounded.max_tokens,
        "exposure": seen.as_ref().map(|seen| seen.exposure.id()),
        "role": seen.as_ref().and_then(|seen| seen.role).map(laundromat_session::MessageRole::as_str),
        "place": seen.as_ref().map(Seen::place),
        "outcome": came.outcome().id(), "reply": text,
        // It was read as JSON before.
        "request": serde_json::from_slice::<Value>(&request.raw).unwrap_or_default(),
    });
    let file = keep(&shared.folder, number, &kept).map_err(|error| unwritable(&shared.folder, error))?;
    let caught = Caught {
        file,
        shape: request.shape.id(),
        messages: request.messages.len(),
        chars: request.messages.iter().map(Message::chars).sum(),
        seen,
        outcome: came.outcome(),
    };
    asked.reply(reply);
    Ok(caught)
}

/// Writes one file; what an earlier gateway left in the folder stays.
fn keep(folder: &Path, number: u32, kept: &Value) -> io::Result<PathBuf> {
    for number in number.. {
        let path = folder.join(format!("request-{number:04}.json"));
        match std::fs::File::options().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(format!("{kept:#}\n").as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no number is left for another file"))
}

fn unwritable(folder: &Path, source: io::Error) -> RunError {
    RunError::Unwritable { path: folder.to_owned(), source }
}

impl Caught {
    /// One line about where the plant stands.
    pub fn plant(&self) -> String {
        let Some(seen) = &self.seen else { return "no plant is looked for".to_owned() };
        let role = seen.role.map(laundromat_session::MessageRole::as_str).unwrap_or_default();
        match seen.exposure {
            Exposure::None => "the plant is not in it".to_owned(),
            _ if seen.role.is_none() => "nothing was planted".to_owned(),
            exposure => format!("the plant is in it: {exposure}, {}, role {role}", seen.place()),
        }
    }
}
