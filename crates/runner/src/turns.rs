//! Whose turn the plants of a run end up in once a summarizer's own chat template has written the requests down. What
//! is typed on the wire need not be typed for the model, so a report says it where the experiment names a template.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use laundromat_compactor::{Compactor, Request};
use laundromat_injector::{Specimen, inject};
use laundromat_session::PlantKind;
use laundromat_session::fault::{Fault, Place};
use laundromat_store::{Manifest, TemplateInfo, TurnsOf};
use laundromat_template::{Source, Span, Template, TemplateError, check};
use rayon::prelude::*;

use crate::error::RunError;
use crate::experiment::Summarizer;
use crate::inputs::{ArmKind, Inputs, Origin, SessionEntry, digest};
use crate::walk::Walk;

/// The answer of an arm that asks nobody.
const NOBODY_ASKED: &str = "nobody is asked";
/// The answer where the plant is in no request.
const NOT_SENT: &str = "not sent";

/// A summarizer's chat template.
#[derive(Debug)]
pub struct ModelTemplate {
    template: Template,
    digest: String,
}

/// Reads and compiles the template that a summarizer names.
pub(crate) fn template(summarizer: &Summarizer, from: &Origin<'_>) -> Result<Option<ModelTemplate>, RunError> {
    let Some(file) = &summarizer.template else { return Ok(None) };
    let path = from.folder.join(file);
    let opened = File::open(&path).map_err(|source| RunError::Unreadable { path: path.clone(), source })?;
    let faulty = |problem: String| {
        let remedy = "name a file of Jinja, a tokenizer_config.json or a .gguf model with a chat template";
        RunError::Faults { path: path.clone(), faults: vec![Fault::new(Place::of_path("template"), problem, remedy)] }
    };
    let source = Source::read(BufReader::new(opened)).map_err(|error| faulty(error.to_string()))?;
    let digest = digest([source.template.as_str(), &source.bos, &source.eos].join("\0").as_bytes());
    let template = Template::new(source).map_err(|error| faulty(error.to_string()))?;
    Ok(Some(ModelTemplate { template, digest }))
}

/// Fills in what the templates of `inputs` make of the run's requests, where `manifest` does not say it yet. Hands
/// back whether anything was new.
///
/// # Errors
/// When a session cannot be read.
pub(crate) fn tell(inputs: &Inputs, manifest: &mut Manifest) -> Result<bool, RunError> {
    let known = manifest.summarizers.iter().zip(&inputs.templates).all(|(info, template)| {
        info.template.as_ref().map(|info| &info.digest) == template.as_ref().map(|template| &template.digest)
    });
    if known {
        return Ok(false);
    }
    let date = manifest.date.clone();
    let counted: Vec<Counts> =
        inputs.sessions.par_iter().map(|entry| of_session(inputs, entry, &date)).collect::<Result<_, _>>()?;
    let mut sum = Counts::new();
    for (place, count) in counted.into_iter().flatten() {
        *sum.entry(place).or_default() += count;
    }
    for (summarizer, info) in manifest.summarizers.iter_mut().enumerate() {
        info.template = inputs.templates[summarizer].as_ref().map(|template| TemplateInfo {
            digest: template.digest.clone(),
            turns: inputs.arms.iter().enumerate().map(|(arm, kind)| turns_of(kind, &sum, (summarizer, arm))).collect(),
        });
    }
    Ok(true)
}

/// How many requests there are of each answer, by places of summarizer and arm.
type Counts = BTreeMap<(usize, usize, String), u64>;

fn turns_of(kind: &ArmKind, counts: &Counts, (summarizer, arm): (usize, usize)) -> TurnsOf {
    let mine = counts.iter().filter(|((s, a, _), _)| (*s, *a) == (summarizer, arm));
    let mut answers: Vec<(String, u64)> = mine.map(|((.., answer), count)| (answer.clone(), *count)).collect();
    answers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    TurnsOf { arm: kind.name().to_owned(), answers }
}

fn of_session(inputs: &Inputs, entry: &SessionEntry, date: &str) -> Result<Counts, RunError> {
    let session = inputs.session(entry)?;
    let mut counts = Counts::new();
    for attack in inputs.attacks.iter().filter(|attack| attack.kind == PlantKind::Attack) {
        let specimen =
            inject(&session, attack, inputs.experiment.seed).map_err(|error| RunError::Internal(error.to_string()))?;
        for (arm, kind) in inputs.arms.iter().enumerate() {
            let built = match kind {
                ArmKind::Built(compactor) => Some(requests(compactor, &specimen, date)),
                ArmKind::Exec { .. } => None,
            };
            for (summarizer, template) in inputs.templates.iter().enumerate() {
                let Some(template) = template else { continue };
                let answer = match &built {
                    None => "its program builds the request".to_owned(),
                    Some(requests) => answer(&template.template, requests.as_deref(), &specimen),
                };
                *counts.entry((summarizer, arm, answer)).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// The requests of one compaction; `None` where the arm refuses.
fn requests(compactor: &Arc<Compactor>, specimen: &Specimen, date: &str) -> Option<Vec<Request>> {
    let view = compactor.view(compactor.records(&specimen.session));
    let foreseen = Walk::new(Arc::clone(compactor), view, date).foreseen().ok()?;
    Some(foreseen.into_iter().map(|call| call.request).collect())
}

fn answer(template: &Template, requests: Option<&[Request]>, specimen: &Specimen) -> String {
    let Some(requests) = requests else { return "the arm refuses".to_owned() };
    if requests.is_empty() {
        return NOBODY_ASKED.to_owned();
    }
    let mut told: Vec<String> = Vec::new();
    for request in requests {
        let places = request.places(&specimen.plant);
        if places.is_empty() {
            continue;
        }
        let spans: Vec<Span> = places.into_iter().map(|(message, bytes)| Span { message, bytes }).collect();
        let answer = match check(template, &request.messages, &spans) {
            Ok(found) => found.answer(),
            Err(TemplateError::Refused(_)) => "the template refuses the request".to_owned(),
            Err(TemplateError::Syntax(_) | TemplateError::Failed(_)) => "the template fails".to_owned(),
        };
        if !told.contains(&answer) {
            told.push(answer);
        }
    }
    if told.is_empty() { NOT_SENT.to_owned() } else { told.join(", ") }
}
