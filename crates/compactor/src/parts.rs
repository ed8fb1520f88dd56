//! Where the parts of a staged transcript end. A compaction of many calls asks for it in each of them, and it is
//! found once: to look for a part from the first one on would take time with the square of their number.

use std::borrow::Cow;
use std::sync::OnceLock;

/// The ends of the parts, for the size that was asked for first. It holds nothing that its owner does not, so all
/// are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts(OnceLock<Ends>);

#[derive(Debug, Clone)]
struct Ends {
    most: usize,
    ends: Vec<usize>,
}

impl PartialEq for Parts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Parts {}

impl Parts {
    /// The end of each part of entries of `sizes`, none above `most` where an entry is not by itself. No entries
    /// at all are one part, which is empty.
    pub(crate) fn ends(&self, most: usize, sizes: impl Iterator<Item = usize> + Clone) -> Cow<'_, [usize]> {
        let found = self.0.get_or_init(|| Ends { most, ends: ends(most, sizes.clone()) });
        if found.most == most { Cow::Borrowed(&found.ends) } else { Cow::Owned(ends(most, sizes)) }
    }
}

fn ends(most: usize, sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut ends, mut count, mut used) = (Vec::new(), 0, 0);
    for size in sizes {
        if used + size > most && ends.last().copied().unwrap_or_default() < count {
            ends.push(count);
            used = 0;
        }
        used += size;
        count += 1;
    }
    ends.push(count);
    ends
}

#[cfg(test)]
mod tests {
    use super::Parts;

    fn ends(most: usize, sizes: &[usize]) -> Vec<usize> {
        Parts::default().ends(most, sizes.iter().copied()).into_owned()
    }

    #[test]
    fn parts_are_as_long_as_they_may_be() {
        assert_eq!(ends(10, &[4, 6, 1, 9, 1]), [2, 4, 5]);
        assert_eq!(ends(10, &[]), [0]);
        assert_eq!(ends(10, &[0, 0]), [2]);
    }

    #[test]
    fn what_is_too_long_is_a_part_by_itself() {
        assert_eq!(ends(10, &[11, 12, 3, 4, 50, 1]), [1, 2, 4, 5, 6]);
        assert_eq!(ends(0, &[0, 1, 0]), [1, 2, 3]);
    }

    #[test]
    fn another_size_has_other_parts() {
        let parts = Parts::default();
        let sizes = [5, 5, 5];
        for _ in 0..2 {
            assert_eq!(*parts.ends(10, sizes.into_iter()), [2, 3]);
            assert_eq!(*parts.ends(5, sizes.into_iter()), [1, 2, 3]);
        }
    }
}
