//! What a plant is to one arm: how near its label is to the arm's own, and what the arm's caps leave of it. Both are
//! computed from the specimen and the arm, and stand in no attack file.

use laundromat_session::labels::{LabelStyle, Likeness};
use laundromat_session::{CapClass, KeptEnds, Part, Role, Session};

use crate::attack::Attack;
use crate::inject::Specimen;

/// What of an arm a plant's classes depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArmFacts {
    /// The labels that its transcript has; `None` where it sends roles.
    pub labels: Option<&'static LabelStyle>,
    /// What is kept of a long user turn.
    pub user: Option<KeptEnds>,
    /// What is kept of a long assistant turn.
    pub assistant: Option<KeptEnds>,
    /// What is kept of a long tool result.
    pub tool: Option<KeptEnds>,
}

/// What a plant is to an arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// How near the forged label is to the arm's own.
    pub likeness: Likeness,
    /// What the arm's caps on single texts leave, a class for each planted span.
    pub places: Vec<CapClass>,
}

impl Classes {
    /// The classes of `attack` in `specimen` for an arm. The bound on all records together, and what a shield covers
    /// before the caps, are not in them: what was really sent is the exposure.
    pub fn of(specimen: &Specimen, attack: &Attack, arm: &ArmFacts) -> Self {
        let likeness = match &attack.payload {
            Some(payload) => payload.guise.likeness(arm.labels),
            None => Likeness::Unlabelled,
        };
        let places = specimen.plant.spans.iter().map(|span| {
            let turn = &specimen.session.turns[span.turn];
            let cap = match turn.role {
                Role::User => arm.user,
                Role::Assistant => arm.assistant,
                Role::Tool => arm.tool,
                Role::System | Role::Marker(_) | Role::Other(_) => None,
            };
            let before = before(&specimen.session, span.turn, span.part);
            let Part::Text(text) = &turn.parts[span.part] else { return CapClass::Uncut };
            let chars = |bytes: usize| before + text[..bytes].chars().count();
            let plant = chars(span.bytes.start)..chars(span.bytes.end);
            CapClass::of(&plant, turn.text().chars().count(), cap)
        });
        Self { likeness, places: places.collect() }
    }
}

/// Characters of a turn's text before one of its parts.
fn before(session: &Session, turn: usize, part: usize) -> usize {
    let texts = session.turns[turn].parts[..part].iter().filter_map(|part| match part {
        // Texts are joined with a line break.
        Part::Text(text) => Some(text.chars().count() + 1),
        Part::Image(_) | Part::Other(_) => None,
    });
    texts.sum()
}
