//! Every statistic by name, from JSON to JSON, as reference files spell them.
//!
//! One table maps a name to its evaluator; a command that evaluates such files and the golden test both go through it, so a file of
//! cases from elsewhere checks the very functions that the reports use.

mod design;
mod groups;
mod input;
mod judge;
mod rates;

use laundromat_session::fault::choose_remedy;
use serde_json::Value;
use thiserror::Error;

use crate::error::StatsError;
use input::Input;

/// Why a case has no value.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvalError {
    /// No statistic has this name.
    #[error("no statistic is named \"{0}\"; {remedy}", remedy = remedy(.0))]
    UnknownFunction(String),
    /// The case's input cannot be read.
    #[error("input field \"{field}\": expected {expected}")]
    Input {
        /// The field.
        field: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// The statistic is undefined for this input.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

impl EvalError {
    /// The stable code, that of the statistic's error if it is one.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownFunction(_) => "unknown_function",
            Self::Input { .. } => "invalid_input",
            Self::Stats(error) => error.code(),
        }
    }
}

fn remedy(name: &str) -> String {
    choose_remedy(name, &functions().collect::<Vec<_>>())
}

/// What an evaluator gives.
type Evaluated = Result<Value, EvalError>;

/// Turns a case's input into the statistic's fields.
type Evaluator = fn(&Input<'_>) -> Evaluated;

/// The name of every statistic with its evaluator.
const EVALUATORS: &[(&str, Evaluator)] = &[
    ("two_proportion_z_pooled", rates::z_pooled),
    ("two_proportion_z_unpooled", rates::z_unpooled),
    ("chi2_2x2", rates::chi_square),
    ("wilson_interval", rates::wilson),
    ("clopper_pearson_interval", rates::clopper_pearson),
    ("jeffreys_interval", rates::jeffreys),
    ("wilson_cc_interval", rates::wilson_continuity),
    ("agresti_coull_interval", rates::agresti_coull),
    ("upper_bound_zero_events", rates::upper_bound_zero_events),
    ("wilson_effective_n", rates::wilson_effective_n),
    ("newcombe_diff_interval", rates::newcombe),
    ("mn_diff_interval", rates::miettinen_nurminen),
    ("agresti_caffo_interval", rates::agresti_caffo),
    ("noninferiority_lower_better", rates::noninferiority),
    ("fisher_exact", rates::fisher),
    ("boschloo_exact", rates::boschloo),
    ("barnard_exact", rates::barnard),
    ("cohen_h", rates::cohen_h),
    ("mcnemar", groups::mcnemar),
    ("mcnemar_from_rows", groups::mcnemar_from_rows),
    ("cmh", groups::cmh),
    ("cochran_q_risk_difference", groups::cochran_q),
    ("breslow_day", groups::breslow_day),
    ("cluster_se", groups::cluster_se),
    ("cluster_robust_diff", groups::cluster_robust_difference),
    ("paired_session_test", groups::paired_sessions),
    ("signflip_exact", groups::sign_flip),
    ("cluster_bootstrap_exact", groups::cluster_bootstrap),
    ("deff_bound", groups::deff_bound),
    ("adjust_pvalues", design::adjust),
    ("sample_size_two_prop", design::sample_size),
    ("power_two_prop", design::power),
    ("mde_two_prop", design::minimum_detectable_effect),
    ("group_sequential_bounds", design::group_sequential),
    ("lan_demets_obf_spend", design::spend_obrien_fleming),
    ("lan_demets_pocock_spend", design::spend_pocock),
    ("evalue_beta_binomial", design::e_value),
    ("msprt_two_prop", design::mixture_sprt),
    ("wald_sprt_bernoulli", design::wald_sprt),
    ("rogan_gladen", judge::rogan_gladen),
    ("rogan_gladen_diff", judge::rogan_gladen_difference),
    ("ppi_mean", judge::ppi_mean),
    ("ppi_mean_tuned", judge::ppi_mean_tuned),
    ("agreement_two_raters", judge::two_raters),
    ("krippendorff_alpha_nominal", judge::krippendorff_alpha),
    ("fleiss_kappa", judge::fleiss_kappa),
    ("render_table", judge::render_table),
    ("pooled_recall", judge::pooled_recall),
];

/// The names that [`evaluate`] knows.
pub fn functions() -> impl Iterator<Item = &'static str> {
    EVALUATORS.iter().map(|(name, _)| *name)
}

/// Evaluates one statistic; `fixture` holds the rows that an input may refer to.
///
/// # Errors
/// An unknown name, unreadable input, or the statistic's own error.
pub fn evaluate(fn_name: &str, input: &Value, fixture: &Value) -> Result<Value, EvalError> {
    let (_, evaluator) = EVALUATORS
        .iter()
        .find(|(name, _)| *name == fn_name)
        .ok_or_else(|| EvalError::UnknownFunction(fn_name.to_owned()))?;
    evaluator(&Input::new(input, fixture))
}

/// How a result differs from what a case expects.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Mismatch {
    /// An expected field was not produced.
    #[error("field \"{0}\" is missing")]
    Missing(String),
    /// A value differs by more than the tolerance.
    #[error("field \"{field}\": expected {expected}, found {found}")]
    Differs {
        /// The field.
        field: String,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
    },
    /// An error where a value was expected, or another error.
    #[error("expected {expected}, found the error {found}")]
    Error {
        /// The expected error code, or "a value".
        expected: String,
        /// The error's code.
        found: &'static str,
    },
}

/// Holds a result against a case's `expect` object.
///
/// Numbers may differ by `tolerance`; those under 1e-6 in magnitude also by a relative 1e-6. Fields that the case does not
/// mention are not looked at.
///
/// # Errors
/// The first difference.
pub fn compare(expect: &Value, result: &Result<Value, EvalError>, tolerance: f64) -> Result<(), Mismatch> {
    let expected_code = expect.get("error").and_then(Value::as_str);
    match (expected_code, result) {
        (None, Ok(found)) => compare_value("", expect, found, tolerance),
        (Some(code), Err(error)) if code == error.code() => Ok(()),
        (code, Err(error)) => {
            Err(Mismatch::Error { expected: code.unwrap_or("a value").to_owned(), found: error.code() })
        }
        (Some(code), Ok(found)) => {
            Err(Mismatch::Differs { field: "error".to_owned(), expected: code.to_owned(), found: found.to_string() })
        }
    }
}

fn compare_value(field: &str, expected: &Value, found: &Value, tolerance: f64) -> Result<(), Mismatch> {
    let differs =
        || Mismatch::Differs { field: field.to_owned(), expected: expected.to_string(), found: found.to_string() };
    match (expected, found) {
        (Value::Object(fields), Value::Object(_)) => fields.iter().try_for_each(|(name, value)| {
            let path = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
            let found = found.get(name).ok_or_else(|| Mismatch::Missing(path.clone()))?;
            compare_value(&path, value, found, tolerance)
        }),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .try_for_each(|(i, (l, r))| compare_value(&format!("{field}[{i}]"), l, r, tolerance)),
        (Value::Number(left), Value::Number(right)) => {
            let (Some(left), Some(right)) = (left.as_f64(), right.as_f64()) else { return Err(differs()) };
            let gap = (left - right).abs();
            let close = gap <= tolerance || (left.abs() < 1e-6 && gap <= 1e-6 * left.abs());
            if close { Ok(()) } else { Err(differs()) }
        }
        (left, right) if left == right => Ok(()),
        _ => Err(differs()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = functions().collect();
        assert_eq!(names.len(), EVALUATORS.len());
    }

    #[test]
    fn what_cannot_be_evaluated_is_named() {
        let eval = |name: &str, input: &Value| evaluate(name, input, &Value::Null);
        assert_eq!(eval("nope", &json!({})).map_err(|e| e.code()), Err("unknown_function"));
        let missing = eval("wilson_interval", &json!({"x": 1})).expect_err("n is missing");
        assert_eq!(missing.to_string(), "input field \"n\": expected a count");
        let negative = eval("wilson_interval", &json!({"x": -1, "n": 3}));
        assert_eq!(negative.map_err(|e| e.code()), Err("invalid_input"));
    }

    #[test]
    fn differences_are_found() {
        let found = Ok(json!({"a": 1.0, "b": [1e-9, true]}));
        assert_eq!(compare(&json!({"a": 1.0 + 1e-10}), &found, 1e-9), Ok(()));
        assert!(compare(&json!({"a": 1.1}), &found, 1e-9).is_err());
        assert_eq!(compare(&json!({"b": [1e-9, true]}), &found, 0.0), Ok(()));
        assert!(compare(&json!({"b": [2e-9, true]}), &found, 0.0).is_err());
        assert!(compare(&json!({"b": [1e-9]}), &found, 1.0).is_err());
        assert_eq!(compare(&json!({"c": 1}), &found, 1.0), Err(Mismatch::Missing("c".into())));
        assert!(compare(&json!({"error": "empty_sample"}), &found, 1.0).is_err());
        let error = Err(EvalError::Stats(StatsError::EmptySample));
        assert_eq!(compare(&json!({"error": "empty_sample"}), &error, 0.0), Ok(()));
        assert!(compare(&json!({"error": "invalid_p"}), &error, 0.0).is_err());
        assert!(compare(&json!({"a": 1}), &error, 0.0).is_err());
    }
}
