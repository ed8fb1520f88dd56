//! `judge calibrate`: a judge over a gold set, and what its error comes to.

use std::fs;
use std::path::{Path, PathBuf};

use laundromat_judge::gold::{BUNDLED, Basis, GoldSet, Item, Part};
use laundromat_judge::rules;
use laundromat_report::calibration::file::SCHEMA;
use laundromat_report::calibration::{CalibrationFile, GoldInfo, JudgeInfo, Judged, drift, table};
use laundromat_runner::experiment::Judge;
use laundromat_runner::{Calibrated, calibrate};

use super::super::run::{options, today};
use crate::args::{Calibrate, GoldPart};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Calibrate) -> Result<ExitCode, CliError> {
    let file = super::judge(&args.judge)?;
    let before = args.against.as_deref().map(CalibrationFile::read).transpose()?;
    let gold = gold(args.gold.as_deref())?;
    let items: Vec<&Item> = gold.items.iter().filter(|item| wanted(args.part, gold.part(item))).collect();
    if items.is_empty() {
        note(&format!("the gold set has no item in its {} part; name another with --part", id(args.part)));
        return Ok(ExitCode::NothingSelected);
    }
    let options = options(today(), &args.spending, &args.tape)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let record = args.tape.record.as_deref();
    let calibrated = runtime.block_on(calibrate(&gold, &items, &file, &options, record))?;
    if let Some(why) = &calibrated.over_budget {
        note(&format!("the budget is reached: {why}; nothing is measured by a part of the items"));
        return Ok(ExitCode::BudgetReached);
    }
    if calibrated.spent.calls > 0 {
        note(&format!("{} calls, {} tokens", calibrated.spent.calls, calibrated.spent.tokens));
    }
    let details: Vec<&str> = calibrated.rated.iter().map(|rated| rated.detail.as_str()).collect();
    let info = GoldInfo {
        name: gold.header.name.clone(),
        digest: gold.digest(),
        labels: gold.header.labels.id().to_owned(),
        part: id(args.part).to_owned(),
    };
    let judged = judged(&gold, &items, &calibrated)?;
    let calibration = CalibrationFile {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        judge: described(&file.judge, &calibrated),
        gold: info,
        items: judged,
    };
    table::lines(&calibration).iter().for_each(|text| line(text));
    if args.misses {
        misses(&calibration, &items, &details);
    }
    if let Some(before) = &before {
        line("");
        drift::drift(before, &calibration)?.lines().iter().for_each(|text| line(text));
    }
    if let Some(path) = &args.out {
        calibration.write(path)?;
        note(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::Pass)
}

/// The gold set in the file at `path`, or the bundled one.
fn gold(path: Option<&Path>) -> Result<GoldSet, CliError> {
    let (text, path) = match path {
        Some(path) => {
            let text =
                fs::read_to_string(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
            (text, path.to_owned())
        }
        None => (BUNDLED.to_owned(), PathBuf::from("the bundled gold set")),
    };
    let gold = GoldSet::parse(&text).map_err(|fault| CliError::Gold { path: path.clone(), fault })?;
    if gold.header.labels == Basis::Open {
        return Err(CliError::Unlabelled { path });
    }
    Ok(gold)
}

fn wanted(part: GoldPart, of: Part) -> bool {
    match part {
        GoldPart::All => true,
        GoldPart::Dev => of == Part::Dev,
        GoldPart::Test => of == Part::Test,
    }
}

fn id(part: GoldPart) -> &'static str {
    match part {
        GoldPart::Dev => Part::Dev.id(),
        GoldPart::Test => Part::Test.id(),
        GoldPart::All => "all",
    }
}

fn judged(gold: &GoldSet, items: &[&Item], calibrated: &Calibrated) -> Result<Vec<Judged>, CliError> {
    let pairs = items.iter().zip(&calibrated.rated);
    let judged = pairs.map(|(item, rated)| {
        Some(Judged {
            id: item.id.clone(),
            domain: gold.domain(item).to_owned(),
            form: item.form.clone(),
            class: item.class.id().to_owned(),
            gold: item.reading?,
            gate: rated.gate,
            judge: rated.reading,
        })
    });
    let judged: Option<Vec<Judged>> = judged.collect();
    judged.ok_or_else(|| CliError::Internal("a labelled set holds an item without a label".to_owned()))
}

fn described(judge: &Judge, calibrated: &Calibrated) -> JudgeInfo {
    let (endpoint, parameters) = match judge.model() {
        Some(model) => (model.key_endpoint().into_owned(), model.parameters_text()),
        None => (String::new(), String::new()),
    };
    JudgeInfo {
        model: judge.name().to_owned(),
        endpoint,
        parameters,
        rubric: judge.rubric().map(|rubric| rubric.name.clone()).unwrap_or_default(),
        rubric_digest: judge.rubric().map_or_else(rules::digest, laundromat_judge::Rubric::digest),
        served: calibrated.served.iter().cloned().collect(),
    }
}

/// What was read otherwise than its label, with the summary on one line.
fn misses(calibration: &CalibrationFile, items: &[&Item], details: &[&str]) {
    line("");
    for ((judged, item), detail) in calibration.items.iter().zip(items).zip(details) {
        let verdict = judged.verdict();
        if verdict == Some(judged.gold) {
            continue;
        }
        let read = verdict.map_or_else(|| (*detail).to_owned(), |verdict| verdict.to_string());
        let words: Vec<&str> = item.summary.split_whitespace().collect();
        line(&format!("{} [{}]: {} read as {read}: {}", judged.id, judged.class, judged.gold, words.join(" ")));
    }
}
