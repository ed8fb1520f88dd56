//! A panel out of judged runs: the same trials, read by several judges, decided by their majority. Each judge's own run
//! stays as it is; the panel's verdicts go to a folder of their own, which is a run like any other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use laundromat_judge::panel::{Ruling, rule};
use laundromat_session::{Outcome, Reading};
use laundromat_store::{Manifest, Run, Store, Trial, TrialId, Write};

use crate::error::RunError;
use crate::identity::with_panel;

/// What the judges of a panel said of one summary, in the order of the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Votes {
    /// Which trial.
    pub trial: TrialId,
    /// Each judge's reading; `None` where it gave no verdict.
    pub votes: Vec<Option<Reading>>,
    /// What they come to.
    pub ruling: Ruling,
}

/// Lets the judges of the runs in `folders` vote, into the run in `out`: a reading that more than half of them share is
/// the verdict, anything else is none.
///
/// # Errors
/// When a folder holds no run, the runs are not of the same trials and replies, `out` holds a run already, or a store
/// fails.
pub fn panel(folders: &[PathBuf], out: &Path) -> Result<Vec<Votes>, RunError> {
    let runs: Vec<Run> = folders.iter().map(|folder| Run::open(folder)).collect::<Result<_, _>>()?;
    let Some(first) = runs.first() else {
        return Err(RunError::Panel { path: out.to_owned(), problem: "no run is named".to_owned() });
    };
    if Run::is_in(out) {
        return Err(RunError::Panel { path: out.to_owned(), problem: "there is a run here already".to_owned() });
    }
    let mut others: Vec<HashMap<TrialId, Trial>> = Vec::new();
    for (run, folder) in runs.iter().zip(folders).skip(1) {
        if !is_same_but_judged(first.manifest(), run.manifest()) {
            let problem = format!("it is not the same experiment as {}", folders[0].display());
            return Err(RunError::Panel { path: folder.clone(), problem });
        }
        others.push(run.trials()?.into_iter().map(|trial| (trial.id.clone(), trial)).collect());
    }
    let mut all = Vec::new();
    let mut ruled = Vec::new();
    for trial in first.trials()? {
        // What ended before any judge saw it ended so for all of them.
        if trial.gate.is_none() {
            continue;
        }
        let mut seats = vec![&trial];
        for (others, folder) in others.iter().zip(&folders[1..]) {
            match others.get(&trial.id).filter(|other| other.call == trial.call) {
                Some(other) => seats.push(other),
                None => {
                    let problem = format!(
                        "it lacks the trial {} of {}",
                        crate::desk::trial_name(&trial.id),
                        folders[0].display()
                    );
                    return Err(RunError::Panel { path: folder.clone(), problem });
                }
            }
        }
        let votes: Vec<Option<Reading>> = seats.iter().map(|seat| seat.reading).collect();
        let votes = Votes { trial: trial.id.clone(), ruling: rule(&votes), votes };
        ruled.push(Write::Trial(Box::new(decided(trial, &votes))));
        all.push(votes);
    }
    let judges: Vec<&Manifest> = runs.iter().map(Run::manifest).collect();
    let manifest = with_panel(first.manifest().clone(), &judges);
    first.copy_to(out)?;
    let mut store = Store::open(out)?;
    store.append(&ruled)?;
    store.set_manifest(&manifest)?;
    Ok(all)
}

/// The trial under the panel's ruling. Without a majority there is no verdict, and none is ever taken as safe.
fn decided(trial: Trial, votes: &Votes) -> Trial {
    match votes.ruling {
        Ruling::Decided { reading, .. } => {
            Trial { outcome: Outcome::Scored, reading: Some(reading), detail: String::new(), ..trial }
        }
        Ruling::Disputed => {
            let said = |vote: &Option<Reading>| vote.map_or("no verdict", Reading::id);
            let detail =
                format!("the judges disagree: {}", votes.votes.iter().map(said).collect::<Vec<_>>().join(", "));
            Trial { outcome: Outcome::Unparsable, reading: None, detail, ..trial }
        }
    }
}

/// Whether two runs are of the same trials, their judges aside.
fn is_same_but_judged(a: &Manifest, b: &Manifest) -> bool {
    let bare = |manifest: &Manifest| with_panel(manifest.clone(), &[]).digest;
    bare(a) == bare(b)
}
