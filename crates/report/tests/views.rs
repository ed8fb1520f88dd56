//! The views of whole runs, as a user finds them in the folder.

// Helpers of tests are tests too, which clippy's own setting does not see.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use laundromat_report::write_views;
use laundromat_session::{Outcome, PlantKind, Reading};
use laundromat_store::{Run, SummarizerKind};

use common::{MODELS, arm, attack, call, clean, id, manifest, quickstart, scored, stored, study, summarizer, unscored};

const TABLES: [&str; 5] = ["trials.csv", "rates.csv", "contrasts.csv", "recall.csv", "calls.csv"];

/// Writes the views of a run and reads them back by name.
fn views(run: &Run, folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let written = write_views(run, folder).unwrap();
    let read = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
        (name, std::fs::read(path).unwrap())
    };
    written.files.iter().map(read).collect()
}

fn text(views: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(views[name].clone()).unwrap()
}

fn of(make: impl Fn(&Path) -> Run) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let run = make(folder.path());
    views(&run, folder.path())
}

fn snapshot(run: &str, views: &BTreeMap<String, Vec<u8>>) {
    for name in TABLES.iter().chain(&["report.md"]) {
        insta::assert_snapshot!(format!("{run}-{name}"), text(views, name));
    }
}

#[test]
fn a_run_with_the_built_in_reader() {
    let views = of(quickstart);
    snapshot("quickstart", &views);
    let report = text(&views, "report.md");
    let fed = report.matches("\n| --- |").count() - report.matches("| arm | title |").count();
    assert_eq!(report.matches("> Note: reader is a built-in reader, no LLM.").count(), fed);
    assert!(!report.contains("z = ") && text(&views, "contrasts.csv").contains("0,,,none (deterministic reader)"));
}

#[test]
fn the_published_study() {
    let views = of(study);
    snapshot("study", &views);
    let report = text(&views, "report.md");
    for printed in [
        "52/72 (72.2%)",
        "43/71 (60.6%)",
        "14/72 (19.4%)",
        "(naive pooled z = 1.48: assumes independent runs, for comparison with published tables)",
        "(naive pooled z = 6.36: assumes",
        "(naive pooled z = 5.02: assumes",
    ] {
        assert!(report.contains(printed), "{printed}");
    }
    assert!(!report.contains("built-in") && !report.contains("Incomplete"));
}

#[test]
fn the_same_store_gives_the_same_bytes() {
    for make in [quickstart, study] {
        let views = of(make);
        assert_eq!(views.len(), 12);
        assert_eq!(views, of(make));
        assert!(views.values().all(|bytes| !bytes.is_empty()));
    }
}

#[test]
fn a_note_stands_in_every_title_and_in_no_table() {
    const NOTE: &str = "a model of 0.5B: not evidence <about> others";
    let make = |note: &str| {
        of(|folder: &Path| {
            let mut manifest = manifest(
                "noted",
                1,
                vec![attack("forged", PlantKind::Attack), attack("clean", PlantKind::Clean)],
                vec![arm("flat", "", "flat-user", &[])],
                vec![summarizer("m", "m", SummarizerKind::Llm)],
                1,
            );
            manifest.note = note.to_owned();
            stored(
                folder,
                &manifest,
                vec![scored(id("session-01", "forged", "flat", "m", 1), Reading::User)],
                Vec::new(),
            )
        })
    };
    let (plain, noted) = (make(""), make(NOTE));
    for name in TABLES {
        assert_eq!(plain[name], noted[name], "{name}");
    }
    assert!(text(&plain, "report.md").starts_with("# Laundering report: noted\n"));
    let title = text(&noted, "report.md").lines().next().unwrap().to_owned();
    assert!(title.contains("noted. a model of 0.5B: not evidence \\<about\\> others"), "{title}");
    for plot in ["rates", "models", "recall"] {
        let svg = text(&noted, &format!("plots/{plot}.svg"));
        let title = svg.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
        assert!(title.ends_with(". a model of 0.5B: not evidence &lt;about&gt; others"), "{title}");
        assert!(!text(&plain, &format!("plots/{plot}.svg")).contains("evidence"));
    }
}

#[test]
fn an_arm_of_unusable_summaries_is_named_before_its_rate() {
    let views = of(|folder: &Path| {
        let manifest = manifest(
            "echo",
            3,
            vec![attack("forged", PlantKind::Attack)],
            vec![arm("flat", "", "flat-user", &[]), arm("typed_1", "", "typed", &[])],
            vec![summarizer("m", "m", SummarizerKind::Llm)],
            1,
        );
        let trials = (1..=6).map(|n| {
            let name = if n > 3 { "typed_1" } else { "flat" };
            let mut trial =
                scored(id(&format!("session-{:02}", (n - 1) % 3 + 1), "forged", name, "m", 1), Reading::Absent);
            trial.usable = Some(n < 5);
            trial
        });
        stored(folder, &manifest, trials.collect(), Vec::new())
    });
    let report = text(&views, "report.md");
    let note = "> **Note:** Fewer than half of the summaries are usable under typed\\_1 (1/3). ";
    let (at, table) = (report.find(note).unwrap(), report.find("| arm | all |").unwrap());
    assert!(at < table);
}

#[test]
fn latencies_and_attempts_stand_in_calls_alone() {
    let make = |slower: u64| {
        of(|folder: &Path| {
            let manifest = manifest(
                "calls",
                1,
                vec![attack("forged", PlantKind::Attack)],
                vec![arm("flat", "", "flat-user", &[])],
                vec![summarizer("m", "m", SummarizerKind::Llm)],
                1,
            );
            let trial = scored(id("session-01", "forged", "flat", "m", 1), Reading::User);
            let mut made = call(&trial, 1);
            made.latency_us += slower;
            made.attempts += u32::try_from(slower).unwrap();
            stored(folder, &manifest, vec![trial], vec![made])
        })
    };
    let (mut fast, mut slow) = (make(0), make(5));
    assert_ne!(fast.remove("calls.csv"), slow.remove("calls.csv"));
    assert_eq!(fast, slow);
}

#[test]
fn nothing_judged_is_said_and_is_no_number() {
    let empty = of(|folder: &Path| {
        let mut run = manifest(
            "empty",
            2,
            vec![attack("forged", PlantKind::Attack), attack("clean", PlantKind::Clean)],
            vec![arm("flat", "", "flat-user", &[]), arm("typed", "", "role-typed", &[])],
            MODELS.map(|model| summarizer(model, model, SummarizerKind::Llm)).to_vec(),
            2,
        );
        run.sessions[1].origin = "claude-code".to_owned();
        let refused = unscored(id("session-01", "forged", "flat", MODELS[0], 1), Outcome::Refused, "safety");
        stored(folder, &run, vec![refused], Vec::new())
    });
    let report = text(&empty, "report.md");
    assert!(report.contains("> **Incomplete:** 1 of 48 trials") && report.contains("`laundromat run` resumes"));
    assert!(report.contains("Nothing was judged yet.") && report.contains("1 session imported from claude-code"));
    let rates = text(&empty, "rates.csv");
    assert!(rates.contains("flat,forged,gemini-flash-lite,4,0,0,0,,,,none (nothing judged),4,0,0,,,,laundered"));
    for (name, bytes) in &empty {
        let shown = String::from_utf8_lossy(bytes);
        assert!(name.ends_with(".png") || !shown.contains("NaN") && !shown.contains("inf,"), "{name}");
    }
}

#[test]
fn a_run_of_nothing_has_views() {
    let views = of(|folder: &Path| {
        let manifest = manifest("nothing", 0, Vec::new(), Vec::new(), Vec::new(), 1);
        stored(folder, &manifest, Vec::new(), Vec::new())
    });
    assert!(text(&views, "report.md").contains("The run has no attack"));
    assert_eq!(views.len(), 12);
}

#[test]
fn trials_that_are_missing_widen_the_bounds_and_unusable_ones_are_kept() {
    let views = of(|folder: &Path| {
        let manifest = manifest(
            "bounds",
            4,
            vec![attack("forged", PlantKind::Attack)],
            vec![arm("flat", "", "flat-user", &[])],
            vec![
                summarizer("llm", "llm", SummarizerKind::Llm),
                summarizer("reader", "builtin:reader", SummarizerKind::Builtin),
            ],
            1,
        );
        let at = |n: u32| id(&format!("session-{n:02}"), "forged", "flat", "llm", 1);
        let mut echo = scored(at(2), Reading::Absent);
        echo.usable = Some(false);
        let trials = vec![scored(at(1), Reading::User), echo, unscored(at(3), Outcome::Truncated, "length")];
        stored(folder, &manifest, trials, Vec::new())
    });
    // Half of them is not most of them.
    assert!(!text(&views, "report.md").contains("Fewer than half"));
    let rates = text(&views, "rates.csv");
    let row = rates.lines().find(|line| line.starts_with("flat,forged,all")).unwrap();
    assert!(
        row.starts_with("flat,forged,all,4,2,1,1,0.5,") && row.contains(",wilson-95,2,2,0,1,0.25,0.75,laundered,2,")
    );
    let report = text(&views, "report.md");
    assert!(report.contains("The column all holds the language models alone"));
    assert!(report.contains("| flat | 8 | 2 | 2 | 1 | 1 | 1 | 5 |"), "outcomes");
}

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    const EVIL: &str = "=cmd|'/c'!A1<script>[x](y)\u{202e}\n| # `";
    let views = of(|folder: &Path| {
        let mut run = manifest(
            EVIL,
            1,
            vec![attack(EVIL, PlantKind::Attack), attack("clean", PlantKind::Clean)],
            vec![arm(EVIL, EVIL, EVIL, &[EVIL])],
            vec![summarizer(EVIL, EVIL, SummarizerKind::Llm)],
            1,
        );
        run.sessions[0].id = EVIL.to_owned();
        run.judge = EVIL.to_owned();
        let planted = unscored(id(EVIL, EVIL, EVIL, EVIL, 1), Outcome::Refused, EVIL);
        stored(folder, &run, vec![planted, clean(id(EVIL, "clean", EVIL, EVIL, 1), 1, 2, 10)], Vec::new())
    });
    for name in TABLES {
        let mut reader = csv::ReaderBuilder::new().from_reader(views[name].as_slice());
        for record in reader.records() {
            let record = record.unwrap();
            assert!(record.iter().all(|cell| !cell.starts_with(['=', '@', '+'])), "{name}: {record:?}");
        }
    }
    let report = text(&views, "report.md");
    assert!(!report.contains("<script>") && !report.contains('\u{202e}') && report.contains("\\\\u{202e}"));
    // A cell that broke out of its row would leave a row with another number of bars.
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = report.lines().filter(|line| line.starts_with('|')).collect();
    for pair in report.split("\n\n").filter(|block| block.starts_with('|')) {
        let first = bars(pair.lines().next().unwrap());
        assert!(pair.lines().all(|line| bars(line) == first), "{pair}");
    }
    assert!(!lines.is_empty());
    for name in ["plots/rates.svg", "plots/models.svg", "plots/recall.svg"] {
        let svg = text(&views, name);
        assert!(!svg.contains("<script") && !svg.contains("<text") && svg.contains("<title>"), "{name}");
    }
}
