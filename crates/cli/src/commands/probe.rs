//! `probe`: what becomes of turns, secrets, marks and requests in each arm, told without a model.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use laundromat_compactor::probes::{self, Finding, Probe, Verdict};
use laundromat_compactor::{Compactor, presets};
use laundromat_report::escape;
use laundromat_runner::inputs::ArmKind;
use laundromat_runner::{Inputs, RunError};
use laundromat_session::Session;
use laundromat_session::fault::choose_remedy;

use crate::args::ProbeArgs;
use crate::commands::load;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

/// An answer with whom it is about.
struct Row {
    arm: String,
    session: String,
    finding: Finding,
    /// Whether it shows a fault, and the arm declares it.
    declared: Declared,
}

/// How an answer stands to the arm's declared faults.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// No fault is shown.
    NoFault,
    /// A fault is shown that the arm declares.
    Yes,
    /// A fault is shown that it does not declare.
    No,
}

impl Declared {
    fn id(self) -> &'static str {
        match self {
            Self::NoFault => "",
            Self::Yes => "declared",
            Self::No => "undeclared",
        }
    }
}

pub(crate) fn run(args: &ProbeArgs) -> Result<ExitCode, CliError> {
    let (arms, sessions) = subjects(args)?;
    let probes = chosen(&args.probes)?;
    let mut rows = Vec::new();
    for compactor in &arms {
        for session in &sessions {
            let asked = probes.iter().map(|probe| probe.run(compactor, session));
            rows.extend(asked.map(|finding| row(compactor, session, finding)));
        }
    }
    for text in table(&rows) {
        line(&text);
    }
    if let Some(path) = &args.csv {
        write(path, &rows)?;
    }
    let undeclared = rows.iter().filter(|row| row.declared == Declared::No).count();
    let broken = rows.iter().filter(|row| row.finding.verdict == Verdict::Breaks).count();
    note(&format!("{} answers, {broken} broken properties, {undeclared} of them not declared", rows.len()));
    Ok(if undeclared == 0 { ExitCode::Pass } else { ExitCode::GateFailed })
}

/// The arms that are asked, and the sessions that they are asked about.
fn subjects(args: &ProbeArgs) -> Result<(Vec<Compactor>, Vec<Session>), CliError> {
    if let Some(path) = &args.experiment {
        let inputs = Inputs::load(path)?;
        let sessions = inputs.sessions.iter().map(|entry| inputs.session(entry)).collect::<Result<_, RunError>>()?;
        let mut arms = Vec::new();
        for arm in inputs.arms {
            match arm {
                ArmKind::Built(compactor) => arms.push(Arc::unwrap_or_clone(compactor)),
                ArmKind::Exec { arm, .. } => {
                    note(&format!("{}: an exec arm is not asked: it is another program", arm.name))
                }
            }
        }
        return Ok((arms, sessions));
    }
    let names: Vec<&str> = match args.arms.is_empty() {
        true => presets::arm_names(),
        false => args.arms.iter().map(String::as_str).collect(),
    };
    let arms = names.into_iter().map(load::arm).collect::<Result<_, _>>()?;
    let session = args.session.as_ref().map_or_else(|| Ok(probes::session()), |path| load::session(path, "probe"))?;
    Ok((arms, vec![session]))
}

fn chosen(names: &[String]) -> Result<Vec<Probe>, CliError> {
    if names.is_empty() {
        return Ok(Probe::ALL.to_vec());
    }
    let known: Vec<&str> = Probe::ALL.iter().map(|probe| probe.id()).collect();
    let unknown = |name: &String| CliError::UnknownProbe { name: name.clone(), remedy: choose_remedy(name, &known) };
    names.iter().map(|name| Probe::by_id(name).ok_or_else(|| unknown(name))).collect()
}

fn row(compactor: &Compactor, session: &Session, finding: Finding) -> Row {
    let declared = match finding.verdict {
        Verdict::Breaks if finding.is_undeclared(compactor) => Declared::No,
        Verdict::Breaks => Declared::Yes,
        Verdict::Holds | Verdict::NotKnown | Verdict::Measured => Declared::NoFault,
    };
    Row { arm: compactor.arm().name.clone(), session: session.id.clone(), finding, declared }
}

fn table(rows: &[Row]) -> Vec<String> {
    let cells: Vec<[&str; 5]> = rows
        .iter()
        .map(|row| {
            let Row { arm, session, finding, declared } = row;
            [arm, session, finding.probe.id(), finding.verdict.id(), declared.id()]
        })
        .collect();
    let heads = ["arm", "session", "probe", "verdict", ""];
    let widths: [usize; 5] = std::array::from_fn(|column| {
        cells.iter().chain([&heads]).map(|cells| cells[column].chars().count()).max().unwrap_or_default()
    });
    let joined = |cells: &[&str; 5], last: &str| {
        let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        format!("{cells}{last}")
    };
    let mut out = vec![joined(&heads, "what was seen")];
    out.extend(cells.iter().zip(rows).map(|(cells, row)| joined(cells, &row.finding.detail)));
    out
}

fn write(path: &Path, rows: &[Row]) -> Result<(), CliError> {
    let unwritable = |source| CliError::Run(RunError::Unwritable { path: path.to_owned(), source });
    let mut csv = csv::Writer::from_writer(File::create(path).map_err(unwritable)?);
    let written = (|| {
        csv.write_record(["arm", "session", "probe", "invariant", "verdict", "declared", "detail"])?;
        for row in rows {
            let Row { arm, session, finding, declared } = row;
            let invariant = finding.probe.invariant().map_or("", |invariant| invariant.id());
            let cells =
                [arm, session, finding.probe.id(), invariant, finding.verdict.id(), declared.id(), &finding.detail];
            csv.write_record(cells.map(escape::csv))?;
        }
        csv.flush().map_err(csv::Error::from)
    })();
    written.map_err(|error: csv::Error| unwritable(error.into()))
}
