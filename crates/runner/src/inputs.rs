//! What an experiment names, looked up and checked: sessions, attacks, arms. Sessions are read once
//! for their digests and again when their turn comes, so that memory does not grow with their number.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use laundromat_compactor::prompt::Prompt;
use laundromat_compactor::shield::Shield;
use laundromat_compactor::{Arm, Compactor, presets as arms};
use laundromat_injector::{Attack, InjectError, has_carrier, presets as attacks};
use laundromat_judge::Rubric;
use laundromat_provider::Model;
use laundromat_session::fault::{Fault, Place, choose_remedy};
use laundromat_session::{Counts, Session, canonical, utf8};
use laundromat_store::{ArmInfo, AttackInfo, Manifest, SessionInfo, SummarizerInfo, SummarizerKind};
use rayon::prelude::*;

use crate::error::RunError;
use crate::exec::ExecArm;
use crate::exec::alike;
use crate::exec::arm::{KIND, is_exec};
use crate::exec::programs::sources;
use crate::experiment::{ArmEntry, Experiment, Judge};

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
    /// Whether something can be planted in it.
    has_carrier: bool,
}

/// An arm, ready to be used.
#[derive(Debug)]
pub enum ArmKind {
    /// It builds its requests here.
    Built(Box<Compactor>),
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
    attack_infos: Vec<AttackInfo>,
    arm_infos: Vec<ArmInfo>,
}

impl Inputs {
    /// Reads the experiment file at `path` and all that it names.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn load(path: &Path) -> Result<Self, RunError> {
        let text = read_text(path)?;
        let mut experiment =
            Experiment::parse(&text).map_err(|faults| RunError::Faults { path: path.to_owned(), faults })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        experiment.judge.load_rubric(folder)?;
        let from = Origin { experiment: path, text: &text, folder };
        let mut errors = Vec::new();
        let attacks = gather(experiment.attacks.iter().map(|name| attack(name, &from)), &mut errors);
        let arms = gather(experiment.arms.iter().map(|entry| arm(entry, &from)), &mut errors);
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
        errors.extend(no_carrier(&sessions, &attacks));
        match errors.len() {
            0 => {}
            1 => return Err(errors.remove(0)),
            _ => return Err(RunError::Many(errors)),
        }
        Ok(Self { experiment, sessions, attacks, arms, attack_infos, arm_infos })
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

    /// The manifest of a run that is first started on `date`.
    pub fn manifest(&self, date: String) -> Manifest {
        let summarizers = self.experiment.summarizers.iter().map(|summarizer| SummarizerInfo {
            name: summarizer.name.clone(),
            model: summarizer.model.name().to_owned(),
            kind: if summarizer.model.is_builtin() { SummarizerKind::Builtin } else { SummarizerKind::Llm },
            endpoint: summarizer.model.key_endpoint().into_owned(),
            route: summarizer.model.route().id().to_owned(),
            parameters: summarizer.model.parameters_text(),
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
            summarizers: summarizers.collect(),
            judge: String::new(),
            judge_endpoint: String::new(),
            judge_parameters: String::new(),
            judge_rubric: String::new(),
        };
        with_judge(manifest, &self.experiment.judge)
    }
}

/// The manifest of the same run under another judge.
pub fn with_judge(manifest: Manifest, judge: &Judge) -> Manifest {
    let mut manifest = Manifest {
        judge: judge.name().to_owned(),
        judge_endpoint: judge.model().map(|model| model.key_endpoint().into_owned()).unwrap_or_default(),
        judge_parameters: judge.model().map(Model::parameters_text).unwrap_or_default(),
        judge_rubric: judge.rubric().map(rubric_name).unwrap_or_default(),
        ..manifest
    };
    manifest.digest = manifest_digest(&manifest);
    manifest
}

/// The manifest of the same run under a panel of the judges of `judges`.
pub(crate) fn with_panel(manifest: Manifest, judges: &[&Manifest]) -> Manifest {
    let joined =
        |part: fn(&Manifest) -> &String| judges.iter().map(|it| part(it).as_str()).collect::<Vec<_>>().join(", ");
    let mut manifest = Manifest {
        judge: format!("panel of {}", joined(|it| &it.judge)),
        judge_endpoint: joined(|it| &it.judge_endpoint),
        judge_parameters: joined(|it| &it.judge_parameters),
        judge_rubric: joined(|it| &it.judge_rubric),
        ..manifest
    };
    manifest.digest = manifest_digest(&manifest);
    manifest
}

/// How a manifest names a rubric: empty for the standard one, so that runs from before there were others stay what
/// they are.
fn rubric_name(rubric: &Rubric) -> String {
    if Rubric::standard().is_ok_and(|standard| standard.digest() == rubric.digest()) {
        return String::new();
    }
    format!("{} {}", rubric.name, &rubric.digest()[..12])
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

/// A session that cannot carry a plant is named before anything is spent.
fn no_carrier(sessions: &[SessionEntry], attacks: &[Attack]) -> Option<RunError> {
    let attack = attacks.iter().find(|attack| attack.payload.is_some())?;
    let entry = sessions.iter().find(|entry| !entry.has_carrier)?;
    let (session, attack) = (entry.info.id.clone(), attack.name.clone());
    Some(RunError::NoCarrier { path: entry.path.clone(), cause: InjectError::NoCarrier { session, attack } })
}

/// What decides a trial, by name and value: whatever differs here is another experiment.
fn decisive(manifest: &Manifest) -> Vec<(String, String)> {
    let mut out = vec![
        ("seed".to_owned(), manifest.seed.to_string()),
        ("repetitions".to_owned(), manifest.repetitions.to_string()),
        ("judge".to_owned(), judge_of(manifest)),
    ];
    let listed = |names: Vec<&str>| names.join(", ");
    out.push(("arms".to_owned(), listed(manifest.arms.iter().map(|arm| arm.name.as_str()).collect())));
    out.extend(manifest.sessions.iter().map(|session| (format!("session {}", session.id), session.digest.clone())));
    out.extend(manifest.attacks.iter().map(|attack| (format!("attack {}", attack.name), attack.digest.clone())));
    out.extend(manifest.arms.iter().map(|arm| (format!("arm {}", arm.name), arm.digest.clone())));
    out.extend(manifest.summarizers.iter().map(|summarizer| {
        (
            format!("summarizer {}", summarizer.name),
            [summarizer.model.as_str(), &summarizer.endpoint, &summarizer.parameters].join(" "),
        )
    }));
    out
}

/// The judge as it decides trials. A rubric is named where it is not the standard one.
fn judge_of(manifest: &Manifest) -> String {
    let mut judge = [manifest.judge.as_str(), &manifest.judge_endpoint, &manifest.judge_parameters].join(" ");
    if !manifest.judge_rubric.is_empty() {
        judge.push_str(&format!(" rubric {}", manifest.judge_rubric));
    }
    judge
}

fn manifest_digest(manifest: &Manifest) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in decisive(manifest) {
        for field in [name, value] {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// One way in which two experiments differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// A fragment that names it.
    pub text: String,
    /// Whether it only adds trials to those there were.
    pub kind: DifferenceKind,
}

/// What a difference does to the trials of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// There are more of them; those there were stay what they are.
    Addition,
    /// Those there were would be others now.
    Change,
}

/// What differs between a stored run and a new one. A run belongs to one version of laundromat: another
/// one may build other requests.
pub fn differences(stored: &Manifest, new: &Manifest) -> Vec<Difference> {
    let before: HashMap<String, String> = decisive(stored).into_iter().collect();
    let now: HashMap<String, String> = decisive(new).into_iter().collect();
    let short = |value: &str| value.chars().take(60).collect::<String>();
    let mut out: Vec<Difference> = decisive(new)
        .into_iter()
        .filter_map(|(name, value)| match before.get(&name) {
            None => Some(Difference { text: format!("{name} is new"), kind: DifferenceKind::Addition }),
            Some(old) if *old != value => {
                let text = format!("{name} was {}, is {}", short(old), short(&value));
                Some(Difference { text, kind: kind(stored, new, &name) })
            }
            Some(_) => None,
        })
        .collect();
    let mut change = |text| out.push(Difference { text, kind: DifferenceKind::Change });
    if stored.version != new.version {
        change(format!("laundromat was {}, is {}", short(&stored.version), new.version));
    }
    for (name, _) in decisive(stored).into_iter().filter(|(name, _)| !now.contains_key(name)) {
        change(format!("{name} is gone"));
    }
    out
}

/// What another value of `name` does: more repetitions and more arms are more trials.
fn kind(stored: &Manifest, new: &Manifest, name: &str) -> DifferenceKind {
    let more = match name {
        "repetitions" => new.repetitions > stored.repetitions,
        "arms" => {
            let kept = new.arms.iter().filter(|arm| stored.arms.iter().any(|old| old.name == arm.name));
            kept.map(|arm| &arm.name).eq(stored.arms.iter().map(|arm| &arm.name))
        }
        _ => false,
    };
    if more { DifferenceKind::Addition } else { DifferenceKind::Change }
}

/// Where names stand, for messages.
struct Origin<'a> {
    experiment: &'a Path,
    text: &'a str,
    folder: &'a Path,
}

impl Origin<'_> {
    /// The place of a quoted name in the experiment file.
    fn fault(&self, key: &str, name: &str, problem: String, remedy: String) -> RunError {
        let quoted = toml_quoted(name);
        let place = self.text.find(&quoted).map_or(Place::of_path(key), |at| Place::of_byte(self.text, at, key));
        RunError::Faults { path: self.experiment.to_owned(), faults: vec![Fault::new(place, problem, remedy)] }
    }
}

fn toml_quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn read_text(path: &Path) -> Result<String, RunError> {
    let bytes = fs::read(path).map_err(|source| RunError::Unreadable { path: path.to_owned(), source })?;
    utf8::text(bytes).map_err(|fault| RunError::Faults { path: path.to_owned(), faults: vec![fault] })
}

fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// The text of a data file: of the file at a path, or of the embedded one with that name.
fn data_file(
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

/// An arm as it was read.
struct Loaded {
    kind: ArmKind,
    info: ArmInfo,
    /// As the experiment names it.
    entry: String,
    /// An exec arm whose variable is still a hole.
    template: Option<ExecArm>,
}

/// Exec arms of one harness that differ in more than they declare.
fn unlike(arms: &[Loaded], from: &Origin<'_>) -> Option<RunError> {
    let templates: Vec<&ExecArm> = arms.iter().filter_map(|loaded| loaded.template.as_ref()).collect();
    let (name, problem) = alike::unlike(&templates)?;
    let loaded = arms.iter().find(|loaded| loaded.info.name == name)?;
    let remedy =
        "make them alike, write {variable} where they differ on purpose, or say allow-differences = true in one";
    Some(from.fault("arms", &loaded.entry, problem, remedy.to_owned()))
}

fn exec_arm(entry: &ArmEntry, text: &str, path: &Path) -> Result<Loaded, RunError> {
    let faulty = |faults| RunError::Faults { path: path.to_owned(), faults };
    let template = ExecArm::parse(text, path.parent().unwrap_or(Path::new("."))).map_err(faulty)?;
    let arm = template.filled();
    let sources = sources(&arm).map_err(|problem| {
        faulty(vec![Fault::new(Place::of_path("git.ref"), problem, "name a ref of that repository")])
    })?;
    let info = ArmInfo {
        name: arm.name.clone(),
        title: arm.title.clone(),
        form: KIND.to_owned(),
        prompt: "the harness's own".to_owned(),
        faults: Vec::new(),
        digest: digest(&[text.as_bytes(), b"\0", &sources].concat()),
        gate: entry.gate,
    };
    let kind = ArmKind::Exec { arm: Box::new(arm), path: path.to_owned() };
    Ok(Loaded { kind, info, entry: entry.name.clone(), template: Some(template) })
}

fn arm(entry: &ArmEntry, from: &Origin<'_>) -> Result<Loaded, RunError> {
    let (text, path) = data_file("arms", &entry.name, from, arms::arm, &arms::arm_names())?;
    if is_exec(&text) {
        return exec_arm(entry, &text, &path);
    }
    let faulty = |path: &Path, faults| RunError::Faults { path: path.to_owned(), faults };
    let arm = Arm::parse(&text).map_err(|faults| faulty(&path, faults))?;
    // What an arm file names by a path stands beside it.
    let beside = Origin { experiment: &path, text: &text, folder: path.parent().unwrap_or(Path::new(".")) };
    let (prompt, prompt_path) = data_file("prompt", &arm.prompt, &beside, arms::prompt, &arms::prompt_names())?;
    let shield = match &arm.shield {
        Some(name) => Some(data_file("shield", name, &beside, arms::shield, &arms::shield_names())?),
        None => None,
    };
    let shield_text = shield.as_ref().map(|(text, _)| text.as_str());
    let info = ArmInfo {
        name: arm.name.clone(),
        title: arm.title.clone(),
        form: arm.form.id().to_owned(),
        prompt: arm.prompt_basis.id().to_owned(),
        faults: arm.faults.iter().map(|fault| fault.id().to_owned()).collect(),
        digest: digest([text.as_str(), &prompt, shield_text.unwrap_or_default()].join("\0").as_bytes()),
        gate: entry.gate,
    };
    let prompt = Prompt::parse(&prompt).map_err(|faults| faulty(&prompt_path, faults))?;
    let shield = match &shield {
        Some((text, path)) => Some(Shield::parse(text).map_err(|faults| faulty(path, faults))?),
        None => None,
    };
    let kind = ArmKind::Built(Box::new(Compactor::assemble(arm, prompt, shield)));
    Ok(Loaded { kind, info, entry: entry.name.clone(), template: None })
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
            let has_carrier = has_carrier(&session);
            let counts = Counts::of(&session);
            let info = SessionInfo {
                origin: session.origin.unwrap_or_else(|| "unknown".to_owned()),
                digest: digest(text.as_bytes()),
                turns: counts.turns,
                results: counts.results,
                bytes: text.len(),
                id: session.id,
            };
            SessionEntry { info, path: path.to_owned(), format, index, has_carrier }
        })
        .collect())
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
