//! Keeping session text from acting as a transcript's own markup.

use std::borrow::Cow;

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
        out.push_rewritten(text, |text, escaped| self.escape(text, |at, entity| escaped.replace(at..at + 1, entity)));
    }

    /// Text that stands outside the records' own: names, ids and arguments.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let (mut out, mut done) = (String::new(), 0);
        self.escape(text, |at, entity| {
            out.push_str(&text[done..at]);
            out.push_str(entity);
            done = at + 1;
        });
        if done == 0 {
            return text.into();
        }
        out.push_str(&text[done..]);
        out.into()
    }

    /// Text inside a double-quoted attribute.
    pub(crate) fn attribute<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let escaped = self.text(text);
        match self {
            Self::Xml if escaped.contains('"') => escaped.replace('"', "&quot;").into(),
            Self::Xml | Self::OwnTags(_) => escaped,
        }
    }

    /// Tells of every byte that something else stands for, in order, and what does.
    fn escape(&self, text: &str, mut tell: impl FnMut(usize, &str)) {
        match self {
            Self::Xml => {
                for at in scan::places(text, |byte| matches!(byte, b'&' | b'<' | b'>')) {
                    let entity = match text.as_bytes()[at] {
                        b'&' => "&amp;",
                        b'<' => "&lt;",
                        _ => "&gt;",
                    };
                    tell(at, entity);
                }
            }
            Self::OwnTags(tags) => tags.find_iter(text).for_each(|found| tell(found.start(), "&lt;")),
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
