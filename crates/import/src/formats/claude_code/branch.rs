//! The tree of a session. Where a person went back and wrote another prompt in the place of one, the file
//! holds both; only the branch that was followed to the end is the session.
//!
//! Lines are taken out below the prompts that were left, rather than taken over on the way up from the
//! end: results of parallel calls stand beside that way, and belong to the session all the same.

use std::collections::HashMap;

/// A line of the file as a node.
pub(super) type Node = usize;

/// Lines and their parents. Nothing is assumed about them: parents may be missing, come later, or go round
/// in circles.
#[derive(Debug, Default)]
pub(super) struct Tree {
    names: HashMap<Box<str>, Node>,
    parent: Vec<Option<Node>>,
    /// Record number; 0 for a line that is only named as a parent.
    record: Vec<usize>,
    head: Vec<Head>,
}

/// What a line may start a branch as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// Nothing: a result, a notice.
    None,
    /// A person's words.
    Prompt,
    /// A piece of the reply with this id.
    Reply(Option<String>),
}

/// The lines that are not of the session.
#[derive(Debug, Default)]
pub(super) struct OffBranch(Vec<bool>);

impl OffBranch {
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn holds(&self, node: Node) -> bool {
        self.0.get(node).copied().unwrap_or_default()
    }
}

impl Tree {
    /// Adds the line `record`.
    pub(super) fn add(&mut self, uuid: Option<&str>, parent: Option<&str>, record: usize) -> Node {
        let node = match uuid {
            Some(uuid) => self.named(uuid),
            None => self.push(),
        };
        self.record[node] = record;
        self.parent[node] = parent.map(|parent| self.named(parent));
        node
    }

    /// Says what the line may start a branch as.
    pub(super) fn set_head(&mut self, node: Node, head: Head) {
        self.head[node] = head;
    }

    fn named(&mut self, uuid: &str) -> Node {
        if let Some(node) = self.names.get(uuid) {
            return *node;
        }
        let node = self.push();
        self.names.insert(uuid.into(), node);
        node
    }

    fn push(&mut self) -> Node {
        self.parent.push(None);
        self.record.push(0);
        self.head.push(Head::None);
        self.parent.len() - 1
    }

    /// Where several prompts have the same parent, all lines below all but the one that leads to the
    /// newest line; in a session with such a fork the same goes for several replies. Lines without a
    /// parent start a conversation each and exclude none.
    pub(super) fn off_branch(&self) -> OffBranch {
        let mut forks = self.rivals(|head| *head == Head::Prompt);
        forks.retain(|prompts| prompts.len() > 1);
        if forks.is_empty() {
            return OffBranch::default();
        }
        let newest = self.newest_below();
        let mut left = vec![false; self.parent.len()];
        for prompts in forks {
            let followed = prompts.iter().copied().max_by_key(|prompt| newest[*prompt]);
            for prompt in prompts.into_iter().filter(|prompt| Some(*prompt) != followed) {
                left[prompt] = true;
            }
        }
        for replies in self.rivals(|head| matches!(head, Head::Reply(Some(_)))) {
            // Pieces of one reply are no rivals.
            let followed = replies.iter().copied().max_by_key(|reply| newest[*reply]).map(|node| &self.head[node]);
            for reply in replies.into_iter().filter(|reply| Some(&self.head[*reply]) != followed) {
                left[reply] = true;
            }
        }
        self.spread_down(left)
    }

    /// The lines of one kind, by their parent.
    fn rivals(&self, kind: impl Fn(&Head) -> bool) -> Vec<Vec<Node>> {
        let mut rivals: HashMap<Node, Vec<Node>> = HashMap::new();
        for node in (0..self.parent.len()).filter(|node| kind(&self.head[*node])) {
            if let Some(parent) = self.parent[node] {
                rivals.entry(parent).or_default().push(node);
            }
        }
        rivals.into_values().collect()
    }

    /// For each line the newest record below it, itself included.
    fn newest_below(&self) -> Vec<usize> {
        let mut order: Vec<Node> = (0..self.parent.len()).collect();
        order.sort_unstable_by_key(|node| std::cmp::Reverse(self.record[*node]));
        let mut newest = vec![0; self.parent.len()];
        for node in order {
            let mut up = Some(node);
            // Newest first: whoever has a value has the final one. This ends circles, too.
            while let Some(at) = up.filter(|at| newest[*at] == 0) {
                newest[at] = self.record[node];
                up = self.parent[at];
            }
        }
        newest
    }

    /// Marks all lines below marked ones.
    fn spread_down(&self, mut marked: Vec<bool>) -> OffBranch {
        let mut known = marked.clone();
        for node in 0..marked.len() {
            let mut path = Vec::new();
            let mut up = Some(node);
            while let Some(at) = up.filter(|at| !known[*at]) {
                known[at] = true;
                path.push(at);
                up = self.parent[at];
            }
            // A circle ends at a line of its own path, which is not marked.
            let below = up.is_some_and(|at| marked[at]);
            for at in path {
                marked[at] = below;
            }
        }
        OffBranch(marked)
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, Tree};

    /// `name<parent` a line, in upper case a prompt, `name<parent=id` a piece of a reply; gives the names of the lines that are left out.
    fn left(script: &str) -> String {
        let mut tree = Tree::default();
        let mut nodes = Vec::new();
        for (index, word) in script.split(' ').enumerate() {
            let (name, parent) = word.split_once('<').expect("a parent");
            let (parent, reply) =
                parent.split_once('=').map_or((parent, None), |(parent, reply)| (parent, Some(reply)));
            let node = tree.add(Some(name), (!parent.is_empty()).then_some(parent), index + 1);
            if name.chars().all(char::is_uppercase) {
                tree.set_head(node, Head::Prompt);
            } else if let Some(reply) = reply {
                tree.set_head(node, Head::Reply(Some(reply.to_owned())));
            }
            nodes.push((name, node));
        }
        let off = tree.off_branch();
        nodes.iter().filter(|(_, node)| off.holds(*node)).map(|(name, _)| *name).collect()
    }

    #[test]
    fn the_branch_that_was_followed_stays() {
        for (script, wanted) in [
            ("A< b<A C<b d<C", ""),
            // C was written again as E.
            ("A< b<A C<b d<C E<b f<E", "Cd"),
            // The first of two was followed to the end.
            ("A< b<A C<b E<b f<E d<C", "Ef"),
            // Results and retries are no forks.
            ("A< b<A c<b d<b e<c", ""),
            ("A< b<A=m c<A=n d<c", ""),
            ("A< b<A=m c<A=n d<c E<d F<d", "bE"),
            // Pieces of one reply with a result beside them.
            ("A< b<A=m c<b r<b d<b=m s<d E<s F<s", "E"),
            // Two roots are two conversations.
            ("A< b<A C< d<C", ""),
            // A fork inside a branch that was left, and one inside the branch that was followed.
            ("A< b<A C<b d<C E<d F<d G<b h<G I<h J<h", "CdEFI"),
            // Parents that are missing, come later or go round in circles.
            ("A<x b<A C<b d<C", ""),
            ("b<A A< C<b D<b", "C"),
            ("a<b b<a C<a D<a", "C"),
            ("a<a C<a D<a", "C"),
        ] {
            assert_eq!(left(script), wanted, "{script}");
        }
    }
}
