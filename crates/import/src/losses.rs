//! What an import did not take over as it stood, counted, with the places of the first few.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::records::{Line, Record};

/// How many places are kept of each kind.
const FEW: usize = 5;

/// A count with the numbers of the first few records it was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many.
    pub count: usize,
    /// Record numbers of the first few, from 1.
    pub first: Vec<usize>,
}

impl Tally {
    /// Counts one more, seen in `record`.
    pub fn add(&mut self, record: usize) {
        self.count += 1;
        if self.first.len() < FEW {
            self.first.push(record);
        }
    }

    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(FEW);
    }
}

/// A record that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Record number from 1.
    pub record: usize,
    /// Why.
    pub reason: String,
}

/// What an import did not take over as it stood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// Records that could not be used: damaged, or not what the format holds.
    pub skipped_records: usize,
    /// The first few of them, with reasons.
    pub skipped_first: Vec<Skipped>,
    /// Records that were readable only after a repair.
    pub repaired: Tally,
    /// Characters and tokens replaced in those repairs.
    pub replacements: usize,
    /// Records that repeat an earlier one.
    pub duplicates: Tally,
    /// Records of sub-agents inside a main session.
    pub sidechain: Tally,
    /// Records of branches that the user left (rewound, edited).
    pub off_branch: Tally,
    /// Results that were put behind their call; they are kept.
    pub moved: Tally,
    /// Kinds that carry no conversation or are not known, such as `record:progress`, `part:document`, `role:critic`.
    pub by_type: BTreeMap<String, Tally>,
}

impl Losses {
    /// Counts a record that could not be used.
    pub fn skip(&mut self, record: usize, reason: impl Into<String>) {
        self.skipped_records += 1;
        if self.skipped_first.len() < FEW {
            self.skipped_first.push(Skipped { record, reason: reason.into() });
        }
    }

    /// Counts something of the kind `kind`, seen in `record`.
    pub fn kind(&mut self, kind: impl Into<String>, record: usize) {
        self.by_type.entry(kind.into()).or_default().add(record);
    }

    /// Counts a repair of `record` that replaced `replacements` things, if any.
    pub fn repair(&mut self, record: usize, replacements: usize) {
        if replacements > 0 {
            self.repaired.add(record);
            self.replacements += replacements;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn absorb(&mut self, other: Self) {
        self.skipped_records += other.skipped_records;
        self.skipped_first.extend(other.skipped_first);
        self.skipped_first.truncate(FEW);
        self.replacements += other.replacements;
        self.repaired.absorb(other.repaired);
        self.duplicates.absorb(other.duplicates);
        self.sidechain.absorb(other.sidechain);
        self.off_branch.absorb(other.off_branch);
        self.moved.absorb(other.moved);
        for (kind, tally) in other.by_type {
            self.by_type.entry(kind).or_default().absorb(tally);
        }
    }

    /// Keeps the counts only: beside those of other files, record numbers say nothing.
    pub fn forget_places(&mut self) {
        self.skipped_first.clear();
        let tallies = [&mut self.repaired, &mut self.duplicates, &mut self.sidechain, &mut self.off_branch];
        for tally in tallies.into_iter().chain([&mut self.moved]).chain(self.by_type.values_mut()) {
            tally.first.clear();
        }
    }

    /// What a record holds; a bad one is counted and gives nothing.
    pub fn accept<'r>(&mut self, record: Record<'r>) -> Option<(usize, Line<'r>)> {
        self.repair(record.number, record.replacements);
        match record.line {
            Ok(line) => Some((record.number, line)),
            Err(reason) => {
                self.skip(record.number, reason);
                None
            }
        }
    }

    /// Whether everything was taken over as it stood.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all that the file holds is in the session, if in another order.
    pub fn nothing_lost(&self) -> bool {
        *self == Self { moved: self.moved.clone(), ..Self::default() }
    }
}

impl fmt::Display for Losses {
    /// One line: `4 records skipped (record 4: a run of NUL bytes; ...), 2 duplicates (records 3, 9), ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.skipped_records > 0 {
            let mut places: Vec<String> = self
                .skipped_first
                .iter()
                .map(|skipped| format!("record {}: {}", skipped.record, skipped.reason))
                .collect();
            if self.skipped_records > places.len() {
                places.push("...".to_owned());
            }
            parts.push(format!("{} skipped ({})", plural(self.skipped_records, "record"), places.join("; ")));
        }
        for (tally, what) in [
            (&self.repaired, "repaired"),
            (&self.duplicates, "repeated"),
            (&self.sidechain, "of sub-agents"),
            (&self.off_branch, "of abandoned branches"),
            (&self.moved, "moved behind their calls"),
        ] {
            if tally.count > 0 {
                parts.push(format!("{} {what} ({})", plural(tally.count, "record"), places(tally)));
            }
        }
        for (kind, tally) in &self.by_type {
            parts.push(format!("{} of {} ({})", tally.count, kind.escape_debug(), places(tally)));
        }
        if parts.is_empty() { f.write_str("nothing lost") } else { f.write_str(&parts.join(", ")) }
    }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn places(tally: &Tally) -> String {
    let mut places: Vec<String> = tally.first.iter().map(ToString::to_string).collect();
    if tally.count > places.len() {
        places.push("...".to_owned());
    }
    format!("at {}", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::Losses;

    #[test]
    fn one_line_says_what_and_where() {
        let mut losses = Losses::default();
        assert_eq!(losses.to_string(), "nothing lost");
        losses.skip(4, "a run of NUL bytes");
        for record in 1..=7 {
            losses.kind("record:progress", record);
        }
        losses.repair(9, 0);
        losses.repair(9, 2);
        assert_eq!(
            losses.to_string(),
            "1 record skipped (record 4: a run of NUL bytes), 1 record repaired (at 9), \
             7 of record:progress (at 1, 2, 3, 4, 5, ...)"
        );
        assert!(!losses.is_empty());
    }
}
