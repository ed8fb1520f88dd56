//! Typed access to the fields of a case's input.

use serde_json::Value;

use super::EvalError;
use crate::counts::{Alpha, Counts};
use crate::strata::Stratum;

/// A case's input with the fixture that it may refer to.
pub(super) struct Input<'a> {
    value: &'a Value,
    fixture: &'a Value,
}

/// Two samples, first and second.
pub(super) struct Samples {
    pub(super) first: Counts,
    pub(super) second: Counts,
}

/// A row of the fixture.
pub(super) struct Row<'a>(&'a Value);

impl Row<'_> {
    /// The values of the named fields, as text that identifies them.
    pub(super) fn key(&self, fields: &[&str]) -> String {
        let parts: Vec<String> = fields.iter().map(|f| self.0.get(*f).unwrap_or(&Value::Null).to_string()).collect();
        parts.join("/")
    }

    pub(super) fn laundered(&self) -> Result<f64, EvalError> {
        number(self.0.get("laundered")).ok_or_else(|| fault("rows.laundered", "0 or 1"))
    }
}

pub(super) fn fault(field: &str, expected: &'static str) -> EvalError {
    EvalError::Input { field: field.to_owned(), expected }
}

/// A number; null and the customary words for what JSON cannot hold become what they stand for.
fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(n) => n.as_f64(),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Null => Some(f64::NAN),
        Value::String(s) => s.parse().ok().filter(|x: &f64| !x.is_finite()),
        _ => None,
    }
}

/// Sums of counts below this cannot overflow.
const MAX_COUNT: f64 = 9e15;

fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().filter(|n| (*n as f64) < MAX_COUNT).or_else(|| {
        let x = value.as_f64()?;
        // Reference files write counts as 24.0 now and then.
        (x >= 0.0 && x.fract() == 0.0 && x < MAX_COUNT).then_some(x as u64)
    })
}

impl<'a> Input<'a> {
    pub(super) const fn new(value: &'a Value, fixture: &'a Value) -> Self {
        Self { value, fixture }
    }

    pub(super) fn get(&self, field: &str) -> Option<&'a Value> {
        self.value.get(field)
    }

    pub(super) fn number(&self, field: &str) -> Result<f64, EvalError> {
        number(self.get(field)).ok_or_else(|| fault(field, "a number"))
    }

    pub(super) fn count(&self, field: &str) -> Result<u64, EvalError> {
        count(self.get(field)).ok_or_else(|| fault(field, "a count"))
    }

    pub(super) fn text(&self, field: &str) -> Result<&'a str, EvalError> {
        self.get(field).and_then(Value::as_str).ok_or_else(|| fault(field, "a string"))
    }

    /// The level, 5% where the case names none.
    pub(super) fn alpha(&self) -> Result<Alpha, EvalError> {
        match self.get("alpha") {
            None => Ok(Alpha::FIVE_PERCENT),
            Some(_) => Ok(Alpha::new(self.number("alpha")?)?),
        }
    }

    pub(super) fn counts(&self, events: &str, trials: &str) -> Result<Counts, EvalError> {
        Ok(Counts::new(self.count(events)?, self.count(trials)?)?)
    }

    pub(super) fn samples(&self) -> Result<Samples, EvalError> {
        Ok(Samples { first: self.counts("x1", "n1")?, second: self.counts("x2", "n2")? })
    }

    fn list(&self, field: &str) -> Result<&'a Vec<Value>, EvalError> {
        self.get(field).and_then(Value::as_array).ok_or_else(|| fault(field, "a list"))
    }

    pub(super) fn numbers(&self, field: &str) -> Result<Vec<f64>, EvalError> {
        self.list(field)?.iter().map(|v| number(Some(v)).ok_or_else(|| fault(field, "a list of numbers"))).collect()
    }

    pub(super) fn counts_list(&self, field: &str) -> Result<Vec<u64>, EvalError> {
        self.list(field)?.iter().map(|v| count(Some(v)).ok_or_else(|| fault(field, "a list of counts"))).collect()
    }

    /// Values of any kind, told apart by their text; null is none.
    pub(super) fn labels(&self, field: &str) -> Result<Vec<Vec<Option<String>>>, EvalError> {
        let rows = self.list(field)?.iter().map(|row| {
            let row = row.as_array()?;
            Some(row.iter().map(|v| (!v.is_null()).then(|| v.to_string())).collect())
        });
        rows.collect::<Option<_>>().ok_or_else(|| fault(field, "a list of lists"))
    }

    /// The texts of a list, whatever their kind.
    pub(super) fn keys(&self, field: &str) -> Result<Vec<String>, EvalError> {
        Ok(self.list(field)?.iter().map(Value::to_string).collect())
    }

    pub(super) fn names(&self, field: &str) -> Result<Vec<&'a str>, EvalError> {
        self.list(field)?.iter().map(|v| v.as_str().ok_or_else(|| fault(field, "a list of strings"))).collect()
    }

    pub(super) fn table(&self, field: &str) -> Result<Vec<Vec<u64>>, EvalError> {
        let rows = self.list(field)?.iter().map(|row| row.as_array()?.iter().map(|v| count(Some(v))).collect());
        rows.collect::<Option<_>>().ok_or_else(|| fault(field, "a table of counts"))
    }

    /// Tables `[[event, no event], [event, no event]]`, one row for each arm.
    pub(super) fn strata(&self) -> Result<Vec<Stratum>, EvalError> {
        let bad = || fault("strata", "tables of two rows and two columns");
        self.list("strata")?
            .iter()
            .map(|table| {
                let cell = |i: usize, j: usize| count(table.get(i)?.get(j));
                let row = |i| Some((cell(i, 0)?, cell(i, 1)?));
                let ((a, b), (c, d)) = row(0).zip(row(1)).ok_or_else(bad)?;
                Ok(Stratum::new(a, a + b, c, c + d)?)
            })
            .collect()
    }

    /// The rows of one arm: the case's own `rows`, or those of the fixture that `rows_ref` names as `fixture.NAME`.
    pub(super) fn arm_rows(&self, arm: &str) -> Result<Vec<Row<'a>>, EvalError> {
        let reference = self.get("rows_ref").and_then(Value::as_str).unwrap_or("fixture.rows");
        let name =
            reference.strip_prefix("fixture.").ok_or_else(|| fault("rows_ref", "a name such as fixture.rows"))?;
        let rows = self.get("rows").or_else(|| self.fixture.get(name)).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| fault("rows_ref", "a list of rows in the fixture"))?;
        Ok(rows.iter().filter(|r| r.get("arm").and_then(Value::as_str) == Some(arm)).map(Row).collect())
    }
}
