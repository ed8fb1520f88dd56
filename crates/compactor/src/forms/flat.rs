//! Flattened turns: one labelled text record a turn, joined by blank lines. Nothing is escaped,
//! which is the weakness that flattened arms measure.

use laundromat_session::labels::LabelStyle;

use crate::records::{call_lines, label};
use crate::request::{Carried, carry};
use crate::view::{Item, SEPARATOR, View};

/// Flattened text with the session bytes it carries (as of message 0).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The text.
    pub text: String,
    /// What it carries.
    pub carried: Vec<Carried>,
}

/// Flattens a view with `labels`.
pub fn block(view: &View, labels: &LabelStyle) -> Block {
    let mut block = Block::default();
    block.text.reserve(view.kept().map(|index| view.records[index].text.text().len() + 64).sum());
    let mut before = None;
    for item in &view.items {
        match item {
            Item::Kept(index) => {
                if before.is_some_and(|kept| kept) {
                    block.text.push_str(SEPARATOR);
                }
                block.push(view, *index, labels);
                before = Some(true);
            }
            Item::Gap { marker, .. } => {
                block.text.push_str(marker);
                before = Some(false);
            }
        }
    }
    block
}

impl Block {
    fn push(&mut self, view: &View, index: usize, labels: &LabelStyle) {
        let record = &view.records[index];
        self.text.push_str(&label(labels, record, index + 1));
        let shortened = view.shortened.get(&index).map(|shortened| &shortened.flat);
        let body = shortened.unwrap_or(&record.text);
        carry(&mut self.carried, 0, body, self.text.len());
        self.text.push_str(body.text());
        if shortened.is_none() {
            self.text.push_str(&call_lines(&record.calls));
        }
    }

    /// The text between `before` and `behind`, as message `message`.
    pub(crate) fn placed(mut self, before: &str, behind: &str, message: usize) -> (String, Vec<Carried>) {
        for carried in &mut self.carried {
            carried.message = message;
            carried.at += before.len();
        }
        (format!("{before}{}{behind}", self.text), self.carried)
    }
}
