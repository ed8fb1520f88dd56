//! A cassette of a run: its store's calls, written to a file. The store is what survives a kill, so the cassette is
//! taken from it when a start ends, and a finished run is recorded by starting it once more.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use laundromat_provider::cassette::{CassetteWriter, Header, Named, Recorded, SCHEMA, failure_shown_as};
use laundromat_provider::key::{Sample, call_key};
use laundromat_provider::{CassetteError, FailureKind, Purpose};
use laundromat_session::Outcome;
use laundromat_store::{Call, CallKey, Manifest, Run, Trial, TrialId};

use crate::desk::trial_name;
use crate::error::RunError;
use crate::keeper;

/// Writes the calls of the run in `folder` to `to`, without those that the run in `judged` has itself.
///
/// # Errors
/// When the run cannot be read or the cassette cannot be written.
pub fn record(folder: &Path, judged: Option<&Path>, to: &Path) -> Result<(), RunError> {
    let run = Run::open(folder)?;
    let manifest = run.manifest();
    let known: HashSet<CallKey> = match judged {
        Some(judged) => Run::open(judged)?.call_keys()?.into_iter().collect(),
        None => HashSet::new(),
    };
    let header = Header {
        schema: SCHEMA.to_owned(),
        experiment: manifest.name.clone(),
        date: manifest.date.clone(),
        version: manifest.version.clone(),
    };
    let mut writer = CassetteWriter::create(to, &header)?;
    let mut written = Ok(());
    // Which of a trial's equal calls a refused one was: those before it were answered.
    let mut answered: HashMap<(TrialId, [u8; 32]), u32> = HashMap::new();
    run.each_call(|call| {
        *answered.entry((call.trial.clone(), call.body)).or_default() += 1;
        if written.is_ok() && !known.contains(&call.key) {
            written = add(&mut writer, call);
        }
    })?;
    written?;
    if judged.is_none() {
        for trial in run.trials()? {
            let before = trial.cell.body.and_then(|body| answered.get(&(trial.id.clone(), body)));
            if let Some((key, failure)) = refused(&trial, manifest, before.copied().unwrap_or(0)) {
                let trial = trial_name(&trial.id);
                writer.add(Named { key: &key, purpose: Purpose::Summarize.id(), trial: &trial }, &failure)?;
            }
        }
    }
    Ok(writer.finish()?)
}

/// Whether a cassette may be written to `path`.
///
/// # Errors
/// When it may not, so that this is known before anything is spent.
pub fn may_record(path: &Path) -> Result<(), CassetteError> {
    laundromat_provider::Cassette::may_be_written(path)
}

fn add(writer: &mut CassetteWriter, call: Call) -> Result<(), RunError> {
    let (key, purpose, trial) = (call.key, call.purpose.clone(), trial_name(&call.trial));
    let recorded = Recorded::Reply(keeper::logged(call)?);
    Ok(writer.add(Named { key: &key, purpose: &purpose, trial: &trial }, &recorded)?)
}

/// The call of a trial that ended because its provider refused it. Such a call has no reply and so no row of its own.
fn refused(trial: &Trial, manifest: &Manifest, ordinal: u32) -> Option<(CallKey, Recorded)> {
    let kinds = match trial.outcome {
        Outcome::ContextOverflow => &[FailureKind::ContextOverflow, FailureKind::TooLarge][..],
        Outcome::Refused => &[FailureKind::Blocked],
        Outcome::InvalidRequest => &[FailureKind::Invalid],
        _ => return None,
    };
    let digest = trial.cell.body.filter(|_| trial.call.is_none())?;
    let endpoint = &manifest.summarizers.iter().find(|it| it.name == trial.id.summarizer)?.endpoint;
    let name = trial_name(&trial.id);
    let key = call_key(Purpose::Summarize, endpoint, &digest, Sample { trial: &name, ordinal });
    let failure = kinds.iter().find_map(|kind| failure_shown_as(*kind, &trial.detail))?;
    Some((key, Recorded::Failure(failure)))
}
