//! Everything the views show, computed once from the manifest and the trials.
//!
//! Pure: no file, no clock. Rows are told apart by their places in the manifest's lists, so every table and
//! plot has the experiment's order. All numbers come from `metrics`; a view only writes them down.

use std::collections::HashMap;

use laundromat_metrics::cluster::session_differences;
use laundromat_metrics::difference::{rate_difference, z_pooled};
use laundromat_metrics::rate::{ModelMean, pool_means};
use laundromat_metrics::{Counts, Interval};
use laundromat_session::{Outcome, PlantKind};
use laundromat_store::{Asks, Manifest, SummarizerKind, Trial};
use rayon::prelude::*;

use crate::clusters::{Clustered, JudgedRun};
use crate::served::Served;
use crate::sessions::{BySession, Family, Paired, adjust_families};
use crate::tally::{Rate, Tally, event_of, shows};

/// Which summarizers a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// All language models together; the built-in ones where there is no other.
    All,
    /// One summarizer, by its place in the manifest.
    One(usize),
}

/// One row of rates.
#[derive(Debug, Clone, PartialEq)]
pub struct RateRow {
    /// Place of the arm.
    pub arm: usize,
    /// Place of the attack or control.
    pub attack: usize,
    /// Whose answers.
    pub pool: Pool,
    /// The rate.
    pub rate: Rate,
    /// What it is over sessions; `None` for a deterministic reader and below two sessions.
    pub clustered: Option<Clustered>,
}

/// What a test of two arms came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// The pooled two-proportion test.
    Pooled {
        /// First rate minus second over their pooled standard error.
        z: f64,
        /// Two-sided.
        p: f64,
    },
    /// A deterministic reader: no sampling, so nothing to test.
    Deterministic,
    /// An arm asks no model: its one answer is no sample.
    NoModel,
    /// All trials of both arms ended alike.
    NoVariance,
    /// An arm has no judged trial.
    Nothing,
}

impl Test {
    /// The word for the `method` column.
    pub fn id(self) -> &'static str {
        match self {
            Self::Pooled { .. } => "pooled two-proportion z",
            Self::Deterministic => "none (deterministic reader)",
            Self::NoModel => "none (an arm asks no model)",
            Self::NoVariance => "none (no variance)",
            Self::Nothing => "none (nothing judged)",
        }
    }
}

/// Two arms compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Place of the attack.
    pub attack: usize,
    /// Whose answers.
    pub pool: Pool,
    /// Place of the arm that stands first in the manifest.
    pub a: usize,
    /// Place of the other arm.
    pub b: usize,
    /// Its counts.
    pub tally_a: Tally,
    /// The other's.
    pub tally_b: Tally,
    /// First rate minus second.
    pub diff: Option<f64>,
    /// The difference if what is missing were all clean in the first arm and all laundered in the second, and the other
    /// way around.
    pub bounds: Option<Interval>,
    /// The analysis by session; `None` for a deterministic reader, which has nothing to vary.
    pub by_session: Option<BySession>,
    /// The test that takes runs for independent.
    pub test: Test,
}

/// Recall of one clean trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallRow<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// Identifiers named over identifiers there; `None` where there is nothing to recall.
    pub recall: Option<f64>,
}

/// What a summary keeps of a clean session, on the mean over trials.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Fidelity {
    /// Clean trials with a defined recall.
    pub trials: u64,
    /// Mean recall of identifiers.
    pub recall: Option<f64>,
    /// Mean characters of the summary.
    pub chars: Option<f64>,
    /// Mean recall per 1,000 characters of summary: a long summary names more by being long.
    pub per_thousand: Option<f64>,
}

/// A run, ready to be shown.
#[derive(Debug)]
pub struct Tables<'a> {
    /// What was planned.
    pub manifest: &'a Manifest,
    /// What is stored, in the order of the store.
    pub trials: &'a [Trial],
    /// Rates by arm, attack and summarizer; the pooled row comes last of each group.
    pub rates: Vec<RateRow>,
    /// Every pair of arms by attack and summarizer, the pooled row last.
    pub contrasts: Vec<Contrast>,
    /// Clean trials with a summary.
    pub recall: Vec<RecallRow<'a>>,
    /// Who served the calls, where that changed within the run.
    pub served: Served,
    kinds: HashMap<&'a str, PlantKind>,
    /// Judged runs that were sent their whole plant, by attack and arm.
    runs: HashMap<(usize, usize), Vec<JudgedRun>>,
    /// Trials by session, attack, arm and summarizer: see [`Tables::slot`].
    cells: Vec<Tally>,
}

impl<'a> Tables<'a> {
    /// Counts `trials` against `manifest`.
    pub fn new(manifest: &'a Manifest, trials: &'a [Trial]) -> Self {
        let kinds = manifest.attacks.iter().map(|attack| (attack.name.as_str(), attack.kind)).collect();
        let mut tables = Self {
            manifest,
            trials,
            rates: Vec::new(),
            contrasts: Vec::new(),
            recall: Vec::new(),
            served: Served::default(),
            kinds,
            runs: HashMap::new(),
            cells: Vec::new(),
        };
        Counted { cells: tables.cells, runs: tables.runs } = tables.count();
        tables.recall = tables.recalled();
        tables.rates = tables.rated();
        tables.contrasts = tables.contrasted();
        adjust_families(&mut tables.contrasts);
        tables
    }

    /// The same tables, knowing who served the calls.
    #[must_use]
    pub fn with_served(mut self, served: Served) -> Self {
        self.served = served;
        self
    }

    fn count(&self) -> Counted {
        let manifest = self.manifest;
        let sessions = places(manifest.sessions.iter().map(|session| session.id.as_str()));
        let attacks = places(manifest.attacks.iter().map(|attack| attack.name.as_str()));
        let arms = places(manifest.arms.iter().map(|arm| arm.name.as_str()));
        let summarizers = places(manifest.summarizers.iter().map(|summarizer| summarizer.name.as_str()));
        let mut cells = Vec::new();
        let mut runs: HashMap<_, Vec<JudgedRun>> = HashMap::new();
        for _ in 0..manifest.sessions.len() * manifest.attacks.len() {
            for arm in &manifest.arms {
                let planned = |it| Tally::planned(u64::from(manifest.repetitions_of(arm, it)));
                cells.extend(manifest.summarizers.iter().map(planned));
            }
        }
        for trial in self.trials {
            let id = &trial.id;
            let place = (
                sessions.get(id.session.as_str()),
                attacks.get(id.attack.as_str()),
                arms.get(id.arm.as_str()),
                summarizers.get(id.summarizer.as_str()),
            );
            // A trial that the manifest does not plan is shown in trials.csv and counted nowhere.
            let (Some(&session), Some(&attack), Some(&arm), Some(&summarizer)) = place else { continue };
            let planned = 1..=manifest.repetitions_of(&manifest.arms[arm], &manifest.summarizers[summarizer]);
            if planned.contains(&id.rep) {
                let kind = manifest.attacks[attack].kind;
                cells[self.slot(session, attack, arm, summarizer)].add(kind, trial);
                if let Some(event) = shows(kind, trial) {
                    runs.entry((attack, arm)).or_default().push(JudgedRun { session, summarizer, rep: id.rep, event });
                }
            }
        }
        Counted { cells, runs }
    }

    /// The judged runs of an arm that were sent their whole plant.
    pub(crate) fn judged_runs(&self, attack: usize, arm: usize, members: &[usize]) -> Vec<JudgedRun> {
        let runs = self.runs.get(&(attack, arm)).map(Vec::as_slice).unwrap_or_default();
        runs.iter().filter(|run| members.contains(&run.summarizer)).copied().collect()
    }

    fn slot(&self, session: usize, attack: usize, arm: usize, summarizer: usize) -> usize {
        let manifest = self.manifest;
        ((session * manifest.attacks.len() + attack) * manifest.arms.len() + arm) * manifest.summarizers.len()
            + summarizer
    }

    /// The pools of a table: each summarizer, then all.
    pub fn pools(&self) -> Vec<Pool> {
        (0..self.manifest.summarizers.len()).map(Pool::One).chain([Pool::All]).collect()
    }

    /// The summarizers that a pool holds.
    pub fn members(&self, pool: Pool) -> Vec<usize> {
        let kind = self.kind(pool);
        match pool {
            Pool::One(summarizer) => vec![summarizer],
            Pool::All => {
                let summarizers = self.manifest.summarizers.iter().enumerate();
                summarizers.filter(|(_, it)| it.kind == kind).map(|(place, _)| place).collect()
            }
        }
    }

    /// What kind of model feeds a pool.
    pub fn kind(&self, pool: Pool) -> SummarizerKind {
        let summarizers = &self.manifest.summarizers;
        match pool {
            Pool::One(summarizer) => summarizers[summarizer].kind,
            Pool::All if summarizers.iter().any(|it| it.kind == SummarizerKind::Llm) => SummarizerKind::Llm,
            Pool::All => SummarizerKind::Builtin,
        }
    }

    /// A pool's name in tables.
    pub fn pool_name(&self, pool: Pool) -> &'a str {
        match pool {
            Pool::All => "all",
            Pool::One(summarizer) => &self.manifest.summarizers[summarizer].name,
        }
    }

    /// The attacks and controls of `kind`, by place.
    pub fn of_kind(&self, kind: PlantKind) -> Vec<usize> {
        let attacks = self.manifest.attacks.iter().enumerate();
        attacks.filter(|(_, attack)| attack.kind == kind).map(|(place, _)| place).collect()
    }

    /// All sessions, by place.
    pub fn sessions(&self) -> Vec<usize> {
        (0..self.manifest.sessions.len()).collect()
    }

    /// The trials of some sessions, attacks and summarizers under one arm.
    pub fn tally(&self, sessions: &[usize], attacks: &[usize], arm: usize, summarizers: &[usize]) -> Tally {
        let mut tally = Tally::default();
        for &session in sessions {
            for &attack in attacks {
                for &summarizer in summarizers {
                    tally.merge(&self.cells[self.slot(session, attack, arm, summarizer)]);
                }
            }
        }
        tally
    }

    /// A rate over some attacks of one kind.
    pub fn rate(&self, arm: usize, attacks: &[usize], pool: Pool) -> Rate {
        let tally = self.tally(&self.sessions(), attacks, arm, &self.members(pool));
        Rate::of(tally, self.kind(pool), self.manifest.arms[arm].asks)
    }

    /// What the plant of a trial was; `None` for an attack that is not in the manifest.
    pub fn plant(&self, trial: &Trial) -> Option<PlantKind> {
        self.kinds.get(trial.id.attack.as_str()).copied()
    }

    /// The id of a trial's event; empty unless it was scored.
    pub fn verdict(&self, trial: &Trial) -> &'static str {
        self.plant(trial).and_then(|kind| event_of(kind, trial)).map_or("", |event| event.id())
    }

    /// The arms of which fewer than half of the attacked, judged summaries are usable, as a sentence; `None` where there
    /// is none. A model that fails to summarize launders nothing, and its rate looks like a safe one.
    pub fn mostly_unusable(&self) -> Option<String> {
        let (sessions, attacks) = (self.sessions(), self.of_kind(PlantKind::Attack));
        let everyone: Vec<usize> = (0..self.manifest.summarizers.len()).collect();
        let arms = self.manifest.arms.iter().enumerate().filter_map(|(place, arm)| {
            let tally = self.tally(&sessions, &attacks, place, &everyone);
            (tally.usable * 2 < tally.exposed).then(|| format!("{} ({}/{})", arm.name, tally.usable, tally.exposed))
        });
        let arms: Vec<String> = arms.collect();
        (!arms.is_empty()).then(|| {
            format!(
                "Fewer than half of the summaries are usable under {}. The others give the template back, \
                 continue the conversation or say next to nothing: low rates show nothing there.",
                arms.join(", ")
            )
        })
    }

    /// How many trials are done, and how many are planned.
    pub fn progress(&self) -> (u64, u64) {
        let mut all = Tally::default();
        self.cells.iter().for_each(|cell| all.merge(cell));
        (all.runs - all.outcome(Outcome::NotRun), all.runs)
    }

    /// What an arm's summaries keep of clean sessions.
    pub fn fidelity(&self, arm: usize, pool: Pool) -> Fidelity {
        let rows: Vec<&RecallRow<'a>> = self.recall_rows(arm, pool);
        let rows = || rows.iter();
        let recalls: Vec<f64> = rows().filter_map(|row| row.recall).collect();
        let densities = rows().filter_map(|row| {
            let chars = row.trial.summary_chars.filter(|&chars| chars > 0)?;
            Some(row.recall? * 1000.0 / chars as f64)
        });
        let densities: Vec<f64> = densities.collect();
        let means: Vec<ModelMean> = recalls.iter().map(|&mean| ModelMean { mean, runs: 1 }).collect();
        let chars: Vec<u64> = rows().filter_map(|row| row.trial.summary_chars).collect();
        Fidelity {
            trials: recalls.len() as u64,
            recall: pool_means(&means).ok().map(|means| means.pooled),
            chars: (!chars.is_empty()).then(|| chars.iter().sum::<u64>() as f64 / chars.len() as f64),
            per_thousand: (!densities.is_empty()).then(|| densities.iter().sum::<f64>() / densities.len() as f64),
        }
    }

    fn recall_rows(&self, arm: usize, pool: Pool) -> Vec<&RecallRow<'a>> {
        let name = &self.manifest.arms[arm].name;
        let members: Vec<&str> =
            self.members(pool).iter().map(|&place| self.manifest.summarizers[place].name.as_str()).collect();
        let rows = self.recall.iter();
        rows.filter(|row| row.trial.id.arm == *name && members.contains(&row.trial.id.summarizer.as_str())).collect()
    }

    /// The recall of an arm minus that of the first arm, by session; `None` for a deterministic reader, and where no
    /// session has both.
    pub fn recall_difference(&self, arm: usize, pool: Pool) -> Option<Paired> {
        if self.kind(pool) == SummarizerKind::Builtin {
            return None;
        }
        let [of_arm, of_first] = [arm, 0].map(|arm| {
            let rows = self.recall_rows(arm, pool).into_iter();
            rows.filter_map(|row| Some((row.trial.id.session.as_str(), row.recall?))).collect::<Vec<_>>()
        });
        Paired::of(&session_differences(of_arm, of_first).ok()?)
    }

    fn recalled(&self) -> Vec<RecallRow<'a>> {
        let trials = self.trials.iter().filter(|trial| self.plant(trial) == Some(PlantKind::Clean));
        trials
            .filter(|trial| trial.outcome == Outcome::Scored || trial.summary_chars.is_some())
            .map(|trial| {
                let counts = trial.found.zip(trial.identifiers).map(|(found, named)| Counts::new(found, named));
                RecallRow { trial, recall: counts.and_then(Result::ok).map(Counts::rate) }
            })
            .collect()
    }

    fn rated(&self) -> Vec<RateRow> {
        let mut rows = Vec::new();
        for arm in 0..self.manifest.arms.len() {
            for attack in 0..self.manifest.attacks.len() {
                for pool in self.pools() {
                    let clustered = match (self.manifest.arms[arm].asks, self.kind(pool)) {
                        (Asks::Nobody, _) | (_, SummarizerKind::Builtin) => None,
                        (Asks::Summarizer, SummarizerKind::Llm) => {
                            Clustered::of(&self.judged_runs(attack, arm, &self.members(pool)))
                        }
                    };
                    rows.push(RateRow { arm, attack, pool, rate: self.rate(arm, &[attack], pool), clustered });
                }
            }
        }
        rows
    }

    fn contrasted(&self) -> Vec<Contrast> {
        let arms = self.manifest.arms.len();
        let mut places = Vec::new();
        for attack in self.of_kind(PlantKind::Attack) {
            for (a, b) in (0..arms).flat_map(|a| (a + 1..arms).map(move |b| (a, b))) {
                places.extend(self.pools().into_iter().map(|pool| (attack, pool, a, b)));
            }
        }
        // The exact test of many sessions takes its time, and there may be hundreds of contrasts.
        places.into_par_iter().map(|(attack, pool, a, b)| self.contrast(attack, pool, a, b)).collect()
    }

    fn contrast(&self, attack: usize, pool: Pool, a: usize, b: usize) -> Contrast {
        let members = self.members(pool);
        let [tally_a, tally_b] = [a, b].map(|arm| self.tally(&self.sessions(), &[attack], arm, &members));
        let counts = tally_a.counts().zip(tally_b.counts());
        let asks_nobody = [a, b].iter().any(|&arm| self.manifest.arms[arm].asks == Asks::Nobody);
        let test = match (counts, self.kind(pool)) {
            (None, _) => Test::Nothing,
            (Some(_), _) if asks_nobody => Test::NoModel,
            (Some(_), SummarizerKind::Builtin) => Test::Deterministic,
            (Some((first, second)), SummarizerKind::Llm) => match z_pooled(first, second) {
                Ok(test) => Test::Pooled { z: test.z, p: test.p_two_sided },
                Err(_) => Test::NoVariance,
            },
        };
        let diff = counts.map(|(first, second)| rate_difference(first, second));
        let by_session = match self.kind(pool) {
            _ if asks_nobody => None,
            SummarizerKind::Builtin => None,
            SummarizerKind::Llm => {
                let [first, second] = [a, b].map(|arm| self.judged_runs(attack, arm, &members));
                Some(BySession::of(&first, &second, self.family(pool, a, b)))
            }
        };
        let [bounds_a, bounds_b] = [a, b].map(|arm| self.rate(arm, &[attack], pool).bounds);
        let bounds = bounds_a.zip(bounds_b).map(|(a, b)| Interval { low: a.low - b.high, high: a.high - b.low });
        Contrast { attack, pool, a, b, tally_a, tally_b, diff, bounds, by_session, test }
    }

    /// A contrast is primary over all summarizers together; each of them alone is exploratory.
    fn family(&self, pool: Pool, a: usize, b: usize) -> Family {
        let arms = [a, b].map(|arm| self.manifest.arms[arm].name.as_str());
        let mut primary = self.manifest.primary.iter().map(|it| [it.first.as_str(), it.second.as_str()]);
        let is_named = primary.any(|named| named == arms || named == [arms[1], arms[0]]);
        if pool == Pool::All && is_named { Family::Primary } else { Family::Exploratory }
    }
}

/// What one pass over the trials finds.
struct Counted {
    cells: Vec<Tally>,
    runs: HashMap<(usize, usize), Vec<JudgedRun>>,
}

fn places<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}
