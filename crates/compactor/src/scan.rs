//! Finding the next byte of a class: where few bytes are of it, many are passed at once.

/// Bytes that are looked at together. The compiler makes a few vector instructions of them.
const BLOCK: usize = 32;

/// Places of the bytes of `text` that `is_wanted` names, in order.
pub(crate) fn places(text: &str, is_wanted: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = at + next(&bytes[at..], is_wanted)?;
        at = found + 1;
        Some(found)
    })
}

fn next(bytes: &[u8], is_wanted: impl Fn(u8) -> bool + Copy) -> Option<usize> {
    let mut passed = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(false, |any, byte| any | is_wanted(*byte)) {
            return block.iter().position(|byte| is_wanted(*byte)).map(|at| passed + at);
        }
        passed += block.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn every_place_is_found_wherever_blocks_end() {
        for length in 0..100 {
            for step in [1, 2, 31, 32, 33, 64] {
                let text: String = (0..length).map(|n| if n % step == 0 { '<' } else { 'x' }).collect();
                let expected: Vec<usize> = (0..length).step_by(step).collect();
                assert_eq!(places(&text, |byte| byte == b'<').collect::<Vec<_>>(), expected, "{length} {step}");
            }
        }
    }
}
