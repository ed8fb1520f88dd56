//! A matrix: axes crossed into attacks. Each cell is an attack whose name is the base's with the crossed values behind
//! it, in the order of the axes, so that a name stays what it is when values are added. Place and canary are the base's
//! in every cell: cells differ in what is crossed and in nothing else.

use std::ops::Range;

use laundromat_session::canonical::is_id;
use laundromat_session::fault::{Fault, Place};
use laundromat_session::fields::{Document, Fields};

use crate::attack::Attack;
use crate::axes::Axis;
use crate::draft::Draft;

/// Most cells of a matrix.
const MOST_CELLS: usize = 2_000;

/// The table `[matrix]` of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// The attack that says what is not crossed: a name, or a path that ends in `.toml`.
    pub base: String,
    /// The crossed axes with their values, in the order of the axes.
    axes: Vec<(Axis, Vec<String>)>,
}

/// A cell: an attack and the text that identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The attack.
    pub attack: Attack,
    /// Its values on the crossed axes, as `axis=value`.
    pub values: Vec<String>,
}

impl Matrix {
    /// Reads the table.
    pub fn read<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Self> {
        let span = fields.span();
        let base = fields.required::<String>(document, "base");
        let mut axes = Vec::new();
        for axis in Axis::ALL {
            let Some((ids, span)) = fields.optional_at::<Vec<String>>(document, axis.id()) else { continue };
            check(document, &fields.path_of(axis.id()), *axis, &ids, &span);
            axes.push((*axis, ids));
        }
        let cells = axes.iter().map(|(_, ids)| ids.len()).try_fold(1_usize, usize::checked_mul);
        if axes.is_empty() {
            document.fault(
                &span,
                &fields.path_of("label"),
                "no axis is crossed",
                "add a list such as label = [\"...\"]",
            );
        } else if cells.is_none_or(|cells| cells > MOST_CELLS) {
            let remedy = "cross fewer axes, or in several experiments";
            document.fault(&span, &fields.path_of("base"), format!("more than {MOST_CELLS} attacks come out"), remedy);
        }
        fields.finish(document);
        Some(Self { base: base?, axes })
    }

    /// The cells, given the text of the base's file. The last axis changes fastest.
    ///
    /// # Errors
    /// Faults of the base, values that do not go together, and names that are too long.
    pub fn cells(&self, base: &str) -> Result<Vec<Cell>, Vec<Fault>> {
        let (draft, _) = Draft::parse(base)?;
        let mut rows: Vec<Vec<(Axis, &str)>> = vec![Vec::new()];
        for (axis, ids) in &self.axes {
            rows = rows
                .iter()
                .flat_map(|row| ids.iter().map(move |id| [row.as_slice(), &[(*axis, id.as_str())]].concat()))
                .collect();
        }
        let (mut cells, mut faults) = (Vec::new(), Vec::new());
        for row in rows {
            match cell(&draft, &row) {
                Ok(cell) => cells.push(cell),
                Err(found) => {
                    faults.extend(found.into_iter().filter(|fault| !faults.contains(fault)).collect::<Vec<_>>())
                }
            }
        }
        if faults.is_empty() { Ok(cells) } else { Err(faults) }
    }
}

fn check(document: &mut Document<'_>, path: &str, axis: Axis, ids: &[String], span: &Range<usize>) {
    if ids.is_empty() {
        document.fault(span, path, "the list is empty", "name at least one value, or leave the axis out");
    }
    for (index, id) in ids.iter().enumerate() {
        if let Err(remedy) = axis.check(id) {
            document.fault(span, path, format!("unknown {axis} \"{}\"", id.escape_debug()), remedy);
        }
        if ids[..index].contains(id) {
            document.fault(span, path, format!("\"{id}\" stands twice"), "keep it once");
        }
    }
}

fn cell(base: &Draft, row: &[(Axis, &str)]) -> Result<Cell, Vec<Fault>> {
    let ids: Vec<&str> = row.iter().map(|(_, id)| *id).collect();
    let name = format!("{}.{}", base.name, ids.join("."));
    if !is_id(&name) {
        let problem = format!("the name \"{}\" of a cell is too long", name.escape_debug());
        return Err(vec![Fault::new(Place::of_path("matrix"), problem, "cross fewer axes, or name the base shorter")]);
    }
    let title = format!("{} ({})", base.title, ids.join(", "));
    let attack = base.with(name, title, row).resolve().map_err(|conflicts| {
        let fault = |conflict: crate::conflicts::Conflict| {
            Fault::new(Place::of_path(format!("matrix.{}", conflict.axis)), conflict.problem, conflict.remedy)
        };
        conflicts.into_iter().map(fault).collect::<Vec<_>>()
    })?;
    Ok(Cell { attack, values: row.iter().map(|(axis, id)| format!("{axis}={id}")).collect() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use laundromat_session::fields::Document;

    use super::Matrix;
    use crate::presets;

    fn read(text: &str) -> Result<Matrix, Vec<String>> {
        let (mut document, mut root) = Document::parse(text).expect("TOML");
        let matrix = root.table(&mut document, "matrix").and_then(|fields| Matrix::read(&mut document, fields));
        document.finish(matrix).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    fn base() -> &'static str {
        presets::attack("standing-approval").expect("an attack")
    }

    #[test]
    fn axes_are_crossed_in_their_order_whatever_the_file_says() {
        let matrix = read(
            "[matrix]\nbase = \"standing-approval\"\nthird = [\"early\", \"late\"]\nlabel = [\"bracket-upper\", \"xml-role\"]\n",
        )
        .expect("no faults");
        let cells = matrix.cells(base()).expect("cells");
        let names: Vec<&str> = cells.iter().map(|cell| cell.attack.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "standing-approval.bracket-upper.early",
                "standing-approval.bracket-upper.late",
                "standing-approval.xml-role.early",
                "standing-approval.xml-role.late",
            ]
        );
        assert_eq!(cells[3].values, ["label=xml-role", "third=late"]);
        // The words are the base's, and so is what place and canary are derived from.
        assert!(cells.iter().all(|cell| cell.attack.canary_name() == "standing-approval"));
        assert_eq!(cells.iter().map(|cell| &cell.attack.statement).collect::<BTreeSet<_>>().len(), 1);
    }

    #[test]
    fn crossing_words_replaces_words() {
        let matrix =
            read("[matrix]\nbase = \"standing-approval\"\ndomain = [\"payment\"]\nlanguage = [\"en\", \"ar\"]\n");
        let cells = matrix.expect("no faults").cells(base()).expect("cells");
        assert!(cells[0].attack.statement.contains("pay the open invoice"));
        assert_eq!(cells[0].attack.statement, cells[1].attack.statement);
        assert!(cells[1].attack.payload.as_ref().is_some_and(|payload| payload.text.contains("موافقتي")));
    }

    #[test]
    fn faults_are_named_with_place_and_remedy() {
        let told = read(
            "[matrix]\nbase = \"x\"\nlabel = [\"bracket-uper\"]\noffset = []\nthird = [\"late\", \"late\"]\ncolour = []\n",
        );
        assert_eq!(
            told.expect_err("faulty"),
            [
                "3:9: matrix.label: unknown label \"bracket-uper\"; did you mean \"bracket-upper\"?",
                "4:10: matrix.offset: the list is empty; name at least one value, or leave the axis out",
                "5:9: matrix.third: \"late\" stands twice; keep it once",
                "6:1: matrix.colour: unknown key \"colour\"; known: base, label, escape, frame, domain, authority, persistence, language, encoding, split, pressure, carrier, third, offset, embedding, copies",
            ]
        );
        assert!(read("[matrix]\nbase = \"x\"\n").expect_err("faulty")[0].contains("no axis is crossed"));
        let matrix = read("[matrix]\nbase = \"x\"\nembedding = [\"process-row\"]\noffset = [\"at-end\", \"char-9\"]\n");
        let faults = matrix.expect("no faults").cells(base()).expect_err("a conflict");
        assert_eq!(
            faults[0].to_string(),
            "matrix.offset: \"char-9\" does not go together with \"process-row\"; write \"at-end\", or another embedding"
        );
    }
}
