//! The header of a GGUF model, as far as its chat template. Every length in it is checked before anything
//! is kept, so that a broken or hostile file costs no more than its own bytes.

use std::io::{self, Read};

/// What every such file begins with.
pub const MAGIC: &[u8] = b"GGUF";
/// The key of the template.
const KEY: &[u8] = b"tokenizer.chat_template";
/// Longest text that is kept.
const LONGEST: u64 = 16 * 1024 * 1024;
/// Most values of a header, and most items of a list.
const MOST: u64 = 64 * 1024 * 1024;
/// Deepest lists of lists.
const DEEPEST: usize = 4;

/// What is wrong with a header.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// It ends too early, or cannot be read.
    #[error("the header of the model cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is of another version.
    #[error("GGUF version {0} is not known; versions 2 and 3 are")]
    Version(u32),
    /// A length cannot be meant.
    #[error("the header of the model is broken: {what} of {length}")]
    Length {
        /// What has the length.
        what: &'static str,
        /// The length.
        length: u64,
    },
    /// A value is of no known type.
    #[error("the header of the model is broken: a value of type {0}")]
    Type(u32),
    /// The template is no text.
    #[error("the model's chat template is not UTF-8 text")]
    NoText,
}

/// The chat template in the header of a model; `None` where it has none.
///
/// # Errors
/// When the header is broken.
pub fn chat_template(reader: impl Read) -> Result<Option<String>, GgufError> {
    let mut header = Header { reader };
    let mut magic = [0; 4];
    header.reader.read_exact(&mut magic)?;
    let version = header.u32()?;
    if magic != *MAGIC || !(2..=3).contains(&version) {
        return Err(GgufError::Version(version));
    }
    let _tensors = header.u64()?;
    let values = header.length("values", MOST)?;
    for _ in 0..values {
        let key = header.text("a key", LONGEST)?;
        let kind = header.u32()?;
        if key == KEY && kind == TEXT {
            let text = header.text("a template", LONGEST)?;
            return String::from_utf8(text).map(Some).map_err(|_| GgufError::NoText);
        }
        header.skip(kind, 0)?;
    }
    Ok(None)
}

const TEXT: u32 = 8;
const LIST: u32 = 9;

struct Header<R> {
    reader: R,
}

impl<R: Read> Header<R> {
    fn u32(&mut self) -> Result<u32, GgufError> {
        let mut bytes = [0; 4];
        self.reader.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn u64(&mut self) -> Result<u64, GgufError> {
        let mut bytes = [0; 8];
        self.reader.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn length(&mut self, what: &'static str, most: u64) -> Result<u64, GgufError> {
        let length = self.u64()?;
        if length > most { Err(GgufError::Length { what, length }) } else { Ok(length) }
    }

    fn text(&mut self, what: &'static str, most: u64) -> Result<Vec<u8>, GgufError> {
        let length = self.length(what, most)?;
        // Read as far as there is something, so that a length alone reserves nothing.
        let mut text = Vec::new();
        if self.reader.by_ref().take(length).read_to_end(&mut text)? as u64 != length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(text)
    }

    fn pass(&mut self, length: u64) -> Result<(), GgufError> {
        if io::copy(&mut self.reader.by_ref().take(length), &mut io::sink())? != length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u32, depth: usize) -> Result<(), GgufError> {
        match kind {
            TEXT => {
                let length = self.length("a text", LONGEST)?;
                self.pass(length)
            }
            LIST if depth < DEEPEST => {
                let item = self.u32()?;
                let items = self.length("a list", MOST)?;
                match width(item) {
                    Some(width) => self.pass(width * items),
                    None => (0..items).try_for_each(|_| self.skip(item, depth + 1)),
                }
            }
            _ => self.pass(width(kind).ok_or(GgufError::Type(kind))?),
        }
    }
}

/// Bytes of a value of this type; `None` where it depends on the value.
fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{GgufError, KEY, LIST, TEXT, chat_template};

    fn text(text: &[u8]) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text].concat()
    }

    /// A header with a number, a list of texts, and a template.
    fn header() -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(3u64.to_le_bytes());
        bytes.extend([text(b"general.size"), 4u32.to_le_bytes().to_vec(), 7u32.to_le_bytes().to_vec()].concat());
        bytes.extend([text(b"tokens"), LIST.to_le_bytes().to_vec(), TEXT.to_le_bytes().to_vec()].concat());
        bytes.extend([2u64.to_le_bytes().to_vec(), text(b"a"), text(b"bc")].concat());
        bytes.extend([text(KEY), TEXT.to_le_bytes().to_vec(), text("{{ x }} ä".as_bytes())].concat());
        bytes
    }

    #[test]
    fn the_template_is_found_behind_other_values() {
        assert_eq!(chat_template(&header()[..]).expect("a header").as_deref(), Some("{{ x }} ä"));
    }

    #[test]
    fn a_broken_header_is_told_and_reserves_nothing() {
        let whole = header();
        for end in 0..whole.len() {
            assert!(chat_template(&whole[..end]).is_err(), "{end}");
        }
        let mut long = whole.clone();
        long[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(chat_template(&long[..]), Err(GgufError::Length { what: "a key", .. })));
        let mut old = whole;
        old[4] = 1;
        assert!(matches!(chat_template(&old[..]), Err(GgufError::Version(1))));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 4usize..120, byte in any::<u8>(), tail in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut bytes = header();
            let at = at.min(bytes.len() - 1);
            bytes[at] = byte;
            bytes.extend(tail);
            let _ = chat_template(&bytes[..]);
        }
    }
}
