//! Sockets: it listens on 127.0.0.1 alone, and answers nobody who names another host or no open door.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::answer::{self, Declined, Kind, Rendered, Reply};
use super::door::{Asked, Door, Doors};
use super::request::{Delivery, Unread};
use super::target::{Shape, Target, target};

/// No compaction request that makes sense is longer.
const LONGEST_BODY: usize = 32 << 20;
/// Connections at one time.
const CONNECTIONS: usize = 512;
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// A running gateway. It stops when dropped.
#[derive(Debug)]
pub struct Gateway {
    port: u16,
    doors: Arc<Doors>,
    accepting: JoinHandle<()>,
}

impl Gateway {
    /// Listens on 127.0.0.1 at `port` (0 for a free one), on the runtime this is called in.
    ///
    /// # Errors
    /// When the system gives no port.
    pub async fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let doors = Arc::new(Doors::default());
        let accepting = tokio::spawn(accept(listener, port, Arc::clone(&doors)));
        Ok(Self { port, doors, accepting })
    }

    /// Opens a door to `model`.
    ///
    /// # Errors
    /// When the system has no randomness for a token.
    pub fn door(&self, model: &str) -> io::Result<Door> {
        Door::open(&self.doors, self.port, model).map_err(io::Error::other)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts connections until it is aborted, and all of them with it.
async fn accept(listener: TcpListener, port: u16, doors: Arc<Doors>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let doors = Arc::clone(&doors);
                connections.spawn(async move {
                    let service = service_fn(move |request| serve(request, port, Arc::clone(&doors)));
                    let mut http = http1::Builder::new();
                    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
                    // How a connection ends is the client's business.
                    let _ = http.serve_connection(TokioIo::new(stream), service).await;
                    drop(slot);
                });
            }
            // Out of descriptors, say: the next connection may fare better.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

async fn serve(
    request: hyper::Request<Incoming>,
    port: u16,
    doors: Arc<Doors>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let rendered = respond(request, port, &doors).await;
    let failed = rendered.status >= 400;
    let mut response = Response::new(Full::new(Bytes::from(rendered.body)));
    *response.status_mut() = StatusCode::from_u16(rendered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Ok(content_type) = rendered.content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    if failed {
        // Failed calls have been tried as often as the experiment says: a client's own retries would multiply.
        response.headers_mut().insert("x-should-retry", hyper::header::HeaderValue::from_static("false"));
    }
    Ok(response)
}

async fn respond(request: hyper::Request<Incoming>, port: u16, doors: &Doors) -> Rendered {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let (token, rest) = door_of(path);
    let target = target(head.method.as_str(), rest);
    let shape = match &target {
        Target::Generate(shape) => *shape,
        Target::Gemini { .. } => Shape::Gemini,
        Target::Models(_) | Target::Nothing => Shape::Chat,
    };
    let decline = |kind, message: String| answer::refuse(shape, &Declined::new(kind, message));
    if !is_ours(&head.headers, port) {
        return decline(Kind::WrongHost, "this gateway answers on 127.0.0.1 alone".to_owned());
    }
    let Some(behind) = doors.behind(token) else {
        return decline(Kind::WrongToken, "no trial has this token; use the base URL that was handed over".to_owned());
    };
    let (model, delivery) = match target {
        Target::Generate(_) => (None, None),
        Target::Gemini { model, stream } => {
            let as_events = head.uri.query().unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
            let delivery = match (stream, as_events) {
                (false, _) => Delivery::Whole,
                (true, true) => Delivery::Events,
                (true, false) => Delivery::Array,
            };
            (Some(model), Some(delivery))
        }
        Target::Models(listing) => return answer::models(listing, &behind.model),
        Target::Nothing => {
            return decline(
                Kind::NotHere,
                "this gateway takes chat/completions, responses, messages and models/NAME:generateContent".to_owned(),
            );
        }
    };
    let raw = match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => body.to_bytes().to_vec(),
        Err(_) => {
            return decline(Kind::TooLarge, format!("a request ends early or has more than {LONGEST_BODY} bytes"));
        }
    };
    let request = match (Unread { shape, model, delivery, raw }).read() {
        Ok(request) => request,
        Err(malformed) => return decline(Kind::Invalid, malformed.to_string()),
    };
    let delivery = request.delivery;
    let (asked, replied) = Asked::new(request);
    let gone = || Reply::Declined(Declined::new(Kind::WrongToken, "the trial is over"));
    let reply = match behind.asked.send(asked).await {
        Ok(()) => replied.await.unwrap_or_else(|_| gone()),
        Err(_) => gone(),
    };
    answer::render(shape, delivery, reply)
}

/// The token in a path and what stands behind it.
fn door_of(path: &str) -> (&str, &str) {
    let behind = path.strip_prefix("/t/").unwrap_or_default();
    behind.split_once('/').unwrap_or((behind, ""))
}

/// Whether the client means this server: a page in a browser that was led here names another host.
fn is_ours(headers: &HeaderMap, port: u16) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::door_of;

    #[test]
    fn a_token_is_the_first_part_of_a_path() {
        assert_eq!(door_of("/t/abc/v1/models"), ("abc", "v1/models"));
        assert_eq!(door_of("/t/abc"), ("abc", ""));
        for path in ["/v1/models", "/", "", "/t/", "//t/abc/v1"] {
            assert_eq!(door_of(path).0, "", "{path}");
        }
    }
}
