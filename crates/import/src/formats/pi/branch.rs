//! The tree of newer files: the branch that was followed ends at the last entry.

use std::borrow::Cow;
use std::collections::HashMap;

/// Entries with their parents.
#[derive(Debug, Default)]
pub(super) struct Branch {
    nodes: Vec<Node>,
    by_id: HashMap<Box<str>, usize>,
    /// Whether any entry names a parent: without, the file has no tree.
    any: bool,
}

#[derive(Debug)]
struct Node {
    parent: Option<usize>,
    /// The turns before it.
    first_turn: usize,
}

impl Branch {
    /// Adds an entry, of which `turns` turns stand before; `false` where there is one with this id already.
    ///
    /// An entry whose parent is not in the file, or does not say, follows the entry before it: what is lost
    /// of a damaged file is the damaged line.
    pub(super) fn add(&mut self, id: Option<&str>, parent: Option<Option<Cow<'_, str>>>, turns: usize) -> bool {
        if id.is_some_and(|id| self.by_id.contains_key(id)) {
            return false;
        }
        let node = self.nodes.len();
        self.any |= id.is_some() && parent.is_some();
        let parent = match parent {
            Some(None) => None,
            Some(Some(parent)) => self.by_id.get(parent.as_ref()).copied().or(node.checked_sub(1)),
            None => node.checked_sub(1),
        };
        if let Some(id) = id {
            self.by_id.insert(id.into(), node);
        }
        self.nodes.push(Node { parent, first_turn: turns });
        true
    }

    /// For each of `turns` turns whether it is on the branch that was followed; `None` where all are.
    pub(super) fn followed(&self, turns: usize) -> Option<Vec<bool>> {
        if !self.any {
            return None;
        }
        let mut kept = vec![false; turns];
        let mut up = self.nodes.len().checked_sub(1);
        // A parent stands before its child, so this ends.
        while let Some(at) = up {
            let end = self.nodes.get(at + 1).map_or(turns, |next| next.first_turn);
            if let Some(own) = kept.get_mut(self.nodes[at].first_turn..end) {
                own.fill(true);
            }
            up = self.nodes[at].parent;
        }
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::Branch;

    /// `name<parent` an entry with one turn, `name<-` one without a parent, `name` one that does not say.
    fn kept(script: &str) -> Option<String> {
        let mut branch = Branch::default();
        let words: Vec<&str> = script.split(' ').collect();
        for (index, word) in words.iter().enumerate() {
            let (name, parent) = match word.split_once('<') {
                Some((name, "-")) => (Some(name), Some(None)),
                Some((name, parent)) => (Some(name), Some(Some(parent.into()))),
                None => (None, None),
            };
            assert!(branch.add(name, parent, index));
        }
        let kept = branch.followed(words.len())?;
        Some(words.iter().zip(kept).filter(|(_, kept)| *kept).map(|(word, _)| &word[..1]).collect())
    }

    #[test]
    fn the_branch_of_the_last_entry_is_followed() {
        for (script, wanted) in [
            ("a b c", None),
            ("a<- b<a c<b", Some("abc")),
            ("a<- b<a c<a d<c", Some("acd")),
            ("a<- b<a c<- d<c", Some("cd")),
            // A parent that is missing, and an entry that does not say.
            ("a<- b<a d<x e<d", Some("abde")),
            ("a<- b<a c d<c", Some("abcd")),
        ] {
            assert_eq!(kept(script).as_deref(), wanted, "{script}");
        }
    }

    #[test]
    fn an_entry_comes_once() {
        let mut branch = Branch::default();
        assert!(branch.add(Some("a"), Some(None), 0));
        assert!(!branch.add(Some("a"), Some(None), 1));
    }
}
