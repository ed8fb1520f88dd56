//! `stats eval`: a file of reference cases against the statistics that the reports use.

use std::fs;

use laundromat_metrics::golden::{self, EvalError};
use serde_json::Value;

use crate::args::StatsEval;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

/// What a case may differ by where it does not say.
const TOLERANCE: f64 = 1e-9;

/// A case, as far as it could be read.
struct Case<'a> {
    function: &'a str,
    input: &'a Value,
    expect: &'a Value,
    tolerance: f64,
}

pub(crate) fn run(args: &StatsEval) -> Result<ExitCode, CliError> {
    let unreadable = |source| CliError::Unreadable { path: args.file.clone(), source };
    let faulty = |what: String| CliError::Cases { path: args.file.clone(), what };
    let text = fs::read_to_string(&args.file).map_err(unreadable)?;
    let file: Value = serde_json::from_str(&text).map_err(|error| faulty(format!("not JSON: {error}")))?;
    let cases = file.get("cases").and_then(Value::as_array);
    let cases = cases.ok_or_else(|| faulty("no list \"cases\"; see tests/data/stats_golden.json".to_owned()))?;
    let fixture = file.get("fixture").unwrap_or(&Value::Null);
    let (mut passed, mut failed, mut unread) = (0_usize, 0_usize, 0_usize);
    for (at, value) in cases.iter().enumerate() {
        let id = value.get("id").and_then(Value::as_str).map_or_else(|| format!("case {}", at + 1), str::to_owned);
        let case = match read(value) {
            Ok(case) => case,
            Err(what) => {
                unread += 1;
                line(&format!("UNREADABLE {id}: {what}"));
                continue;
            }
        };
        let result = golden::evaluate(case.function, case.input, fixture);
        let compared = golden::compare(case.expect, &result, case.tolerance);
        let word = if compared.is_ok() { "PASS" } else { "FAIL" };
        line(&format!("{word} {id} {}: {}", case.function, beside(case.expect, &result)));
        match compared {
            Ok(()) => passed += 1,
            Err(mismatch) => {
                failed += 1;
                line(&format!("     {mismatch} (tolerance {:e})", case.tolerance));
                // The code alone does not say which field, or which name.
                if let Err(error) = &result {
                    line(&format!("     {}: {error}", error.code()));
                }
            }
        }
    }
    line(&format!("{} cases: {passed} pass, {failed} fail, {unread} cannot be read", cases.len()));
    match (unread, failed, passed) {
        (1.., _, _) => Err(CliError::UnreadableCases { path: args.file.clone(), count: unread }),
        (0, 1.., _) => Ok(ExitCode::GateFailed),
        (0, 0, 0) => Err(faulty("the list \"cases\" is empty".to_owned())),
        (0, 0, 1..) => Ok(ExitCode::Pass),
    }
}

fn read(value: &Value) -> Result<Case<'_>, String> {
    let field = |name: &str| value.get(name).ok_or_else(|| format!("the field \"{name}\" is missing"));
    let function = field("fn")?.as_str().ok_or("the field \"fn\" is no name of a statistic")?;
    let (input, expect) = (field("input")?, field("expect")?);
    for (name, value) in [("input", input), ("expect", expect)] {
        if !value.is_object() {
            return Err(format!("the field \"{name}\" is no object"));
        }
    }
    let tolerance = match value.get("tol") {
        None => TOLERANCE,
        Some(tol) => tol.as_f64().filter(|tol| *tol >= 0.0).ok_or("the field \"tol\" is no tolerance")?,
    };
    Ok(Case { function, input, expect, tolerance })
}

/// Every expected field with what was found, or the errors of both sides.
fn beside(expect: &Value, result: &Result<Value, EvalError>) -> String {
    let expected = expect.as_object().into_iter().flatten();
    let pairs = expected.map(|(name, wanted)| match result {
        Ok(found) if name != "error" => {
            let found = found.get(name).map_or_else(|| "nothing".to_owned(), Value::to_string);
            format!("{name} {found} (expected {wanted})")
        }
        Ok(found) => format!("{found} (expected error {wanted})"),
        Err(error) if name == "error" => format!("error {:?} (expected {wanted})", error.code()),
        Err(error) => format!("error {:?} (expected {name} {wanted})", error.code()),
    });
    pairs.collect::<Vec<_>>().join(", ")
}
