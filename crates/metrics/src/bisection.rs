//! Halving an interval on whose ends a question has different answers.

/// Enough for an interval within [-1, 1] to shrink to neighbouring numbers.
const HALVINGS: usize = 100;

/// The last value towards `no` at which `holds` is true and the first at which it is not, as near as numbers go; it is
/// true at `yes` and false at `no`.
pub(crate) fn border(yes: f64, no: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut yes, mut no) = (yes, no);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (yes + no);
        if middle == yes || middle == no {
            break;
        }
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    (yes, no)
}

#[cfg(test)]
mod tests {
    use super::border;

    #[test]
    fn the_border_is_found_from_either_side() {
        let third = 1.0 / 3.0;
        let (yes, no) = border(1.0, 0.0, |x| x >= third);
        assert!(no < third && third <= yes && yes - no < 1e-15);
        let (yes, no) = border(-1.0, 1.0, |x| x < third);
        assert!(yes < third && third <= no);
    }
}
