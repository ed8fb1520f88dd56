//! Messages as they were last written: the place of the first writing, the content of the last.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::input::History;
use crate::losses::Losses;

/// The messages of a file of lines.
pub(super) struct Folded {
    history: History,
    messages: Vec<Option<(usize, Box<RawValue>)>>,
    by_id: HashMap<Box<str>, usize>,
}

impl Folded {
    /// None yet; with the original history a replaced list of messages does not drop the ones before.
    pub(super) fn new(history: History) -> Self {
        Self { history, messages: Vec::new(), by_id: HashMap::new() }
    }

    /// Takes a message; one that is there already gets this content.
    pub(super) fn message(&mut self, fields: &Fields<'_>, record: usize, losses: &mut Losses) {
        let Some(raw) = fields.to_raw() else {
            losses.skip(record, "a message that cannot be kept");
            return;
        };
        self.put(fields.label("id").as_deref(), record, raw);
    }

    fn put(&mut self, id: Option<&str>, record: usize, raw: Box<RawValue>) {
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            self.messages.push(Some((record, raw)));
            return;
        };
        match self.by_id.get(id).and_then(|at| self.messages.get_mut(*at)).and_then(Option::as_mut) {
            Some((_, before)) => *before = raw,
            None => {
                self.by_id.insert(id.into(), self.messages.len());
                self.messages.push(Some((record, raw)));
            }
        }
    }

    /// The program wrote its whole list of messages anew.
    pub(super) fn replace(&mut self, list: &[&RawValue], record: usize) {
        if self.history == History::Live {
            self.messages.clear();
            self.by_id.clear();
        }
        for raw in list {
            let id = Fields::of(raw).and_then(|message| message.label("id").map(std::borrow::Cow::into_owned));
            self.put(id.as_deref(), record, (*raw).to_owned());
        }
    }

    /// Drops the message `target` and all behind it.
    pub(super) fn rewind(&mut self, target: &str, record: usize, losses: &mut Losses) {
        let Some(at) = self.by_id.get(target).copied() else {
            losses.skip(record, "a rewind to a message that is not in the file");
            return;
        };
        for (record, _) in self.messages.drain(at..).flatten() {
            losses.off_branch.add(record);
        }
        self.by_id.retain(|_, place| *place < at);
    }

    /// The messages in order, each with the record of its first writing.
    pub(super) fn messages(&self) -> impl Iterator<Item = (usize, &RawValue)> {
        self.messages.iter().flatten().map(|(record, raw)| (*record, raw.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::Folded;
    use crate::fields::Fields;
    use crate::input::History;
    use crate::losses::Losses;

    #[test]
    fn a_message_keeps_its_place_and_gets_its_last_content() {
        let mut losses = Losses::default();
        let mut folded = Folded::new(History::Live);
        for (record, text) in [r#"{"id":"a","n":1}"#, r#"{"id":"b","n":2}"#, r#"{"id":"a","n":3}"#].iter().enumerate() {
            folded.message(&Fields::parse(text).expect("an object"), record + 1, &mut losses);
        }
        let seen: Vec<_> = folded.messages().map(|(record, raw)| (record, raw.get().to_owned())).collect();
        assert_eq!(seen, [(1, r#"{"id":"a","n":3}"#.to_owned()), (2, r#"{"id":"b","n":2}"#.to_owned())]);
        folded.rewind("b", 4, &mut losses);
        folded.rewind("x", 5, &mut losses);
        assert_eq!(folded.messages().count(), 1);
        assert_eq!((losses.off_branch.count, losses.skipped_records), (1, 1));
    }
}
