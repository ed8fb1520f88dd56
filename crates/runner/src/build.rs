//! Building: all cells of one session. A pure function of session, attacks, arms and date; a request
//! is built once for all repetitions and summarizers that share it.

use std::sync::Arc;

use laundromat_compactor::caps::Caps;
use laundromat_compactor::keep::Boundary;
use laundromat_compactor::records::{Record, Scrub, Window};
use laundromat_compactor::{Compactor, Form, Given, Next, Refusal, View};
use laundromat_injector::{Specimen, inject};
use laundromat_session::identifiers::Identifiers;
use laundromat_session::seed::Seed;
use laundromat_session::{Exposure, Message, Part, Plant, PlantKind, Session};

use crate::error::RunError;
use crate::in_place;
use crate::inputs::{ArmKind, Inputs};
use crate::walk::Walk;

/// What the trials of one specimen share.
#[derive(Debug)]
pub struct Subject {
    /// The session's id.
    pub session: String,
    /// The attack's name.
    pub attack: String,
    /// The plant.
    pub plant: Plant,
    /// The session's identifiers, on clean specimens.
    pub identifiers: Option<Arc<Identifiers>>,
}

/// A request ready to be sent, or why there is none.
#[derive(Debug, Clone)]
pub enum Prepared {
    /// The request's messages.
    Ready(Arc<Vec<Message>>),
    /// The arm would not build one.
    Refused(String),
    /// The arm asks several times, or makes something of the reply.
    Walk(Arc<Walk>),
    /// The arm asks nobody: this is what it leaves, as it is judged.
    InPlace(Arc<str>),
    /// The arm's own program builds its requests when the trial is run.
    Exec(Arc<Specimen>),
}

/// A specimen in an arm, for one summarizer: all its repetitions send the same bytes.
#[derive(Debug)]
pub struct BuiltCell {
    /// The specimen.
    pub subject: Arc<Subject>,
    /// The arm's name.
    pub arm: String,
    /// Place of the summarizer in the experiment.
    pub summarizer: usize,
    /// The request.
    pub prepared: Prepared,
    /// Characters sent.
    pub input_chars: u64,
    /// How much of the plant is sent.
    pub exposure: Exposure,
}

/// Builds the cells of `session` that `wanted` (attack, arm, summarizer) asks for, arms in an order
/// seeded by the session so that none gets the later hour.
///
/// # Errors
/// When an attack has no place in the session.
pub fn cells(
    inputs: &Inputs,
    session: &Session,
    date: &str,
    wanted: impl Fn(&str, &str, &str) -> bool,
) -> Result<Vec<BuiltCell>, RunError> {
    let mut out = Vec::new();
    let order = arm_order(inputs, session);
    let mut identifiers = None;
    for attack in &inputs.attacks {
        let summarizers = |arm: &str| -> Vec<usize> {
            let all = inputs.experiment.summarizers.iter().enumerate();
            all.filter(|(_, summarizer)| wanted(&attack.name, arm, &summarizer.name)).map(|(index, _)| index).collect()
        };
        if order.iter().all(|arm| summarizers(arm.name()).is_empty()) {
            continue;
        }
        // Whether there is a place for each plant was checked when the inputs were loaded.
        let specimen =
            inject(session, attack, inputs.experiment.seed).map_err(|error| RunError::Internal(error.to_string()))?;
        let is_clean = attack.kind == PlantKind::Clean;
        let subject = Arc::new(Subject {
            session: session.id.clone(),
            attack: attack.name.clone(),
            plant: specimen.plant.clone(),
            identifiers: is_clean.then(|| Arc::clone(identifiers.get_or_insert_with(|| Arc::new(scan(session))))),
        });
        let specimen = Arc::new(specimen);
        let mut views = Views::default();
        for arm in &order {
            let (prepared, input_chars, exposure) = match arm {
                ArmKind::Built(arm) => prepare(arm, views.of(arm, &specimen), date, &subject.plant),
                ArmKind::Exec { .. } => (Prepared::Exec(Arc::clone(&specimen)), 0, Exposure::Unknown),
            };
            out.extend(summarizers(arm.name()).into_iter().map(|summarizer| BuiltCell {
                subject: Arc::clone(&subject),
                arm: arm.name().to_owned(),
                summarizer,
                prepared: prepared.clone(),
                input_chars,
                exposure,
            }));
        }
    }
    Ok(out)
}

fn arm_order<'i>(inputs: &'i Inputs, session: &Session) -> Vec<&'i ArmKind> {
    let mut order: Vec<&ArmKind> = inputs.arms.iter().collect();
    order.sort_by_cached_key(|arm| {
        Seed { seed: inputs.experiment.seed, session: &session.id, attack: "" }
            .bytes(&format!("arm order {}", arm.name()))
    });
    order
}

/// The views of one specimen: arms with the same window, scrubs and shield share their records, arms
/// with the same caps on top of that share the view.
#[derive(Default)]
struct Views {
    records: Vec<(RecordKey, Vec<Record>)>,
    views: Vec<((RecordKey, Caps), View)>,
}

/// What records depend on. The shield counts by its text: files in two folders may share a name.
type RecordKey = (Window, Scrub, Option<String>, Vec<Boundary>);

impl Views {
    fn of(&mut self, arm: &Compactor, specimen: &Specimen) -> &View {
        let data = arm.arm();
        let shield = arm.shield().map(|shield| shield.source().to_owned());
        let key: RecordKey = (data.window, data.scrub, shield, data.shield_covers.clone());
        let view_key = (key.clone(), data.caps.clone());
        if let Some(at) = self.views.iter().position(|(known, _)| *known == view_key) {
            return &self.views[at].1;
        }
        let at = self.records.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.records.push((key, arm.records(&specimen.session)));
            self.records.len() - 1
        });
        let view = arm.view(self.records[at].1.clone());
        self.views.push((view_key, view));
        &self.views[self.views.len() - 1].1
    }
}

/// What an arm makes of a view, with its size and how much of `plant` is in it.
fn prepare(arm: &Arc<Compactor>, view: &View, date: &str, plant: &Plant) -> (Prepared, u64, Exposure) {
    let prepared = match arm.arm().form {
        Form::FlatStaged | Form::FlatDelta => walk(arm, view, date, plant),
        Form::ClearOnly | Form::StaticFallback => in_place(arm, view, date, plant),
        _ => arm.request_of(view, date).map(|request| {
            let (chars, exposure) = (request.chars() as u64, request.exposure(plant));
            (Prepared::Ready(Arc::new(request.messages)), chars, exposure)
        }),
    };
    prepared.unwrap_or_else(|refusal| (Prepared::Refused(refusal.to_string()), 0, Exposure::None))
}

fn walk(arm: &Arc<Compactor>, view: &View, date: &str, plant: &Plant) -> Result<(Prepared, u64, Exposure), Refusal> {
    let walk = Walk::new(Arc::clone(arm), view.clone(), date);
    let (chars, exposure) = walk.carries(plant)?;
    Ok((Prepared::Walk(Arc::new(walk)), chars, exposure))
}

fn in_place(arm: &Compactor, view: &View, date: &str, plant: &Plant) -> Result<(Prepared, u64, Exposure), Refusal> {
    let next = arm.next(view, Given { date, previous: None }, &[])?;
    let (Next::Replace(request) | Next::Ask(request)) = next else { return Err(Refusal::NoModel) };
    let text = in_place::text(arm.arm().form, &request);
    Ok((Prepared::InPlace(text.into()), request.chars() as u64, request.exposure(plant)))
}

/// Identifiers of the raw session: every text, call names and arguments included.
fn scan(session: &Session) -> Identifiers {
    let texts = session.turns.iter().flat_map(|turn| {
        let parts = turn.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) | Part::Other(_) => None,
        });
        parts.chain(turn.calls.iter().map(|call| call.arguments.as_str()))
    });
    Identifiers::scan(texts)
}

#[cfg(test)]
mod tests {
    use laundromat_compactor::{Arm, Compactor, presets};
    use laundromat_injector::{Attack, inject};
    use laundromat_session::{Role, Session, Turn};

    use super::Views;

    #[test]
    fn arms_with_one_shield_in_other_places_share_no_records() {
        let turns = vec![
            Turn::text_of(Role::User, "write to ada@example.org"),
            Turn::text_of(Role::Assistant, "I read the page first."),
            Turn::text_of(Role::Tool, "a page"),
            Turn::text_of(Role::Assistant, "done"),
        ];
        let session = Session { id: "s".to_owned(), title: None, origin: None, turns };
        let specimen = inject(&session, &Attack::embedded("clean").expect("an attack"), 1).expect("planted");
        let mut views = Views::default();
        for (name, covered) in [("lightspeed-covers", false), ("lightspeed-shielded", true)] {
            let arm = Arm::parse(presets::arm(name).expect("an arm")).expect("no faults");
            let compactor = Compactor::new(arm).expect("no faults");
            let shared = views.of(&compactor, &specimen);
            assert_eq!(*shared, compactor.view(compactor.records(&specimen.session)), "{name}");
            let text: String = shared.records.iter().map(|record| record.text.text()).collect();
            assert_eq!(text.contains("[EMAIL]"), covered, "{name}");
        }
    }
}
