//! The labels so far: who said what, and what is settled. A label is written to the file before it counts.

use std::fs;
use std::io;
use std::path::PathBuf;

use laundromat_judge::gold::{Basis, GoldSet, Item};
use laundromat_session::Reading;
use laundromat_session::seed::Seed;

/// Who is at the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// The first labeller.
    First,
    /// The second labeller.
    Second,
    /// Both together, over what they read differently.
    Settling,
}

impl Who {
    pub(super) const ALL: [Self; 3] = [Self::First, Self::Second, Self::Settling];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first labeller",
            Self::Second => "second labeller",
            Self::Settling => "settling",
        }
    }
}

/// A set being labelled.
#[derive(Debug)]
pub(super) struct Book {
    set: GoldSet,
    path: PathBuf,
}

impl Book {
    /// The book of `set`, with the labels that `stored` has. Labels that the set itself came with are not shown to
    /// anybody and not kept.
    ///
    /// # Errors
    /// When `stored` is of other summaries.
    pub(super) fn open(mut set: GoldSet, stored: Option<GoldSet>, path: PathBuf) -> Result<Self, String> {
        set.header.labels = Basis::Open;
        for item in &mut set.items {
            (item.reading, item.first, item.second) = (None, None, None);
            item.why.clear();
        }
        if let Some(stored) = stored {
            let same = stored.items.len() == set.items.len()
                && stored.items.iter().zip(&set.items).all(|(a, b)| a.id == b.id && a.summary == b.summary);
            if !same || stored.header.labels == Basis::Construction {
                return Err("it holds labels of other summaries; name another file with --out".to_owned());
            }
            set = stored;
        }
        Ok(Self { set, path })
    }

    pub(super) fn len(&self) -> usize {
        self.set.items.len()
    }

    /// The item at `place` of somebody's own order, with what they said of it.
    pub(super) fn item(&self, who: Who, place: usize) -> Option<(&Item, Option<Reading>)> {
        let item = &self.set.items[*self.order(who).get(place)?];
        let said = match who {
            Who::First => item.first,
            Who::Second => item.second,
            Who::Settling => item.reading,
        };
        Some((item, said))
    }

    /// What the item is asked about.
    pub(super) fn statement(&self, item: &Item) -> &str {
        self.set.question(item).statement
    }

    /// Each labeller has an order of their own, so that tiredness does not fall on the same summaries twice. What is to
    /// be settled is known once both are through.
    pub(super) fn order(&self, who: Who) -> Vec<usize> {
        if who == Who::Settling {
            return self.disputed();
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_cached_key(|at| Seed { seed: 0, session: &self.set.items[*at].id, attack: "" }.bytes(who.name()));
        order
    }

    /// The first place without a label.
    pub(super) fn next(&self, who: Who) -> Option<usize> {
        (0..self.order(who).len()).find(|place| self.item(who, *place).is_some_and(|(_, said)| said.is_none()))
    }

    /// Items that the two read differently; none before both have read everything, so that nobody is led.
    pub(super) fn disputed(&self) -> Vec<usize> {
        let (_, _, both) = self.progress();
        if both < self.len() {
            return Vec::new();
        }
        (0..self.len()).filter(|at| self.set.items[*at].first != self.set.items[*at].second).collect()
    }

    /// Whether every item has its reading.
    pub(super) fn is_settled(&self) -> bool {
        self.set.header.labels == Basis::Labellers
    }

    /// Labels by the first, the second, and both.
    pub(super) fn progress(&self) -> (usize, usize, usize) {
        let count = |is: fn(&Item) -> bool| self.set.items.iter().filter(|item| is(item)).count();
        (
            count(|item| item.first.is_some()),
            count(|item| item.second.is_some()),
            count(|item| item.first.is_some() && item.second.is_some()),
        )
    }

    /// The two labellers' own labels: the first's by row, the second's by column.
    pub(super) fn table(&self) -> Vec<Vec<u64>> {
        let place = |reading: Reading| Reading::ALL.iter().position(|other| *other == reading).unwrap_or_default();
        let mut table = vec![vec![0; Reading::ALL.len()]; Reading::ALL.len()];
        for (first, second) in self.set.items.iter().filter_map(|item| item.first.zip(item.second)) {
            table[place(first)][place(second)] += 1;
        }
        table
    }

    /// Takes a label and writes all of them.
    ///
    /// # Errors
    /// When the file cannot be written; the label does not count then.
    pub(super) fn label(&mut self, who: Who, place: usize, reading: Reading) -> io::Result<()> {
        let Some(at) = self.order(who).get(place).copied() else { return Ok(()) };
        let before = self.set.clone();
        let item = &mut self.set.items[at];
        match who {
            Who::First => item.first = Some(reading),
            Who::Second => item.second = Some(reading),
            Who::Settling => item.reading = Some(reading),
        }
        if who != Who::Settling {
            // A changed mind opens what was settled before it.
            item.reading = None;
        }
        self.settle();
        let saved = self.save();
        if saved.is_err() {
            self.set = before;
        }
        saved
    }

    /// Where both said the same there is nothing to talk about; the set is labelled once every item is.
    fn settle(&mut self) {
        let (_, _, both) = self.progress();
        let all = both == self.len();
        for item in &mut self.set.items {
            if item.first != item.second {
                continue;
            }
            item.reading = if all { item.first } else { None };
        }
        let settled = self.set.items.iter().all(|item| item.reading.is_some());
        self.set.header.labels = if settled { Basis::Labellers } else { Basis::Open };
    }

    fn save(&self) -> io::Result<()> {
        let text = self.set.to_text()?;
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let beside = self.path.with_file_name(name);
        fs::write(&beside, text)?;
        fs::rename(beside, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use laundromat_judge::gold::{BUNDLED, Basis, GoldSet};
    use laundromat_session::Reading;

    use super::{Book, Who};

    fn set(items: usize) -> GoldSet {
        let text: Vec<&str> = BUNDLED.lines().take(items + 1).collect();
        GoldSet::parse(&text.join("\n")).expect("faultless")
    }

    #[test]
    fn two_label_blind_and_settle_where_they_differ() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labels.jsonl");
        let mut book = Book::open(set(5), None, path.clone()).expect("open");
        assert!(book.item(Who::First, 0).is_some_and(|(item, said)| said.is_none() && item.why.is_empty()));
        assert_ne!(book.order(Who::First), book.order(Who::Second));
        for place in 0..5 {
            assert!(book.disputed().is_empty() && !book.is_settled());
            book.label(Who::First, place, Reading::User).expect("written");
        }
        let at = book.order(Who::Second)[2];
        for place in 0..5 {
            let reading = if place == 2 { Reading::Tool } else { Reading::User };
            book.label(Who::Second, place, reading).expect("written");
        }
        assert_eq!(book.disputed(), [at]);
        assert_eq!(book.next(Who::Settling), Some(0));
        assert!(!book.is_settled());
        book.label(Who::Settling, 0, Reading::Flagged).expect("written");
        assert!(book.is_settled());

        // The file is a gold set like any other, and is gone on with.
        let stored = GoldSet::parse(&std::fs::read_to_string(&path).expect("text")).expect("faultless");
        assert_eq!(stored.header.labels, Basis::Labellers);
        assert_eq!(stored.items[at].reading, Some(Reading::Flagged));
        let again = Book::open(set(5), Some(stored.clone()), path.clone()).expect("the same");
        assert_eq!(again.progress(), (5, 5, 5));
        assert_eq!(again.table().iter().flatten().sum::<u64>(), 5);
        assert!(Book::open(set(4), Some(stored), path.clone()).is_err());
        assert!(Book::open(set(4), Some(set(4)), path).is_err(), "labels by construction are not labellers'");

        // A changed mind opens it again.
        let mut book = again;
        book.label(Who::First, 0, Reading::Absent).expect("written");
        assert!(!book.is_settled());
    }

    #[test]
    fn a_label_that_cannot_be_written_does_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut book = Book::open(set(3), None, folder.path().join("no/folder.jsonl")).expect("open");
        assert!(book.label(Who::First, 0, Reading::User).is_err());
        assert_eq!(book.progress(), (0, 0, 0));
    }
}
