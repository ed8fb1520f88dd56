//! A contrast in plain words: what differs, how surely, and what to doubt.

use laundromat_store::SummarizerKind;

use crate::data::{Contrast, Pool, Tables, Test};
use crate::sessions::{Agreement, BySession, FEWEST_SESSIONS, Paired};
use crate::text;

/// The level that sentences speak of.
const LEVEL: f64 = 0.05;

/// One sentence for a contrast over all language models, with the doubts behind it; `None` where nothing was compared.
pub(crate) fn of(tables: &Tables<'_>, contrast: &Contrast) -> Option<String> {
    let by_session = contrast.by_session.as_ref()?;
    let paired = by_session.paired?;
    let [first, second] = [contrast.a, contrast.b].map(|arm| tables.manifest.arms[arm].name.as_str());
    let mut parts = vec![conclusion(by_session, &paired, first, second)];
    if by_session.is_heterogeneous() {
        let p = by_session.heterogeneity.map_or(1.0, |test| test.p);
        parts.push(format!("Pooled value hides model differences (heterogeneity p = {}).", text::p_value(p)));
    }
    if by_session.agreement(contrast.test) == Agreement::Differ {
        parts.push("Naive and session-level conclusions differ; believe the latter.".to_owned());
    }
    if let Some(naive) = naive(contrast.test) {
        parts.push(naive);
    }
    Some(parts.join(" "))
}

fn conclusion(by_session: &BySession, paired: &Paired, first: &str, second: &str) -> String {
    let sessions = by_session.differences.len();
    let Some(p) = paired.p_adjusted else {
        let dots = by_session.differences.iter().map(|(_, difference)| text::points(*difference));
        return format!(
            "{first} against {second}: {} points on the mean of {} ({}); no p-value below {FEWEST_SESSIONS} sessions.",
            text::points(paired.mean),
            text::several(sessions, "session"),
            dots.collect::<Vec<_>>().join(", ")
        );
    };
    let claim = match (p <= LEVEL, paired.mean > 0.0) {
        (true, true) => format!("{first} launders more than {second}"),
        (true, false) => format!("{first} launders less than {second}"),
        (false, _) => format!("No difference of {first} and {second} is shown"),
    };
    let interval = paired.interval.map_or_else(
        || "the same in every session".to_owned(),
        |it| format!("95% {} to {}", text::points(it.low), text::points(it.high)),
    );
    format!(
        "{claim}: {} points ({interval}) over {}, sign-flip p = {}, {} p = {} ({}).",
        text::points(paired.mean),
        text::several(sessions, "session"),
        text::p_value(paired.p_sign_flip.unwrap_or(p)),
        by_session.family.adjustment(),
        text::p_value(p),
        by_session.family.id()
    )
}

fn naive(test: Test) -> Option<String> {
    let shown = match test {
        Test::Pooled { .. } => text::statistic(test),
        Test::NoVariance => "no variance".to_owned(),
        Test::Deterministic | Test::NoModel | Test::Nothing => return None,
    };
    Some(format!("(naive pooled {shown}: assumes independent runs, for comparison with published tables)"))
}

/// Whether a run has anything to say by session.
pub(crate) fn applies(tables: &Tables<'_>) -> bool {
    tables.kind(Pool::All) == SummarizerKind::Llm
}
