//! What of an arm decides what a plant is to it: its labels, and its caps on single texts.

use laundromat_compactor::Arm;
use laundromat_compactor::caps::TextCap;
use laundromat_injector::classes::ArmFacts;
use laundromat_session::KeptEnds;

/// The facts of `arm` that [`laundromat_injector::classes`] asks for.
pub fn facts(arm: &Arm) -> ArmFacts {
    let kept = |own: &Option<TextCap>| {
        let cap = own.as_ref().or(arm.caps.text.as_ref())?;
        Some(KeptEnds { limit: cap.limit, head: cap.head, tail: cap.tail })
    };
    ArmFacts {
        labels: arm.labels,
        user: kept(&arm.caps.roles.user),
        assistant: kept(&arm.caps.roles.assistant),
        tool: kept(&arm.caps.roles.tool),
    }
}
