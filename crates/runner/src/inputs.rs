//! What an experiment names, looked up and checked: sessions, attacks, arms. Sessions are read once
//! for their digests and again when their turn comes, so that memory does not grow with their number.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laundromat_compactor::Compactor;
use laundromat_injector::{Attack, Carriers, Matrix, presets as attacks};
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Counts, Session, canonical, utf8};
use laundromat_store::{
    ArmInfo, Asks, AttackInfo, Manifest, PrimaryContrast, SessionInfo, SummarizerInfo, SummarizerKind,
};
use rayon::prelude::*;

use crate::arm_files::{arm, unknown_shields, unlike};
use crate::error::RunError;
use crate::exec::ExecArm;
use crate::experiment::{Experiment, primary};
use crate::identity::with_judge;
use crate::supplied::{self, PromptFrom};
use crate::turns::{ModelTemplate, template};

/// A session by where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEntry {
    /// What the manifest says of it.
    pub info: SessionInfo,
    path: PathBuf,
    /// Id of the file's format, so that it is not looked for twice.
    format: &'static str,
    /// Which of the sessions in the file.
    index: usize,
    /// Where something can be planted in it.
    carriers: Carriers,
}

/// An arm, ready to be used.
#[derive(Debug)]
pub enum ArmKind {
    /// It builds its requests here.
    Built(Arc<Compactor>),
    /// Its own program builds them.
    Exec {
        /// The arm, its variable filled in.
        arm: Box<ExecArm>,
        /// Its file.
        path: PathBuf,
    },
}

impl ArmKind {
    /// The arm's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Built(compactor) => &compactor.arm().name,
            Self::Exec { arm, .. } => &arm.name,
        }
    }
}

/// Everything an experiment names.
#[derive(Debug)]
pub struct Inputs {
    /// The experiment.
    pub experiment: Experiment,
    /// The sessions, by id.
    pub sessions: Vec<SessionEntry>,
    /// The attacks and controls, in the experiment's order.
    pub attacks: Vec<Attack>,
    /// The arms, in the experiment's order.
    pub arms: Vec<ArmKind>,
    /// The summarizers' own chat templates, in the experiment's order, where it names them.
    pub templates: Vec<Option<ModelTemplate>>,
    attack_infos: Vec<AttackInfo>,
    arm_infos: Vec<ArmInfo>,
}

impl Inputs {
    /// Reads the experiment file at `path` and all that it names.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn load(path: &Path) -> Result<Self, RunError> {
        Self::load_with(path, &[])
    }

    /// The same, with prompts of the harnesses' own in place of those that its arms name.
    ///
    /// # Errors
    /// Everything that is wrong with them, an arm that the experiment does not have included.
    pub fn load_with(path: &Path, supplied: &[PromptFrom]) -> Result<Self, RunError> {
        let text = read_text(path)?;
        let mut experiment =
            Experiment::parse(&text).map_err(|faults| RunError::Faults { path: path.to_owned(), faults })?;
        supplied::take_over(&mut experiment.arms, supplied, path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        experiment.judge.load_rubric(folder)?;
        let from = Origin { experiment: path, text: &text, folder };
        let mut errors = Vec::new();
        let mut attacks = gather(experiment.attacks.iter().map(|name| attack(name, &from)), &mut errors);
        match experiment.matrix.as_ref().map(|matrix| crossed(matrix, &from)) {
            None => {}
            Some(Ok(cells)) => attacks.extend(cells),
            Some(Err(error)) => errors.push(error),
        }
        let choice = experiment.shields.as_deref();
        let arms = gather(experiment.arms.iter().map(|entry| arm(entry, choice, &from)), &mut errors);
        errors.extend(unknown_shields(&arms, choice, &from));
        let templates = gather(experiment.summarizers.iter().map(|it| template(it, &from)), &mut errors);
        let sessions = sessions(&experiment.sessions, &from).unwrap_or_else(|error| {
            errors.push(error);
            Vec::new()
        });
        let (attacks, attack_infos): (Vec<Attack>, Vec<AttackInfo>) = attacks.into_iter().unzip();
        errors.extend(unlike(&arms, &from));
        let (arms, arm_infos): (Vec<ArmKind>, Vec<ArmInfo>) =
            arms.into_iter().map(|loaded| (loaded.kind, loaded.info)).unzip();
        errors.extend(doubled("attacks", attack_infos.iter().map(|info| info.name.as_str()), &from));
        errors.extend(doubled("arms", arm_infos.iter().map(|info| info.name.as_str()), &from));
        errors.extend(unknown_primary(&experiment.primary, &arm_infos, &from));
        errors.extend(no_carrier(&sessions, &attacks));
        match errors.len() {
            0 => {}
            1 => return Err(errors.remove(0)),
            _ => return Err(RunError::Many(errors)),
        }
        Ok(Self { experiment, sessions, attacks, arms, templates, attack_infos, arm_infos })
    }

    /// Reads a session again.
    ///
    /// # Errors
    /// When its file is gone or has changed.
    pub fn session(&self, entry: &SessionEntry) -> Result<Session, RunError> {
        let changed = || RunError::SessionChanged { id: entry.info.id.clone(), path: entry.path.clone() };
        let session = laundromat_import::read_path(&entry.path, Some(entry.format))?
            .into_iter()
            .nth(entry.index)
            .ok_or_else(changed)?
            .session;
        if digest(canonical::write(&session).as_bytes()) == entry.info.digest { Ok(session) } else { Err(changed()) }
    }

    /// Repetitions of a cell of the arm with this name and of this summarizer.
    pub fn repetitions_of(&self, arm: &str, summarizer: usize) -> u32 {
        let asks = self.arm_infos.iter().find(|info| info.name == arm).map_or(Asks::Summarizer, |info| info.asks);
        let is_builtin = self.experiment.summarizers[summarizer].model.is_builtin();
        if is_builtin || asks == Asks::Nobody { 1 } else { self.experiment.repetitions }
    }

    /// The arms whose prompt is in the user's own words.
    pub fn supplied_prompts(&self) -> impl Iterator<Item = &str> {
        self.arm_infos.iter().filter(|info| info.supplied.is_some()).map(|info| info.name.as_str())
    }

    /// The manifest of a run that is first started on `date`.
    pub fn manifest(&self, date: String) -> Manifest {
        let summarizers = self.experiment.summarizers.iter().map(|summarizer| SummarizerInfo {
            name: summarizer.name.clone(),
            model: summarizer.model.name().to_owned(),
            kind: if summarizer.model.is_builtin() { SummarizerKind::Builtin } else { SummarizerKind::Llm },
            endpoint: summarizer.model.key_endpoint().into_owned(),
            route: summarizer.model.route().id().to_owned(),
            parameters: summarizer.model.parameters_text(),
            template: None,
        });
        let manifest = Manifest {
            name: self.experiment.name.clone(),
            note: self.experiment.note.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: String::new(),
            date,
            seed: self.experiment.seed,
            repetitions: self.experiment.repetitions,
            sessions: self.sessions.iter().map(|entry| entry.info.clone()).collect(),
            attacks: self.attack_infos.clone(),
            arms: self.arm_infos.clone(),
            primary: self.experiment.primary.clone(),
            summarizers: summarizers.collect(),
            shields: self.experiment.shields.clone(),
            judge: String::new(),
            judge_endpoint: String::new(),
            judge_parameters: String::new(),
            judge_rubric: String::new(),
        };
        with_judge(manifest, &self.experiment.judge)
    }
}

/// What could be read, with all errors of the rest.
fn gather<T>(results: impl Iterator<Item = Result<T, RunError>>, errors: &mut Vec<RunError>) -> Vec<T> {
    results.filter_map(|result| result.map_err(|error| errors.push(error)).ok()).collect()
}

/// Two files of one name would write each other's trials over.
fn doubled<'n>(key: &str, names: impl Iterator<Item = &'n str>, from: &Origin<'_>) -> Option<RunError> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            let remedy = "change the key \"name\" in one of the files".to_owned();
            return Some(from.fault(key, name, format!("two of the {key} have the name \"{name}\""), remedy));
        }
        seen.push(name);
    }
    None
}

/// A contrast of arms that are not there would silently make everything exploratory.
fn unknown_primary(primary: &[PrimaryContrast], arms: &[ArmInfo], from: &Origin<'_>) -> Option<RunError> {
    let names: Vec<&str> = arms.iter().map(|info| info.name.as_str()).collect();
    let (text, fault) = primary::unknown_arm(primary, &names)?;
    Some(from.fault("primary", &text, fault.problem, fault.remedy))
}

/// A session that cannot carry a plant is named before anything is spent.
fn no_carrier(sessions: &[SessionEntry], attacks: &[Attack]) -> Option<RunError> {
    attacks.iter().find_map(|attack| {
        sessions.iter().find_map(|entry| {
            let cause = entry.carriers.lacks(&entry.info.id, attack)?;
            Some(RunError::NoCarrier { path: entry.path.clone(), cause })
        })
    })
}

/// Where names stand, for messages.
pub(crate) struct Origin<'a> {
    pub(crate) experiment: &'a Path,
    pub(crate) text: &'a str,
    pub(crate) folder: &'a Path,
}

impl Origin<'_> {
    /// The place of a quoted name in the experiment file.
    pub(crate) fn fault(&self, key: &str, name: &str, problem: String, remedy: String) -> RunError {
        let quoted = toml_quoted(name);
        let place = self.text.find(&quoted).map_or(Place::of_path(key), |at| Place::of_byte(self.text, at, key));
        RunError::Faults { path: self.experiment.to_owned(), faults: vec![Fault::new(place, problem, remedy)] }
    }
}

fn toml_quoted(name: &str) -> String {
    format!("\"{name}\"")
}

pub(crate) fn read_text(path: &Path) -> Result<String, RunError> {
    let bytes = fs::read(path).map_err(|source| RunError::Unreadable { path: path.to_owned(), source })?;
    utf8::text(bytes).map_err(|fault| RunError::Faults { path: path.to_owned(), faults: vec![fault] })
}

fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// The text of a data file: of the file at a path, or of the embedded one with that name.
pub(crate) fn data_file(
    key: &str,
    name: &str,
    from: &Origin<'_>,
    embedded: impl Fn(&str) -> Option<&'static str>,
    known: &[&str],
) -> Result<(String, PathBuf), RunError> {
    if is_path(name) {
        let path = from.folder.join(name);
        return Ok((read_text(&path)?, path));
    }
    match embedded(name) {
        Some(text) => Ok((text.to_owned(), PathBuf::from(format!("{name}.toml")))),
        None => {
            let singular = key.trim_end_matches('s');
            let remedy = format!("{}; a file is named by a path that ends in .toml", choose_remedy(name, known));
            Err(from.fault(key, name, format!("unknown {singular} \"{name}\""), remedy))
        }
    }
}

fn attack(name: &str, from: &Origin<'_>) -> Result<(Attack, AttackInfo), RunError> {
    let (text, path) = data_file("attacks", name, from, attacks::attack, &attacks::attack_names())?;
    let attack = Attack::parse(&text).map_err(|faults| RunError::Faults { path, faults })?;
    // A clean control takes its statement from another file, so that counts for its digest too.
    let paired = attack.paired_with.as_deref().and_then(attacks::attack).unwrap_or_default();
    let info = AttackInfo {
        name: attack.name.clone(),
        kind: attack.kind,
        digest: digest(format!("{text}\0{paired}").as_bytes()),
    };
    Ok((attack, info))
}

/// The attacks of a matrix.
fn crossed(matrix: &Matrix, from: &Origin<'_>) -> Result<Vec<(Attack, AttackInfo)>, RunError> {
    let (text, path) = data_file("attacks", &matrix.base, from, attacks::attack, &attacks::attack_names())?;
    // What is wrong with the base stands in its file, what does not go together in the experiment.
    Attack::parse(&text).map_err(|faults| RunError::Faults { path, faults })?;
    let cells = matrix.cells(&text).map_err(|faults| RunError::Faults { path: from.experiment.to_owned(), faults })?;
    let with_info = cells.into_iter().map(|cell| {
        let (name, kind) = (cell.attack.name.clone(), cell.attack.kind);
        let digest = digest(format!("{text}\0{}", cell.values.join("\0")).as_bytes());
        (cell.attack, AttackInfo { name, kind, digest })
    });
    Ok(with_info.collect())
}

fn sessions(patterns: &[String], from: &Origin<'_>) -> Result<Vec<SessionEntry>, RunError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        // The folder is a place, not a pattern: what looks like a glob in its name is none.
        let folder = glob::Pattern::escape(&from.folder.to_string_lossy());
        let full = Path::new(&folder).join(pattern);
        let bad = |problem: String| {
            from.fault(
                "sessions",
                pattern,
                problem,
                "name session files, or a glob such as \"../sessions/*.json\"".to_owned(),
            )
        };
        let found = glob::glob(&full.to_string_lossy())
            .map_err(|error| bad(format!("\"{pattern}\" is not a glob: {error}")))?;
        let mut found: Vec<PathBuf> = found
            .collect::<Result<_, _>>()
            .map_err(|error| RunError::Unreadable { path: error.path().to_owned(), source: error.into() })?;
        found.retain(|path| path.is_file());
        if found.is_empty() {
            return Err(bad(format!("no session file matches \"{pattern}\" in {}", shown(from.folder))));
        }
        paths.append(&mut found);
    }
    paths.sort();
    paths.dedup();
    let read: Vec<Vec<SessionEntry>> = paths.par_iter().map(|path| entries(path)).collect::<Result<_, RunError>>()?;
    let mut sessions: Vec<SessionEntry> = read.into_iter().flatten().collect();
    sessions.sort_by(|a, b| a.info.id.cmp(&b.info.id));
    if let Some(pair) = sessions.windows(2).find(|pair| pair[0].info.id == pair[1].info.id) {
        return Err(RunError::DoubleSession {
            id: pair[0].info.id.clone(),
            first: pair[0].path.clone(),
            second: pair[1].path.clone(),
        });
    }
    Ok(sessions)
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { "this folder".to_owned() } else { folder.display().to_string() }
}

fn entries(path: &Path) -> Result<Vec<SessionEntry>, RunError> {
    let format = laundromat_import::detect(path)?.id();
    Ok(laundromat_import::read_path(path, Some(format))?
        .into_iter()
        .enumerate()
        .map(|(index, imported)| {
            let session = imported.session;
            let text = canonical::write(&session);
            let carriers = Carriers::of(&session);
            let counts = Counts::of(&session);
            let info = SessionInfo {
                origin: session.origin.unwrap_or_else(|| "unknown".to_owned()),
                digest: digest(text.as_bytes()),
                turns: counts.turns,
                results: counts.results,
                bytes: text.len(),
                id: session.id,
            };
            SessionEntry { info, path: path.to_owned(), format, index, carriers }
        })
        .collect())
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
