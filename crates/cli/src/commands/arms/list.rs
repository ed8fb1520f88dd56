//! The list of arms that come with laundromat: a table, or a block for each where the terminal is too
//! narrow for one.

use laundromat_compactor::{Arm, presets};

use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{columns, line, note};

/// What is told of an arm.
struct Row {
    cells: [String; 6],
    title: String,
}

const HEADS: [&str; 6] = ["name", "form", "labels", "prompt", "version", "breaks"];
/// Columns a title needs at least beside the table.
const TITLE: usize = 24;
/// Characters of a version that a table shows; a block shows all.
const VERSION: usize = 20;

pub(super) fn print() -> Result<ExitCode, CliError> {
    let rows: Vec<Row> = presets::arm_names().into_iter().filter_map(row).collect();
    for text in lines(&rows, columns()) {
        line(&text);
    }
    note("prompt: whose words the instructions are in; a rate under a paraphrase is not that harness's rate");
    Ok(ExitCode::Pass)
}

fn row(name: &str) -> Option<Row> {
    // Embedded arms have no faults: a test reads each.
    let arm = Arm::parse(presets::arm(name)?).ok()?;
    let breaks: Vec<&str> = arm.faults.iter().map(|fault| fault.id()).collect();
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    Some(Row {
        cells: [
            arm.name,
            arm.form.id().to_owned(),
            or_dash(arm.labels.map_or_else(String::new, |labels| labels.id.to_owned())),
            arm.prompt_basis.id().to_owned(),
            arm.source.version,
            or_dash(breaks.join(", ")),
        ],
        title: arm.title,
    })
}

/// The list within `width` columns; a table of any width where there is no terminal.
fn lines(rows: &[Row], width: Option<usize>) -> Vec<String> {
    let shown = |row: &Row, column: usize| {
        let most = if HEADS[column] == "version" { VERSION } else { usize::MAX };
        row.cells[column].chars().take(most).collect::<String>()
    };
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| {
            let cells = rows.iter().map(|row| shown(row, column).chars().count());
            cells.chain([HEADS[column].len()]).max().unwrap_or_default()
        })
        .collect();
    let table = widths.iter().map(|width| width + 2).sum::<usize>();
    if width.is_some_and(|width| width < table + TITLE) {
        return rows.iter().flat_map(|row| block(row, width.unwrap_or(table))).collect();
    }
    let mut out = vec![joined(&HEADS.map(str::to_owned), &widths, "title")];
    for row in rows {
        let cells = std::array::from_fn(|column| shown(row, column));
        out.push(joined(&cells, &widths, &row.title));
    }
    out
}

fn joined(cells: &[String; 6], widths: &[usize], last: &str) -> String {
    let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
    format!("{cells}{last}")
}

/// An arm as a few lines: its name, then what is told of it, wrapped at words.
fn block(row: &Row, width: usize) -> Vec<String> {
    let mut out = vec![row.cells[0].clone()];
    out.extend(wrapped(&row.title, width));
    for (head, cell) in HEADS.iter().zip(&row.cells).skip(1) {
        out.extend(wrapped(&format!("{head}: {cell}"), width));
    }
    out
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match out.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            // What goes on is indented further than what begins.
            Some(_) => out.push(format!("    {word}")),
            None => out.push(format!("  {word}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use laundromat_compactor::presets;

    use super::{Row, lines, row};

    fn rows() -> Vec<Row> {
        presets::arm_names().into_iter().filter_map(row).collect()
    }

    #[test]
    fn every_arm_is_listed() {
        let table = lines(&rows(), None);
        assert_eq!(table.len(), presets::arm_names().len() + 1);
        assert!(table[0].starts_with("name ") && table[0].ends_with("title"));
        let hermes = table.iter().find(|line| line.starts_with("hermes-0.19 ")).expect("a row");
        assert!(hermes.contains("flat-user") && hermes.contains("paraphrase") && hermes.contains("normal-end"));
    }

    #[test]
    fn narrow_terminals_get_blocks_that_fit() {
        for width in [40, 80, 120] {
            let told = lines(&rows(), Some(width));
            let too_wide: Vec<&String> = told.iter().filter(|line| line.chars().count() > width).collect();
            assert!(too_wide.is_empty(), "{width}: {too_wide:#?}");
            assert!(told.iter().any(|line| line == "hermes-main"));
        }
    }
}
