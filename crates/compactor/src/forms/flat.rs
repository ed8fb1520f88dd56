//! Flattened turns: one labelled text record a turn, joined by blank lines. Nothing is escaped,
//! which is the weakness that flattened arms measure.

use laundromat_session::labels::LabelStyle;

use crate::records::{Record, label};
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
                block.push(&view.records[*index], labels, index + 1);
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
    fn push(&mut self, record: &Record, labels: &LabelStyle, number: usize) {
        self.text.push_str(&label(labels, record, number));
        carry(&mut self.carried, 0, &record.text, self.text.len());
        self.text.push_str(record.text.text());
        if record.calls.is_empty() {
            return;
        }
        self.text.push_str("\n[Tool calls:");
        for call in &record.calls {
            self.text.push_str("\n  ");
            self.text.push_str(&call.name);
            self.text.push('(');
            self.text.push_str(&call.arguments);
            self.text.push(')');
        }
        self.text.push_str("\n]");
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
