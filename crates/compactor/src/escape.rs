//! Keeping session text from acting as a transcript's own markup.

use regex::Regex;

use crate::axes::Escape;
use crate::scan;
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

    /// Appends `text` to `out`, escaped; what is copied stays known.
    pub(crate) fn push(&self, out: &mut Tracked, text: &Tracked) {
        out.push_rewritten(text, |text, escaped| match self {
            Self::Xml => {
                for at in scan::places(text, |byte| matches!(byte, b'&' | b'<' | b'>')) {
                    let entity = match text.as_bytes()[at] {
                        b'&' => "&amp;",
                        b'<' => "&lt;",
                        _ => "&gt;",
                    };
                    escaped.replace(at..at + 1, entity);
                }
            }
            Self::OwnTags(tags) => {
                for found in tags.find_iter(text) {
                    escaped.replace(found.start()..found.start() + 1, "&lt;");
                }
            }
        });
    }

    /// Text that stands outside the records' own: names, ids and arguments.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = Tracked::default();
        self.push(&mut out, &Tracked::own(text));
        out.into_parts().0
    }

    /// Text inside a double-quoted attribute.
    pub(crate) fn attribute(&self, text: &str) -> String {
        match self {
            Self::Xml => self.text(text).replace('"', "&quot;"),
            Self::OwnTags(_) => self.text(text),
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
