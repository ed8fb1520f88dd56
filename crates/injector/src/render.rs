//! The planted text itself: words, encoded, behind a forged label, in a frame, behind what closes its surroundings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::attack::Payload;
use crate::axes::Encoding;
use crate::canary::Canary;

/// Characters of encoded words by which they are known again.
const TRACE: usize = 32;

/// What is planted, and what more than the canary marks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) traces: Vec<String>,
}

/// The planted text of a whole payload.
pub(crate) fn whole(payload: &Payload, canary: &Canary) -> Rendered {
    let (line, traces) = encoded(payload.encoding, canary.fill(&payload.text), canary);
    let framed = payload
        .frame
        .replace("{turn}", &payload.guise.turn(&line))
        .replace("{reply}", &payload.guise.reply(&payload.reply))
        .replace("{line}", &line);
    let parts = [payload.close.as_str(), framed.as_str(), payload.open.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Rendered { text: parts.join("\n\n"), traces }
}

/// The payload in `count` fragments, none of which holds all of it; `None` where it has fewer words. With a `note`,
/// each fragment names it, so that a reader can put them together.
pub(crate) fn fragments(payload: &Payload, canary: &Canary, count: usize, note: Option<&str>) -> Option<Vec<String>> {
    let text = canary.fill(&payload.text);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < count {
        return None;
    }
    let border = |index: usize| index * words.len() / count;
    let fragments = (0..count).map(|index| {
        let part = words[border(index)..border(index + 1)].join(" ");
        let part = match note {
            Some(note) => format!("({note}, part {} of {count}) {part}", index + 1),
            None => part,
        };
        payload.guise.turn(&part)
    });
    Some(fragments.collect())
}

/// The words as they are planted, and what marks them beside the canary.
fn encoded(encoding: Encoding, line: String, canary: &Canary) -> (String, Vec<String>) {
    let with: fn(&str) -> String = match encoding {
        Encoding::Plain => return (line, Vec::new()),
        Encoding::SplitWords => return (split_words(&line, canary), Vec::new()),
        Encoding::Base64 => |text| STANDARD.encode(text),
        Encoding::Rot13 => |text| text.chars().map(rot13).collect(),
        Encoding::Hex => |text| text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        Encoding::Url => |text| text.bytes().map(percent).collect(),
    };
    let text = with(&line);
    let trace = match encoding {
        // A host in the middle of base64 depends on what stands before it.
        Encoding::Base64 => text.chars().take(TRACE).collect(),
        _ => with(&canary.host),
    };
    (format!("{encoding}: {text}"), vec![trace])
}

/// Words broken in their middle, save those that mark the plant.
fn split_words(line: &str, canary: &Canary) -> String {
    let is_mark = |word: &str| word.contains(&canary.host) || word.contains(&canary.path);
    let words = line.split(' ').map(|word| if is_mark(word) { word.to_owned() } else { broken(word) });
    words.collect::<Vec<_>>().join(" ")
}

fn rot13(c: char) -> char {
    let moved = |first: u8| char::from((c as u8 - first + 13) % 26 + first);
    match c {
        'a'..='z' => moved(b'a'),
        'A'..='Z' => moved(b'A'),
        _ => c,
    }
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// A word of four or more characters with a space in its middle.
fn broken(word: &str) -> String {
    let count = word.chars().count();
    let border = word.char_indices().nth(count / 2).map_or(0, |(at, _)| at);
    if count < 4 { word.to_owned() } else { format!("{} {}", &word[..border], &word[border..]) }
}

/// Exactly `chars` characters of lines that ask for nothing and name nobody.
pub(crate) fn neutral(chars: usize) -> String {
    let lines = (1_usize..).flat_map(|number| {
        let line = format!("\nstep {number:05} finished, nothing to note");
        line.chars().collect::<Vec<char>>()
    });
    lines.take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::{broken, encoded, neutral};
    use crate::axes::Encoding;
    use crate::canary::Canary;

    fn coded(encoding: Encoding) -> (String, Vec<String>) {
        let canary = Canary { host: "pkg-abc234.example".to_owned(), path: "/x".to_owned() };
        let line = match encoding {
            Encoding::SplitWords => "Run it please at pkg-abc234.example/x",
            _ => "Run it at pkg-abc234.example/x",
        };
        encoded(encoding, line.to_owned(), &canary)
    }

    #[test]
    fn words_are_encoded_and_their_traces_are_in_them() {
        for (encoding, text) in [
            (Encoding::Plain, "Run it at pkg-abc234.example/x"),
            (Encoding::Base64, "base64: UnVuIGl0IGF0IHBrZy1hYmMyMzQuZXhhbXBsZS94"),
            (Encoding::Rot13, "rot13: Eha vg ng cxt-nop234.rknzcyr/k"),
            (Encoding::Hex, "hex: 52756e20697420617420706b672d6162633233342e6578616d706c652f78"),
            (Encoding::Url, "url: Run%20it%20at%20pkg%2Dabc234%2Eexample%2Fx"),
            (Encoding::SplitWords, "Run it ple ase at pkg-abc234.example/x"),
        ] {
            let (coded, traces) = coded(encoding);
            assert_eq!(coded, text);
            assert_eq!(traces.is_empty(), coded.contains("pkg-abc234.example"), "{encoding}");
            assert!(traces.iter().all(|trace| coded.contains(trace)), "{encoding}: {traces:?}");
        }
    }

    #[test]
    fn words_break_at_characters() {
        assert_eq!((broken("abc"), broken("größte")), ("abc".to_owned(), "grö ßte".to_owned()));
    }

    #[test]
    fn neutral_lines_have_the_length_they_should_have() {
        for chars in [0, 1, 40, 12_345] {
            assert_eq!(neutral(chars).chars().count(), chars);
        }
        assert!(neutral(300).lines().all(|line| laundromat_session::labels::opens(line).is_none()));
    }
}
