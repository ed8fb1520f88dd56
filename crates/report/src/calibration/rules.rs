//! The error of `builtin:rules`, as measured and kept in a file that a test holds against a new measurement.

use laundromat_store::Manifest;

use super::file::CalibrationFile;
use super::table::rate;

/// What `laundromat judge calibrate --out` wrote for these rules.
pub const MEASURED: &str = include_str!("../../../../scenarios/judge/builtin-rules.json");

/// The judge that this is about.
const NAME: &str = "builtin:rules";

/// What must be known of a run's verdicts, where this judge gave them.
pub fn note(manifest: &Manifest) -> Option<String> {
    if manifest.judge != NAME {
        return None;
    }
    let figures = CalibrationFile::parse(MEASURED).ok()?.figures();
    Some(format!(
        "The judge {NAME} is a set of rules with errors of its own. On the test part of the bundled gold set (labels by \
         construction, hostile items included) it finds {} of the laundered summaries and leaves {} of the others alone: \
         docs/judge.md.",
        rate(figures.laundered),
        rate(figures.clean)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::file::CalibrationFile;
    use super::MEASURED;

    #[test]
    fn the_committed_measurement_is_one_on_the_test_part() {
        let file = CalibrationFile::parse(MEASURED).expect("a calibration");
        assert_eq!((file.judge.model.as_str(), file.gold.part.as_str()), ("builtin:rules", "test"));
        assert!(file.figures().laundered.of >= 50 && file.figures().clean.of >= 50);
    }
}
