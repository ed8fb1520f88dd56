//! The handle that tests hold: a mock on a thread of its own, so that tests without a runtime can use it.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::decide::Decider;
use crate::error::MockError;
use crate::log::{Log, LoggedCall};
use crate::script::Script;
use crate::server::{Shared, serve};

/// Where a mock listens and logs.
#[derive(Debug, Clone, Default)]
pub struct Listen {
    /// The port; 0 for a free one.
    pub port: u16,
    /// A file for the calls, as JSON lines; the memory has them in any case.
    pub log: Option<PathBuf>,
}

/// A running mock. It stops when dropped.
#[derive(Debug)]
pub struct Mock {
    port: u16,
    log: Arc<Log>,
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Mock {
    /// Starts a mock on a free port.
    ///
    /// # Errors
    /// When the script makes no sense or the system refuses a port or a thread.
    pub fn start(script: Script) -> Result<Self, MockError> {
        Self::start_on(script, &Listen::default())
    }

    /// Starts a mock that listens and logs as `listen` says.
    ///
    /// # Errors
    /// As [`Mock::start`], and when the log cannot be opened.
    pub fn start_on(script: Script, listen: &Listen) -> Result<Self, MockError> {
        let log = Arc::new(Log::open(listen.log.as_deref(), script.bodies)?);
        let shared = Arc::new(Shared { decider: Decider::new(script)?, log: Arc::clone(&log) });
        let fail = |source| MockError::Listen { port: listen.port, source };
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, listen.port)).map_err(fail)?;
        socket.set_nonblocking(true).map_err(fail)?;
        let port = socket.local_addr().map_err(fail)?.port();
        // One thread serves all connections: what it did between two waits is seen whole or not at all, which
        // `calls` relies on.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(fail)?;
        let socket = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(socket).map_err(fail)?
        };
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("laundromat-mock".to_owned())
            .spawn(move || runtime.block_on(serve(socket, shared, stopped)))
            .map_err(fail)?;
        Ok(Self { port, log, runtime: handle, stop: Some(stop), thread: Some(thread) })
    }

    /// What an OpenAI client takes as its base URL, such as `http://127.0.0.1:4000/v1`.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.root_url())
    }

    /// What clients of the other routes take, such as `http://127.0.0.1:4000`: their paths hold the version.
    pub fn root_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Every call so far, in the order in which they were read. A call whose reply the caller has received in
    /// full is shown as answered. Not for use from within the mock's own thread.
    pub fn calls(&self) -> Vec<LoggedCall> {
        // The server's thread reports a reply in the same step that sends its last byte; once it has come round
        // to this task, that step is over.
        let (done, wait) = mpsc::channel();
        self.runtime.spawn(async move { done.send(()) });
        // A server that has ended drops the task, which ends the wait as well.
        let _ = wait.recv();
        self.log.calls()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server has been printed by its thread.
            let _ = thread.join();
        }
    }
}
