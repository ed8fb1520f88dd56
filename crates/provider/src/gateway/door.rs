//! Doors: each is a base URL with a token of its own, and leads to whoever opened it. A closed door's token
//! is worth nothing.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::answer::Reply;
use super::request::Request;

/// Requests that may wait at one door; more of them wait on their connections.
const WAITING: usize = 64;

/// A request that waits for its reply.
#[derive(Debug)]
pub struct Asked {
    /// What is asked.
    pub request: Request,
    reply: oneshot::Sender<Reply>,
}

impl Asked {
    pub(super) fn new(request: Request) -> (Self, oneshot::Receiver<Reply>) {
        let (reply, replied) = oneshot::channel();
        (Self { request, reply }, replied)
    }

    /// Sends the reply. A client that has gone away does not get it.
    pub fn reply(self, reply: Reply) {
        let _ = self.reply.send(reply);
    }
}

/// Where a token leads.
#[derive(Debug, Clone)]
pub(super) struct Behind {
    pub(super) model: String,
    pub(super) asked: mpsc::Sender<Asked>,
}

/// All open doors, by token.
#[derive(Debug, Default)]
pub(super) struct Doors(Mutex<HashMap<String, Behind>>);

impl Doors {
    pub(super) fn behind(&self, token: &str) -> Option<Behind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    fn close(&self, token: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }
}

/// An open door. It closes when dropped.
#[derive(Debug)]
pub struct Door {
    token: String,
    base: String,
    asked: mpsc::Receiver<Asked>,
    doors: Arc<Doors>,
}

impl Door {
    /// Opens a door to `model` on the gateway at `port`.
    pub(super) fn open(doors: &Arc<Doors>, port: u16, model: &str) -> Result<Self, getrandom::Error> {
        let token = token()?;
        let (sender, asked) = mpsc::channel(WAITING);
        let behind = Behind { model: model.to_owned(), asked: sender };
        doors.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), behind);
        let base = format!("http://127.0.0.1:{port}/t/{token}");
        Ok(Self { token, base, asked, doors: Arc::clone(doors) })
    }

    /// What a client takes as its base URL, without a version.
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// The token, which a client may send as its key.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The next request; waits for it.
    pub async fn next(&mut self) -> Option<Asked> {
        self.asked.recv().await
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.doors.close(&self.token);
    }
}

/// 128 bits that nobody can guess.
fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::from("lt"), |mut token, byte| {
        let _ = write!(token, "{byte:02x}");
        token
    }))
}
