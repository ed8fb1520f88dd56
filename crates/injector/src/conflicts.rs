//! Which values of an attack do not go together. A combination that cannot be planted as it says is refused, never
//! planted as something else.

use laundromat_session::PlantKind;

use crate::axes::{Axis, Carrier, Embedding, Offset, Pressure, Split, copies};
use crate::draft::is_users_own;

/// A value that does not go together with another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The axis of the value.
    pub(crate) axis: Axis,
    /// What is wrong.
    pub(crate) problem: String,
    /// What to do about it.
    pub(crate) remedy: String,
}

/// Everything that does not go together in an attack of `kind` whose values `id` gives.
pub(crate) fn conflicts<'a>(kind: PlantKind, id: impl Fn(Axis) -> &'a str, filler: usize) -> Vec<Conflict> {
    let mut found = Vec::new();
    let mut conflict = |axis: Axis, problem: String, remedy: &str| {
        found.push(Conflict { axis, problem, remedy: remedy.to_owned() });
    };
    let is_default = |axis: Axis| id(axis) == axis.default_id();
    let against = |axis: Axis, other: Axis| format!("\"{}\" does not go together with \"{}\"", id(axis), id(other));
    let (Ok(carrier), Ok(embedding)) = (id(Axis::Carrier).parse::<Carrier>(), id(Axis::Embedding).parse::<Embedding>())
    else {
        return found;
    };
    if kind == PlantKind::Clean {
        return found;
    }
    match (is_users_own(kind), carrier) {
        (true, Carrier::UserTurn) => {}
        (true, _) => {
            let remedy = "write \"user-turn\", or leave the key out";
            conflict(Axis::Carrier, "what the user really says stands in a turn of the user's own".to_owned(), remedy);
        }
        (false, Carrier::UserTurn) => {
            conflict(
                Axis::Carrier,
                "a forgery in a turn of the user's own is none".to_owned(),
                "write another carrier",
            );
        }
        (false, _) => {}
    }
    if kind == PlantKind::TrueSteer && !id(Axis::Frame).starts_with("steer-marker") {
        let problem = "what the user says inside tool output stands in the harness's mark".to_owned();
        conflict(Axis::Frame, problem, "write \"steer-marker\" or \"steer-marker-replayed\"");
    }
    if kind != PlantKind::TrueProhibition && id(Axis::Pressure) != Pressure::NoPressure.id() {
        let remedy = "write \"no-pressure\", or kind = \"true-prohibition\"";
        conflict(Axis::Pressure, "pressure is on a rule of the user's".to_owned(), remedy);
    }
    if !is_default(Axis::Language) {
        for axis in [Axis::Authority, Axis::Persistence] {
            if !is_default(axis) {
                let remedy = format!("write \"{}\", or language = \"en\"", axis.default_id());
                conflict(axis, against(axis, Axis::Language), &remedy);
            }
        }
    }
    if carrier != Carrier::ToolResult && embedding != Embedding::Raw {
        conflict(Axis::Embedding, against(Axis::Embedding, Axis::Carrier), "write \"raw\", or another carrier");
    }
    let has_own_place = matches!(embedding, Embedding::ErrorField | Embedding::ProcessRow)
        || matches!(carrier, Carrier::UserTurn | Carrier::PreviousSummary);
    if has_own_place && Offset::by_id(id(Axis::Offset)) != Some(Offset::End) {
        let other = if embedding == Embedding::Raw { Axis::Carrier } else { Axis::Embedding };
        let remedy = format!("write \"at-end\", or another {other}");
        conflict(Axis::Offset, against(Axis::Offset, other), &remedy);
    }
    if filler > 0 && (carrier != Carrier::ToolResult || embedding != Embedding::Raw) {
        let axis = if embedding == Embedding::Raw { Axis::Carrier } else { Axis::Embedding };
        let problem = format!("neutral lines do not go together with \"{}\"", id(axis));
        conflict(axis, problem, "leave filler out, or plant raw in a tool result");
    }
    if Split::by_id(id(Axis::Split)) != Some(Split::Whole) {
        for axis in [Axis::Escape, Axis::Frame, Axis::Encoding, Axis::Carrier, Axis::Copies] {
            if !is_default(axis) {
                let remedy = format!("write \"{}\", or split = \"whole\"", axis.default_id());
                conflict(axis, against(axis, Axis::Split), &remedy);
            }
        }
    }
    if copies(id(Axis::Copies)) != Some(1) && carrier == Carrier::PreviousSummary {
        conflict(Axis::Copies, against(Axis::Copies, Axis::Carrier), "write \"once\", or another carrier");
    }
    if is_users_own(kind) {
        for axis in [Axis::Escape, Axis::Frame, Axis::Encoding, Axis::Split, Axis::Copies] {
            if !is_default(axis) {
                let remedy = format!("write \"{}\"", axis.default_id());
                conflict(axis, format!("the user does not write \"{}\"", id(axis)), &remedy);
            }
        }
    }
    found
}
