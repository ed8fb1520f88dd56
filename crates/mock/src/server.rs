//! Plans on sockets: accepts connections, reads each request to its end, and does what the plan says.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::decide::Decider;
use crate::log::Log;
use crate::plan::{Act, Head, Media, Reply};
use crate::wire::{Leaving, Pace, ReplyBody, Wire};

/// No request that makes sense is longer.
const LONGEST_BODY: usize = 64 << 20;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) decider: Decider,
    pub(crate) log: Arc<Log>,
}

/// Accepts connections until `stop` is dropped or sent.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>, mut stop: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stop => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&shared)))),
                // Out of descriptors, say: the next connection may fare better.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Without it small replies wait for acknowledgements; a stream that cannot is served all the same.
    let _ = stream.set_nodelay(true);
    let leaving = Leaving::default();
    let wire = Wire::new(stream, leaving.clone(), Arc::clone(&shared.log));
    let service = service_fn(move |request| answer(request, Arc::clone(&shared), leaving.clone()));
    // How a connection ends is the client's business, or a fault's.
    let _ = http1::Builder::new().serve_connection(wire, service).await;
}

/// Why a connection is closed in place of a reply.
#[derive(Debug, thiserror::Error)]
enum Closed {
    #[error("the request could not be read")]
    Unread,
    #[error("the script says so")]
    Scripted,
    #[error("the reply could not be built")]
    Unbuilt,
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    leaving: Leaving,
) -> Result<Response<ReplyBody>, Closed> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, LONGEST_BODY).collect().await.map_err(|_| Closed::Unread)?.to_bytes();
    let plan = shared.decider.plan(
        &Head { method: head.method.as_str(), path: head.uri.path(), query: head.uri.query(), headers: &head.headers },
        &body,
    );
    let ordinal = plan.note.map_or(0, |note| shared.log.read(note, &body));
    drop(body);
    let latency = shared.decider.script.latency_ms;
    if latency > 0 && !matches!(plan.act, Act::Hang(_)) {
        tokio::time::sleep(Duration::from_millis(latency)).await;
    }
    match plan.act {
        Act::Reply(reply) => respond(&shared, reply, |bytes, pace| ReplyBody::whole(bytes, pace, ordinal, leaving)),
        Act::Cut(reply) => respond(&shared, reply, ReplyBody::half),
        Act::Drop => Err(Closed::Scripted),
        // Where the client goes away first, this is dropped at that moment.
        Act::Hang(bound) => {
            tokio::time::sleep(bound).await;
            Err(Closed::Scripted)
        }
    }
}

fn respond(
    shared: &Shared,
    reply: Reply,
    body: impl FnOnce(Vec<u8>, Pace) -> ReplyBody,
) -> Result<Response<ReplyBody>, Closed> {
    let (kind, pace) = match reply.media {
        Media::Json => ("application/json", Pace::AtOnce),
        Media::Events => ("text/event-stream", Pace::Chunks(shared.decider.script.stream_chunk_bytes)),
    };
    let mut response = Response::builder().status(reply.status).header(CONTENT_TYPE, kind);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(body(reply.body, pace)).map_err(|_| Closed::Unbuilt)
}
