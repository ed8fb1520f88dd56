//! The two ends of a reply on the wire: a body that may stop short, and a stream that reports when a whole
//! body has left.

use std::io;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::log::Log;

/// The call whose reply is in the connection's write buffer as a whole; 0 for none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaving(Arc<AtomicU64>);

/// How a body leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// In one piece, under its length.
    AtOnce,
    /// In chunks of so many bytes, wherever they end, under no length.
    Chunks(NonZeroUsize),
}

/// The body of a reply.
pub(crate) struct ReplyBody {
    left: Bytes,
    pace: Pace,
    /// What `content-length` says, where it is sent.
    promised: u64,
    end: End,
}

enum End {
    /// All of it is sent; the call is reported when it has left.
    Whole { ordinal: u64, leaving: Leaving },
    /// It stops short; what there is must leave first.
    Short { flushed: bool },
}

impl ReplyBody {
    /// The whole of `bytes`, as the reply to the call `ordinal` (0 for what is not logged).
    pub(crate) fn whole(bytes: Vec<u8>, pace: Pace, ordinal: u64, leaving: Leaving) -> Self {
        Self { promised: bytes.len() as u64, left: bytes.into(), pace, end: End::Whole { ordinal, leaving } }
    }

    /// Half of `bytes`, under the length of all of them.
    pub(crate) fn half(mut bytes: Vec<u8>, pace: Pace) -> Self {
        let promised = bytes.len() as u64;
        bytes.truncate(bytes.len() / 2);
        Self { promised, left: bytes.into(), pace, end: End::Short { flushed: false } }
    }

    fn next(&mut self) -> Option<Bytes> {
        match self.pace {
            _ if self.left.is_empty() => None,
            Pace::AtOnce => Some(std::mem::take(&mut self.left)),
            Pace::Chunks(size) => Some(self.left.split_to(size.get().min(self.left.len()))),
        }
    }
}

/// The error by which a body stops short.
#[derive(Debug, thiserror::Error)]
#[error("the reply is cut as the script says")]
pub(crate) struct Cut;

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if let Some(bytes) = self.next() {
            if let End::Whole { ordinal, leaving } = &self.end
                && self.left.is_empty()
            {
                leaving.0.store(*ordinal, Ordering::Relaxed);
            }
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match &mut self.end {
            End::Whole { .. } => Poll::Ready(None),
            End::Short { flushed: true } => Poll::Ready(Some(Err(Cut))),
            End::Short { flushed } => {
                *flushed = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && matches!(self.end, End::Whole { .. })
    }

    fn size_hint(&self) -> SizeHint {
        match self.pace {
            Pace::AtOnce => SizeHint::with_exact(self.promised),
            Pace::Chunks(_) => SizeHint::default(),
        }
    }
}

/// A connection that logs a call as answered once its reply has been handed to the system.
pub(crate) struct Wire {
    stream: TokioIo<TcpStream>,
    leaving: Leaving,
    log: Arc<Log>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, leaving: Leaving, log: Arc<Log>) -> Self {
        Self { stream: TokioIo::new(stream), leaving, log }
    }
}

impl Read for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl Write for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    /// The HTTP layer flushes the stream when its own buffer is empty, so what was leaving has left.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        match self.leaving.0.swap(0, Ordering::Relaxed) {
            0 => {}
            ordinal => self.log.answered(ordinal),
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
}
