//! The sockets behind the page: 127.0.0.1 alone, and nobody who names another host, comes from another page or lacks a
//! token is answered.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use laundromat_judge::Rubric;
use laundromat_session::Reading;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::book::{Book, Who};
use super::page;

/// No form of ours is longer.
const LONGEST_BODY: usize = 1 << 10;
/// How long a browser may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// What all connections share.
struct Shared {
    port: u16,
    /// One for each of [`Who::ALL`].
    tokens: [String; 3],
    rubric: Rubric,
    book: Mutex<Option<Book>>,
}

/// A served page. It stops when ended or dropped.
pub(super) struct Server {
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Listens on 127.0.0.1 at `port` (0 for a free one).
    ///
    /// # Errors
    /// When the system gives no port or no randomness.
    pub(super) async fn start(port: u16, book: Book, rubric: Rubric) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let tokens = [token()?, token()?, token()?];
        let shared = Arc::new(Shared { port, tokens, rubric, book: Mutex::new(Some(book)) });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { shared, accepting })
    }

    /// The address of each page.
    pub(super) fn pages(&self) -> Vec<(&'static str, String)> {
        let port = self.shared.port;
        let pages = Who::ALL.iter().zip(&self.shared.tokens);
        pages.map(|(who, token)| (who.name(), format!("http://127.0.0.1:{port}/t/{token}/"))).collect()
    }

    /// Stops, and hands back the book. Nobody's label is taken after this.
    pub(super) fn end(self) -> Option<Book> {
        self.accepting.abort();
        self.shared.book.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Accepts connections until it is aborted, and all of them with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let service = service_fn(move |request| serve(request, Arc::clone(&shared)));
                    let mut http = http1::Builder::new();
                    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
                    // How a connection ends is the browser's business.
                    let _ = http.serve_connection(TokioIo::new(stream), service).await;
                });
            }
            // Out of descriptors, say: the next connection may fare better.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// What a request comes to.
enum Answered {
    Page(StatusCode, String),
    /// The style sheet, which holds nothing of anybody's.
    Style,
    /// To another page of ours.
    See(String),
}

async fn serve(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Full<Bytes>>, Infallible> {
    let html = "text/html; charset=utf-8";
    let (status, body, kind, location) = match respond(request, &shared).await {
        Answered::Page(status, body) => (status, body, html, None),
        Answered::Style => (StatusCode::OK, page::STYLE.to_owned(), "text/css; charset=utf-8", None),
        Answered::See(place) => (StatusCode::SEE_OTHER, String::new(), html, HeaderValue::try_from(place).ok()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-type", kind),
        ("content-security-policy", page::POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
        // The token stands in the address: no other site is told of it.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    if let Some(location) = location {
        headers.insert(hyper::header::LOCATION, location);
    }
    Ok(response)
}

async fn respond(request: Request<Incoming>, shared: &Shared) -> Answered {
    let refuse = |status, text: &str| Answered::Page(status, page::message(text));
    let (head, body) = request.into_parts();
    if !is_ours(&head.headers, shared.port) {
        return refuse(StatusCode::FORBIDDEN, "this page answers on 127.0.0.1 alone, and to itself");
    }
    if head.uri.path() == "/style.css" {
        return Answered::Style;
    }
    let behind = head.uri.path().strip_prefix("/t/").unwrap_or_default();
    let (token, rest) = behind.split_once('/').unwrap_or((behind, ""));
    let known = Who::ALL.iter().zip(&shared.tokens).find(|(_, known)| known.as_str() == token);
    let Some((who, token)) = known.map(|(who, token)| (*who, token)) else {
        return refuse(StatusCode::NOT_FOUND, "open the address that was handed to you");
    };
    let base = format!("/t/{token}");
    let place: Option<usize> = rest.parse().ok().and_then(|place: usize| place.checked_sub(1));
    match (head.method, place) {
        (Method::GET, place) => {
            let book = shared.book.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(book) = book.as_ref() else { return refuse(StatusCode::GONE, "labelling has ended") };
            let shown =
                place.or_else(|| book.next(who)).and_then(|at| page::item(book, &shared.rubric, who, at, &base));
            Answered::Page(StatusCode::OK, shown.unwrap_or_else(|| page::nothing(book, who, &base)))
        }
        (Method::POST, Some(place)) => {
            let Ok(body) = Limited::new(body, LONGEST_BODY).collect().await else {
                return refuse(StatusCode::PAYLOAD_TOO_LARGE, "that is no label");
            };
            let body = body.to_bytes();
            let reading = std::str::from_utf8(&body).ok().and_then(|form| form.strip_prefix("reading="));
            let Some(reading) = reading.and_then(|reading| reading.parse::<Reading>().ok()) else {
                return refuse(StatusCode::BAD_REQUEST, "that is no label");
            };
            let mut book = shared.book.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(book) = book.as_mut() else { return refuse(StatusCode::GONE, "labelling has ended") };
            match book.label(who, place, reading) {
                Ok(()) => Answered::See(format!("{base}/")),
                Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &format!("the label was not saved: {error}")),
            }
        }
        _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "a label is chosen on its page"),
    }
}

/// Whether the browser means this server, and was not sent here by another page.
fn is_ours(headers: &HeaderMap, port: u16) -> bool {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let host = text(HOST).unwrap_or_default();
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let origin = text(ORIGIN).is_none_or(|origin| hosts.iter().any(|host| origin == format!("http://{host}")));
    hosts.iter().any(|known| known == host) && origin
}

/// 128 bits that nobody can guess.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |mut token, byte| {
        let _ = write!(token, "{byte:02x}");
        token
    }))
}
