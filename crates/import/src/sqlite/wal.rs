//! The write-ahead log of SQLite: pages that were written behind the file and are not yet in it.
//!
//! SQLite itself would need a third file, and would write it, so the committed pages are put into a copy of
//! the file in memory.

use std::collections::BTreeMap;

/// Length of the log's header, and of the header of each frame.
const HEADER: usize = 32;
const FRAME: usize = 24;

/// Where the sum over all frames stands.
#[derive(Clone, Copy)]
struct Sum {
    order: Order,
    state: (u32, u32),
}

/// Byte order of the words that are summed up.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

/// The database `image` with all that `log` has committed, at most `limit` bytes.
///
/// # Errors
/// Why the log is of no use.
pub(super) fn merged(image: Vec<u8>, log: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let header = log.get(..HEADER).ok_or("its header is cut off")?;
    let order = match word(header, 0) {
        0x377f_0682 => Order::Little,
        0x377f_0683 => Order::Big,
        _ => return Err("it has no header".to_owned()),
    };
    let page_size = word(header, 8) as usize;
    if !page_size.is_power_of_two() || !(512..=65536).contains(&page_size) {
        return Err(format!("a page size of {page_size} bytes"));
    }
    let mut sum = Sum { order, state: (0, 0) };
    sum.add(&header[..24]);
    if sum.state != (word(header, 24), word(header, 28)) {
        return Err("the sum of its header is wrong".to_owned());
    }
    let mut pending: BTreeMap<u32, &[u8]> = BTreeMap::new();
    let mut committed: BTreeMap<u32, &[u8]> = BTreeMap::new();
    let mut pages = None;
    for frame in log[HEADER..].chunks_exact(FRAME + page_size) {
        let (head, page) = frame.split_at(FRAME);
        sum.add(&head[..8]);
        sum.add(page);
        // A frame of an earlier log, or one that was not written to its end: the log ends before it.
        if head[8..16] != header[16..24] || sum.state != (word(head, 16), word(head, 20)) {
            break;
        }
        pending.insert(word(head, 0), page);
        let size = word(head, 4);
        if size > 0 {
            committed.append(&mut pending);
            pages = Some(size);
        }
    }
    let Some(pages) = pages else { return Ok(image) };
    let length = u64::from(pages) * page_size as u64;
    if length > limit {
        return Err(format!("with it the file is {length} bytes long, more than {limit}"));
    }
    let mut image = image;
    image.resize(usize::try_from(length).map_err(|error| error.to_string())?, 0);
    for (number, page) in committed {
        let start = (number as usize).wrapping_sub(1).wrapping_mul(page_size);
        if let Some(place) = start.checked_add(page_size).and_then(|end| image.get_mut(start..end)) {
            place.copy_from_slice(page);
        }
    }
    Ok(image)
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let (mut first, mut second) = self.state;
        for pair in bytes.chunks_exact(8) {
            let (left, right) = match self.order {
                Order::Little => (word(pair, 0).swap_bytes(), word(pair, 4).swap_bytes()),
                Order::Big => (word(pair, 0), word(pair, 4)),
            };
            first = first.wrapping_add(left).wrapping_add(second);
            second = second.wrapping_add(right).wrapping_add(first);
        }
        self.state = (first, second);
    }
}

/// The big-endian word at `at`; zero beyond the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
}
