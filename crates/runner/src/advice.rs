//! What a plan cannot answer, said before it is paid for.

use laundromat_metrics::Alpha;
use laundromat_metrics::planning::Direction;
use laundromat_metrics::session_planning::{Block, minimum_detectable_effect};
use laundromat_session::PlantKind;

use crate::inputs::Inputs;

/// Below this many sessions a report gives no p-value.
const FEWEST_SESSIONS: usize = 6;

/// A difference that a plan should be able to see: half of what the published arms differ by.
const WORTH_SEEING: f64 = 0.25;

/// What is assumed of a plan that has not run: the least favourable rate and the clustering of published runs.
const ASSUMED: (f64, f64) = (0.5, 0.2);

/// The power that a plan should have.
const POWER: f64 = 0.8;

/// Names of model families, as model names have them, with the family they belong to.
const FAMILIES: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("command", "command"),
    ("deepseek", "deepseek"),
    ("gemini", "gemini"),
    ("gemma", "gemini"),
    ("glm", "glm"),
    ("gpt", "gpt"),
    ("o1", "gpt"),
    ("o3", "gpt"),
    ("o4", "gpt"),
    ("grok", "grok"),
    ("kimi", "kimi"),
    ("llama", "llama"),
    ("ministral", "mistral"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("codestral", "mistral"),
    ("nova", "nova"),
    ("phi", "phi"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
];

/// The family of a model by its name; `None` for one that is not known.
///
/// The name is looked at word by word, so that a publisher or a gateway may stand in front.
pub fn family(model: &str) -> Option<&'static str> {
    let lower = model.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let known = |word: &str| {
        let is_it = |name: &str| {
            // `qwen3` and `o1` are words of the family, `phillips` and `o100` are not.
            word.strip_prefix(name).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
        };
        FAMILIES.iter().find(|(name, _)| is_it(name)).map(|(_, family)| *family)
    };
    words.into_iter().find_map(known)
}

/// One sentence for each question that the experiment cannot answer as it is planned.
pub fn advice(inputs: &Inputs) -> Vec<String> {
    let experiment = &inputs.experiment;
    let sampled = experiment.summarizers.iter().filter(|it| !it.model.is_builtin());
    let models = sampled.clone().count() as u64;
    let mut out = Vec::new();
    let is_attacked = inputs.attacks.iter().any(|attack| attack.kind == PlantKind::Attack);
    if models > 0 && inputs.arms.len() > 1 && is_attacked {
        out.extend(too_small(inputs.sessions.len(), models * u64::from(experiment.repetitions)));
    }
    if let Some(judge) = experiment.judge.model()
        && let Some(of_judge) = family(judge.name())
    {
        let alike = sampled.filter(|it| family(it.model.name()) == Some(of_judge)).map(|it| it.name.as_str());
        let alike: Vec<&str> = alike.collect();
        if !alike.is_empty() {
            out.push(format!(
                "the judge {} is of one family ({of_judge}) with {}, and models favour their own: take another judge, or \
                 judge again with one and compare",
                judge.name(),
                alike.join(", ")
            ));
        }
    }
    out
}

/// Why so many sessions with so many runs in each arm cannot tell arms apart; `None` where they can.
fn too_small(sessions: usize, runs: u64) -> Option<String> {
    if sessions < FEWEST_SESSIONS {
        return Some(format!(
            "{sessions} sessions are too few to compare arms: sessions are the sample, and below {FEWEST_SESSIONS} the report \
             gives no p-value, whatever the repetitions"
        ));
    }
    let (rate, icc) = ASSUMED;
    let block = Block::new(runs, icc).ok()?;
    let seen = minimum_detectable_effect(rate, sessions, block, Alpha::FIVE_PERCENT, POWER, Direction::Down);
    let least = match seen {
        Ok(effect) if effect.difference <= WORTH_SEEING => return None,
        Ok(effect) => format!(
            "differences below {:.0} points are missed more often than one time in five",
            100.0 * effect.difference
        ),
        Err(_) => "even the largest difference may be missed".to_owned(),
    };
    Some(format!(
        "with {sessions} sessions and {runs} runs of each in an arm, {least} (at a rate of {:.0}% and an intraclass \
         correlation of {icc}); more sessions help most: see laundromat power",
        100.0 * rate
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_found_in_names() {
        for (model, expect) in [
            ("gpt-5-mini", Some("gpt")),
            ("openai/o3", Some("gpt")),
            ("anthropic.claude-opus-4", Some("claude")),
            ("meta-llama/Llama-3.3-70B-Instruct", Some("llama")),
            ("Qwen3-32B", Some("qwen")),
            ("builtin:reader", None),
            ("phillips-7b", None),
            ("", None),
        ] {
            assert_eq!(family(model), expect, "{model}");
        }
    }

    #[test]
    fn small_plans_are_told_so() {
        assert!(too_small(4, 6).is_some_and(|it| it.contains("4 sessions are too few")));
        assert!(too_small(6, 1).is_some_and(|it| it.contains("laundromat power")));
        assert_eq!(too_small(40, 6), None);
    }
}
