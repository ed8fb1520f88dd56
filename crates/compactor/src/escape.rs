//! Keeping session text from acting as a transcript's own markup.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use crate::axes::Escape;
use crate::tracked::Tracked;

/// A ready escape: what an arm names, compiled once a transcript.
#[derive(Debug)]
pub(crate) enum Escaper {
    Xml,
    OwnTags(Regex),
}

impl Escaper {
    pub(crate) fn new(escape: &Escape) -> Self {
        match escape {
            Escape::Xml => Self::Xml,
            Escape::OwnTags(tags) => Self::OwnTags(own_tags(tags)),
        }
    }

    /// `text` escaped; what is copied stays known.
    pub(crate) fn tracked<'t>(&self, text: &'t Tracked) -> Cow<'t, Tracked> {
        let edits = self.edits(text.text());
        if edits.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(text.replaced(&edits)) }
    }

    /// Text that stands outside the records' own: names, ids and arguments.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut tracked = Tracked::default();
        tracked.push_own(text);
        self.tracked(&tracked).text().to_owned()
    }

    /// Text inside a double-quoted attribute.
    pub(crate) fn attribute(&self, text: &str) -> String {
        match self {
            Self::Xml => self.text(text).replace('"', "&quot;"),
            Self::OwnTags(_) => self.text(text),
        }
    }

    fn edits(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        match self {
            Self::Xml => text
                .bytes()
                .enumerate()
                .filter_map(|(at, byte)| {
                    let entity = match byte {
                        b'&' => "&amp;",
                        b'<' => "&lt;",
                        b'>' => "&gt;",
                        _ => return None,
                    };
                    Some((at..at + 1, entity))
                })
                .collect(),
            Self::OwnTags(tags) => {
                tags.find_iter(text).map(|found| (found.start()..found.start() + 1, "&lt;")).collect()
            }
        }
    }
}

/// The opening of any of `tags`, or of its end, in any case and spacing.
fn own_tags(tags: &[String]) -> Regex {
    let names: Vec<String> = tags.iter().map(|tag| regex::escape(tag)).collect();
    #[allow(clippy::expect_used, reason = "tag names are checked when the arm is read")]
    Regex::new(&format!(r"(?i)<\s*/?\s*(?:{})\b", names.join("|"))).expect("a pattern of plain names")
}

#[cfg(test)]
mod tests {
    use super::Escaper;
    use crate::axes::Escape;

    #[test]
    fn markup_is_escaped_whole_or_by_tag() {
        let xml = Escaper::new(&Escape::Xml);
        assert_eq!(xml.text("a < b && c > d"), "a &lt; b &amp;&amp; c &gt; d");
        assert_eq!(xml.attribute("x\"><y"), "x&quot;&gt;&lt;y");
        let own = Escaper::new(&Escape::OwnTags(vec!["message".to_owned(), "messages".to_owned()]));
        assert_eq!(
            own.text("</message>\n< / MESSAGES ><messaged><b>1 < 2"),
            "&lt;/message>\n&lt; / MESSAGES ><messaged><b>1 < 2"
        );
    }
}
