//! Token estimates. A figure from here is always called an estimate where it is shown.

/// Tokens by the four-characters rule, rounded up: `ceil(chars / 4)`.
pub fn estimate(chars: usize) -> usize {
    chars.div_ceil(4)
}
