//! Finding the bytes of a class, many bytes at once where few are of it.

/// Bytes that are looked at together: one bit of a mask each.
const BLOCK: usize = 64;

/// Places of the bytes of `text` that `is_wanted` names, in order.
pub(crate) fn places(text: &str, is_wanted: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = usize> {
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let last = mask(&last, is_wanted) & ((1 << rest.len()) - 1);
    let masks = blocks.iter().map(move |block| mask(block, is_wanted)).chain([last]);
    let mut masks = masks.zip((0..).step_by(BLOCK));
    let (mut left, mut start) = (0_u64, 0);
    std::iter::from_fn(move || {
        while left == 0 {
            (left, start) = masks.next()?;
        }
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(start + at)
    })
}

/// One bit for each byte, the first the lowest. Both loops become vector instructions or a few multiplications.
fn mask(block: &[u8; BLOCK], is_wanted: impl Fn(u8) -> bool) -> u64 {
    /// Brings the lowest bits of eight bytes together in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let mut flags = [0; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is_wanted(*byte));
    }
    let (eights, _) = flags.as_chunks::<8>();
    let bits = eights.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(TOGETHER) >> 56);
    bits.rev().fold(0, |mask, bits| mask << 8 | bits)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn every_place_is_found_wherever_blocks_end() {
        for length in 0..200 {
            for step in [1, 2, 7, 31, 63, 64, 65, 128] {
                let text: String = (0..length).map(|n| if n % step == 0 { '<' } else { 'x' }).collect();
                let expected: Vec<usize> = (0..length).step_by(step).collect();
                assert_eq!(places(&text, |byte| byte == b'<').collect::<Vec<_>>(), expected, "{length} {step}");
            }
        }
    }

    #[test]
    fn nothing_is_found_behind_the_end() {
        assert_eq!(places("abc", |byte| byte == 0).next(), None);
    }
}
