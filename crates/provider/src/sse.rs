//! Server-sent events: bytes in any chunks become events. The crates that do this well work on an async
//! stream; a reply that was kept is read from its bytes, so this is the line protocol alone.

use std::mem;

use memchr::memchr2;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// An event. Its data stays bytes: whoever reads it as JSON refuses what is no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The name, where the event has one.
    pub(crate) name: Option<String>,
    /// The data lines, joined by line feeds.
    pub(crate) data: Vec<u8>,
}

/// Makes events of chunks. What no blank line has closed is no event.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The line so far.
    line: Vec<u8>,
    /// The last byte was a carriage return, so that a line feed would belong to it.
    after_return: bool,
    /// The first line is behind us.
    is_under_way: bool,
    name: Option<String>,
    data: Option<Vec<u8>>,
}

impl Decoder {
    /// Takes the next bytes, and gives the events that they complete.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            if mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = mem::take(&mut self.line);
            events.extend(self.take_line(&line));
        }
        events
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line =
            if mem::replace(&mut self.is_under_way, true) { line } else { line.strip_prefix(BOM).unwrap_or(line) };
        if line.is_empty() {
            let name = self.name.take();
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            // A comment, or a field for reconnecting, which nobody does here.
            _ => {}
        }
        None
    }
}

/// Whether bytes are a stream of events: no JSON and no HTML begins with one of its fields.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
    [&b"data:"[..], b"event:", b":", b"id:", b"retry:"].iter().any(|field| bytes.starts_with(field))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decoder, Event, is_stream};

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        chunks.iter().flat_map(|chunk| decoder.push(chunk)).collect()
    }

    fn event(name: Option<&str>, data: &str) -> Event {
        Event { name: name.map(str::to_owned), data: data.as_bytes().to_vec() }
    }

    #[test]
    fn lines_end_in_three_ways() {
        for text in [
            "event: a\ndata: 1\n\ndata: 2\n\n",
            "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n",
            "event: a\rdata: 1\r\rdata: 2\r\r",
        ] {
            assert_eq!(events(&[text.as_bytes()]), [event(Some("a"), "1"), event(None, "2")], "{text:?}");
        }
    }

    #[test]
    fn comments_and_unknown_fields_are_skipped() {
        let text = "\u{feff}: PROCESSING\n\nid: 7\nretry: 3\ndata\ndata:x\ndata:  y\nlevel: 3\n\nevent: nothing\n\n";
        assert_eq!(events(&[text.as_bytes()]), [event(None, "\nx\n y")]);
    }

    #[test]
    fn what_is_not_closed_is_no_event() {
        assert_eq!(events(&[b"data: 1\n\ndata: 2\n"]), [event(None, "1")]);
        assert_eq!(events(&[b"data: 1\n\ndata: 2\n", b"\n"]).len(), 2);
    }

    #[test]
    fn streams_are_told_from_documents() {
        for text in ["data: {}", "event: x\n", ": PROCESSING\n\n", "\n\ndata:{}", "\u{feff}data: {}"] {
            assert!(is_stream(text.as_bytes()), "{text:?}");
        }
        for text in ["", "{\"data\": 1}", "[]", "<html>", "\n {}", "date: now", "\"data:\""] {
            assert!(!is_stream(text.as_bytes()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn chunks_change_nothing(text in "(event: ?[a-c]|data: ?[xä: ]{0,4}|: c|\r|\n|\r\n|\u{feff}){0,40}", cuts in prop::collection::vec(0_usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(events(&chunks), events(&[bytes]));
        }
    }
}
