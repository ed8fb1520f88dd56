//! Who answered, as the providers say: a model that changes under its name within a run is two models.

use std::collections::{BTreeMap, HashMap};

use laundromat_store::{Run, TrialId};

use crate::error::ReportError;

/// Served model, provider and fingerprint of a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The model that the provider says has answered.
    pub model: String,
    /// The provider behind a gateway; empty where it is not told.
    pub provider: String,
    /// The state of the machine; empty where it is not told.
    pub fingerprint: String,
}

impl Identity {
    /// `model, provider, fingerprint`, with those that are told.
    pub fn shown(&self) -> String {
        let parts = [("", &self.model), ("by ", &self.provider), ("fingerprint ", &self.fingerprint)];
        let told = parts.iter().filter(|(_, value)| !value.is_empty()).map(|(what, value)| format!("{what}{value}"));
        let shown = told.collect::<Vec<_>>().join(", ");
        if shown.is_empty() { "not told".to_owned() } else { shown }
    }
}

/// What changed within a run. Empty for a run in which nothing did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// Identities of each summarizer that had several, with its calls.
    pub summarizers: BTreeMap<String, BTreeMap<Identity, u64>>,
    /// Those of the judge, if it had several.
    pub judge: BTreeMap<Identity, u64>,
    trials: HashMap<TrialId, Identity>,
}

impl Served {
    /// Looks through the calls of a run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(run: &Run) -> Result<Self, ReportError> {
        let mut served = Self::default();
        run.each_call(|call| {
            let identity = Identity {
                model: call.served_model,
                provider: call.served_provider.unwrap_or_default(),
                fingerprint: call.fingerprint.unwrap_or_default(),
            };
            // What a trial was served by is looked up by its last call of that purpose.
            if call.purpose == "judge" {
                *served.judge.entry(identity).or_default() += 1;
            } else {
                let of_summarizer = served.summarizers.entry(call.trial.summarizer.clone()).or_default();
                *of_summarizer.entry(identity.clone()).or_default() += 1;
                served.trials.insert(call.trial, identity);
            }
        })?;
        served.summarizers.retain(|_, identities| identities.len() > 1);
        if served.judge.len() < 2 {
            served.judge.clear();
        }
        let changed = &served.summarizers;
        served.trials.retain(|trial, _| changed.contains_key(&trial.summarizer));
        Ok(served)
    }

    /// Whether a trial was answered by `identity`.
    pub fn is_by(&self, trial: &TrialId, identity: &Identity) -> bool {
        self.trials.get(trial) == Some(identity)
    }

    /// What to know before any number, one sentence for each model that changed.
    pub fn warnings(&self) -> Vec<String> {
        let summarizers = self.summarizers.iter().map(|(name, identities)| (name.as_str(), identities));
        let judge = (!self.judge.is_empty()).then_some(("the judge", &self.judge));
        let sentences = summarizers.chain(judge).map(|(name, identities)| {
            let parts = identities.iter().map(|(identity, calls)| format!("{} ({calls} calls)", identity.shown()));
            format!("{name} was not one model within this run: {}.", parts.collect::<Vec<_>>().join("; "))
        });
        sentences.collect()
    }
}
