//! What the report says of the arms themselves, and of what models' templates make of their requests.

use laundromat_store::Asks;

use super::{Section, owned, table};
use crate::data::Tables;
use crate::escape::markdown as escaped;
use crate::text::NONE;

/// Digits of a digest that tell a file from others.
const DIGITS: usize = 16;

/// The arms: what each is, whose words its prompt has, what it breaks.
pub(super) fn arms(tables: &Tables<'_>) -> Section {
    let rows: Vec<Vec<String>> = tables
        .manifest
        .arms
        .iter()
        .map(|arm| {
            let faults = if arm.faults.is_empty() { "none".to_owned() } else { arm.faults.join(", ") };
            let prompt = match &arm.supplied {
                Some(digest) => format!("{} (blake3 {})", arm.prompt, digest.get(..DIGITS).unwrap_or(digest)),
                None => arm.prompt.clone(),
            };
            [&arm.name, &arm.title, &arm.form, &prompt, &faults].map(|cell| escaped(cell)).to_vec()
        })
        .collect();
    let mut section = vec![
        "## Arms".to_owned(),
        table(&owned(&["arm", "title", "form", "prompt", "faults"]), &rows),
        "A rate under a paraphrase of a prompt is not that harness's rate: an arm reproduces the structure of a harness, \
         and only a prompt that the user supplies has its words. Faults are the invariants that the harness breaks."
            .to_owned(),
    ];
    if let Some(chosen) = &tables.manifest.shields {
        let chosen = if chosen.is_empty() { "none".to_owned() } else { escaped(&chosen.join(", ")) };
        section.push(format!(
            "Shields, by choice of this run: {chosen}. The shields that arms have beside these do not act."
        ));
    }
    let unasked: Vec<String> =
        tables.manifest.arms.iter().filter(|arm| arm.asks == Asks::Nobody).map(|arm| escaped(&arm.name)).collect();
    if !unasked.is_empty() {
        section.push(format!(
            "No model is asked under {}: there is one trial for each cell, and what was judged is what the arm leaves.",
            unasked.join(", ")
        ));
    }
    section
}

/// What the summarizers' own chat templates make of the requests; nothing where the experiment names none.
pub(super) fn turns(tables: &Tables<'_>) -> Section {
    let manifest = tables.manifest;
    if manifest.summarizers.iter().all(|it| it.template.is_none()) {
        return Section::new();
    }
    let summarizers = manifest.summarizers.iter().map(|it| escaped(&it.name));
    let header: Vec<String> = std::iter::once("arm".to_owned()).chain(summarizers).collect();
    let rows: Vec<Vec<String>> = manifest
        .arms
        .iter()
        .map(|arm| {
            let cells = manifest.summarizers.iter().map(|it| match &it.template {
                None => "not known".to_owned(),
                Some(template) => {
                    let answers = template.turns.iter().filter(|turns| turns.arm == arm.name);
                    let told = answers.flat_map(|turns| &turns.answers);
                    let told: Vec<String> =
                        told.map(|(answer, count)| format!("{} ({count})", escaped(answer))).collect();
                    if told.is_empty() { NONE.to_owned() } else { told.join("; ") }
                }
            });
            std::iter::once(escaped(&arm.name)).chain(cells).collect()
        })
        .collect();
    vec![
        "## Whose turn the plant ends up in".to_owned(),
        table(&header, &rows),
        "By each summarizer's own chat template, over all attacked sessions, with how many there are. What is a tool's on \
         the wire and the user's here is typed for nobody. Not known: the experiment names no template for that \
         summarizer. Unknown template: its turn tokens are none that are known."
            .to_owned(),
    ]
}
