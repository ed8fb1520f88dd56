//! Plans on sockets: accepts connections, reads each request to its end, and does what the plan says.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::decide::{Act, Decider, Head, Reply};
use crate::log::Log;
use crate::wire::{Leaving, ReplyBody, Wire};

const KEY_HEADER: HeaderName = HeaderName::from_static("x-client-request-id");
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
        &Head {
            method: head.method.as_str(),
            path: head.uri.path(),
            authorization: text(&head.headers, &AUTHORIZATION),
            content_type: text(&head.headers, &CONTENT_TYPE),
            key: text(&head.headers, &KEY_HEADER),
        },
        &body,
    );
    let ordinal = plan.note.map_or(0, |note| shared.log.read(note, &body));
    drop(body);
    let latency = shared.decider.script.latency_ms;
    if latency > 0 && !matches!(plan.act, Act::Hang(_)) {
        tokio::time::sleep(Duration::from_millis(latency)).await;
    }
    match plan.act {
        Act::Reply(reply) => respond(reply, |bytes| ReplyBody::whole(bytes, ordinal, leaving)),
        Act::Cut(reply) => respond(reply, ReplyBody::half),
        Act::Drop => Err(Closed::Scripted),
        // Where the client goes away first, this is dropped at that moment.
        Act::Hang(bound) => {
            tokio::time::sleep(bound).await;
            Err(Closed::Scripted)
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn respond(reply: Reply, body: impl FnOnce(Vec<u8>) -> ReplyBody) -> Result<Response<ReplyBody>, Closed> {
    let mut response = Response::builder().status(reply.status).header(CONTENT_TYPE, "application/json");
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(body(reply.body)).map_err(|_| Closed::Unbuilt)
}
