//! What the run is held against: a loop over the same bodies that does nothing but send them and read the
//! replies to their end. Same client library, same settings, same number of threads.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use laundromat_store::Run;
use nix::sys::resource::{UsageWho, getrusage};
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};

use crate::common::measure::cpu;
use crate::provider::KEY;

/// First argument of the loop's process; URL, run folder and concurrency follow.
pub(crate) const ROLE: &str = "send-the-bodies";

/// A request as the run has sent it.
struct Sent {
    /// Decides the mock's answer, so both get the same.
    key: String,
    body: Vec<u8>,
}

/// The loop's process: prints requests, and microseconds of wall and CPU time from the first to the last.
/// Reading the bodies from the store comes before and is not in it.
pub(crate) fn send(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let (url, folder) = (arguments.next().expect("a URL"), arguments.next().expect("a folder"));
    let concurrency: usize = arguments.next().and_then(|text| text.parse().ok()).expect("a number");
    let sent = bodies(Path::new(&folder));
    let count = sent.len();
    rustls::crypto::ring::default_provider().install_default().expect("the first provider");
    let client = Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(256)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let left = Arc::new(Mutex::new(sent.into_iter()));
    let used = || cpu(&getrusage(UsageWho::RUSAGE_SELF).expect("usage"));
    let (started, before) = (Instant::now(), used());
    runtime.block_on(async {
        let workers: Vec<_> = (0..concurrency)
            .map(|_| tokio::spawn(work(client.clone(), format!("{url}/chat/completions"), Arc::clone(&left))))
            .collect();
        for worker in workers {
            worker.await.expect("a worker ends well");
        }
    });
    println!("{count} {} {}", started.elapsed().as_micros(), (used() - before).as_micros());
    ExitCode::SUCCESS
}

async fn work(client: Client, url: String, left: Arc<Mutex<std::vec::IntoIter<Sent>>>) {
    let next = || left.lock().expect("no worker panics while it holds this").next();
    while let Some(Sent { key, body }) = next() {
        let request = client
            .post(&url)
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {KEY}"))
            .header("x-client-request-id", key)
            .body(body);
        let response = request.send().await.expect("a reply");
        assert!(response.status().is_success(), "{}", response.status());
        response.bytes().await.expect("all of the reply");
    }
}

/// Every request of the run in `folder`.
fn bodies(folder: &Path) -> Vec<Sent> {
    let run = Run::open(folder).expect("a run");
    let mut calls = Vec::new();
    run.each_call(|call| calls.push((call.key, call.body))).expect("calls");
    let sent = calls.into_iter().map(|(key, digest)| Sent {
        key: blake3::Hash::from_bytes(key).to_hex().to_string(),
        body: run.body(&digest).expect("a body"),
    });
    sent.collect()
}
