//! Numbers as people read them: one rounding for tables and plots alike.

use laundromat_metrics::Counts;

use crate::data::Test;

/// What stands where there is no number.
pub(crate) const NONE: &str = "–";

/// `52/72`.
pub(crate) fn fraction(counts: Counts) -> String {
    format!("{}/{}", counts.events(), counts.trials())
}

/// A share as `72.2%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A difference of shares in percentage points, with its sign: `+52.8`.
pub(crate) fn points(difference: f64) -> String {
    format!("{:+.1}", 100.0 * difference)
}

/// A recall as `0.132`.
pub(crate) fn recall(share: f64) -> String {
    format!("{share:.3}")
}

/// A whole number as `4,464`.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A p-value: `0.14`, `2.1e-10`, never `0`.
pub(crate) fn p_value(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.1e}") }
}

/// The statistic of a test without its sign, which the rates beside it show, or why there is none.
pub(crate) fn statistic(test: Test) -> String {
    match test {
        Test::Pooled { z, .. } => format!("z = {:.2}", z.abs()),
        Test::Deterministic | Test::NoModel | Test::NoVariance | Test::Nothing => test.id().to_owned(),
    }
}

/// `value` shown by `show`, or the mark for nothing.
pub(crate) fn or_none(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

/// A title with the run's note behind it, where there is one.
pub(crate) fn titled(title: &str, note: &str) -> String {
    if note.is_empty() { title.to_owned() } else { format!("{title}. {note}") }
}

/// `1 arm`, `3 arms`.
pub(crate) fn several(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{p_value, percent, points, several, thousands};

    #[test]
    fn numbers_read_well() {
        assert_eq!([0.0, 999.6, 4464.0, 1_234_567.0].map(thousands), ["0", "1,000", "4,464", "1,234,567"]);
        assert_eq!([52.0 / 72.0, 0.0, 1.0].map(percent), ["72.2%", "0.0%", "100.0%"]);
        assert_eq!([0.5278, -0.02].map(points), ["+52.8", "-2.0"]);
        assert_eq!([0.1399, 2.08e-10].map(p_value), ["0.140", "2.1e-10"]);
        assert_eq!([several(1, "arm"), several(0, "arm")], ["1 arm", "0 arms"]);
    }
}
