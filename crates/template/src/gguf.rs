//! The header of a GGUF model, as far as its chat template and the two tokens that templates are given. Every length in
//! it is checked before anything is kept, so that a broken or hostile file costs no more than its own bytes.

use std::io::{self, Read};

/// What every such file begins with.
pub const MAGIC: &[u8] = b"GGUF";
/// The key of the template.
const KEY: &[u8] = b"tokenizer.chat_template";
/// The key of the list of tokens.
const TOKENS: &[u8] = b"tokenizer.ggml.tokens";
/// The keys of the places in that list of what begins a text and of what ends one.
const BOS: &[u8] = b"tokenizer.ggml.bos_token_id";
const EOS: &[u8] = b"tokenizer.ggml.eos_token_id";
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

/// What a model's header says of its conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Its chat template.
    pub template: Option<String>,
    /// What stands before a text; `None` where the header does not say.
    pub bos: Option<String>,
    /// What stands behind one; `None` where the header does not say.
    pub eos: Option<String>,
}

/// Reads the header of a model.
///
/// # Errors
/// When the header is broken.
pub fn metadata(reader: impl Read) -> Result<Metadata, GgufError> {
    let mut header = Header { reader };
    let mut magic = [0; 4];
    header.reader.read_exact(&mut magic)?;
    let version = header.u32()?;
    if magic != *MAGIC || !(2..=3).contains(&version) {
        return Err(GgufError::Version(version));
    }
    let _tensors = header.u64()?;
    let values = header.length("values", MOST)?;
    let (mut template, mut tokens, mut bos, mut eos) = (None, Tokens::default(), None, None);
    for _ in 0..values {
        let key = header.text("a key", LONGEST)?;
        let kind = header.u32()?;
        match (key.as_slice(), kind) {
            (KEY, TEXT) => {
                let text = header.text("a template", LONGEST)?;
                template = Some(String::from_utf8(text).map_err(|_| GgufError::NoText)?);
            }
            (TOKENS, LIST) => tokens = header.tokens()?,
            (BOS, NUMBER) => bos = Some(header.u32()?),
            (EOS, NUMBER) => eos = Some(header.u32()?),
            _ => header.skip(kind, 0)?,
        }
    }
    let named = |id: Option<u32>| id.and_then(|id| tokens.get(id as usize));
    Ok(Metadata { template, bos: named(bos), eos: named(eos) })
}

/// A list of texts, one behind the other: as many bytes as the file has for them, and no more.
#[derive(Default)]
struct Tokens {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Tokens {
    fn get(&self, index: usize) -> Option<String> {
        let from = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        let text = self.bytes.get(from..*self.ends.get(index)?)?;
        String::from_utf8(text.to_vec()).ok()
    }
}

const NUMBER: u32 = 4;
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

    /// The texts of a list; none where it is a list of something else.
    fn tokens(&mut self) -> Result<Tokens, GgufError> {
        let item = self.u32()?;
        let items = self.length("a list", MOST)?;
        let mut tokens = Tokens::default();
        for _ in 0..items {
            match item {
                TEXT => {
                    let mut text = self.text("a token", LONGEST)?;
                    tokens.bytes.append(&mut text);
                    tokens.ends.push(tokens.bytes.len());
                }
                _ => self.skip(item, 1)?,
            }
        }
        Ok(tokens)
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

    use super::{BOS, EOS, GgufError, KEY, LIST, NUMBER, TEXT, TOKENS, metadata};

    fn text(text: &[u8]) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text].concat()
    }

    /// A header with a number, a list of texts, a template, and the places of two of the texts.
    fn header() -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(5u64.to_le_bytes());
        bytes.extend([text(b"general.size"), 4u32.to_le_bytes().to_vec(), 7u32.to_le_bytes().to_vec()].concat());
        bytes.extend([text(TOKENS), LIST.to_le_bytes().to_vec(), TEXT.to_le_bytes().to_vec()].concat());
        bytes.extend([2u64.to_le_bytes().to_vec(), text(b"a"), text(b"bc")].concat());
        bytes.extend([text(KEY), TEXT.to_le_bytes().to_vec(), text("{{ x }} ä".as_bytes())].concat());
        for (key, place) in [(BOS, 1u32), (EOS, 7)] {
            bytes.extend([text(key), NUMBER.to_le_bytes().to_vec(), place.to_le_bytes().to_vec()].concat());
        }
        bytes
    }

    #[test]
    fn the_template_and_its_tokens_are_found_among_other_values() {
        let found = metadata(&header()[..]).expect("a header");
        assert_eq!((found.template.as_deref(), found.bos.as_deref()), (Some("{{ x }} ä"), Some("bc")));
        // A place beyond the list names no token.
        assert_eq!(found.eos, None);
    }

    #[test]
    fn a_broken_header_is_told_and_reserves_nothing() {
        let whole = header();
        for end in 0..whole.len() {
            assert!(metadata(&whole[..end]).is_err(), "{end}");
        }
        let mut long = whole.clone();
        long[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(metadata(&long[..]), Err(GgufError::Length { what: "a key", .. })));
        let mut old = whole;
        old[4] = 1;
        assert!(matches!(metadata(&old[..]), Err(GgufError::Version(1))));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 4usize..120, byte in any::<u8>(), tail in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut bytes = header();
            let at = at.min(bytes.len() - 1);
            bytes[at] = byte;
            bytes.extend(tail);
            let _ = metadata(&bytes[..]);
        }
    }
}
