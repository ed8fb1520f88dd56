//! `plan`: what an experiment will come to.

use laundromat_provider::{Cap, Model, Money};
use laundromat_runner::forecast::{EXPECTED_SUMMARY, EXPECTED_VERDICT, Unknown};
use laundromat_runner::{Forecast, Inputs, advice, forecast, plan};

use crate::args::Plan;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::line;

/// How many names a list shows before it is cut.
const SHOWN: usize = 10;

pub(crate) fn run(args: &Plan) -> Result<ExitCode, CliError> {
    let inputs = Inputs::load_with(&args.experiment, &args.prompt_from)?;
    let prices = args.prices.as_deref().map(super::run::price_list).transpose()?;
    let today = super::run::today();
    let estimate = plan::estimate(&inputs, &today)?;
    let experiment = &inputs.experiment;
    let row = |name: &str, value: String| line(&format!("{name:<21} {value}"));
    row("experiment", experiment.name.clone());
    row("sessions", estimate.sessions.to_string());
    row("attacks and controls", listed(inputs.attacks.iter().map(|attack| attack.name.as_str())));
    row("arms", listed(inputs.arms.iter().map(|arm| arm.name())));
    if !experiment.primary.is_empty() {
        let contrasts = experiment.primary.iter().map(|it| format!("{} vs {}", it.first, it.second));
        row("primary contrasts", contrasts.collect::<Vec<_>>().join(", "));
    }
    let supplied: Vec<&str> = inputs.supplied_prompts().collect();
    if !supplied.is_empty() {
        row("prompt = user-supplied", supplied.join(", "));
    }
    if let Some(chosen) = &experiment.shields {
        row("shields", if chosen.is_empty() { "none".to_owned() } else { chosen.join(", ") });
    }
    row("summarizers", listed(experiment.summarizers.iter().map(|summarizer| summarizer.model.name())));
    row("judge", experiment.judge.name().to_owned());
    row("cells", estimate.cells.to_string());
    row("trials", format!("{} ({} a cell)", estimate.trials, experiment.repetitions));
    row("summarizer calls", estimate.summarizer_calls.to_string());
    if estimate.walked_trials > 0 {
        let told = format!(
            "with {} of these calls at most: one that does not end normally is a trial's last; {} tokens are reckoned \
             for each reply that a later call holds",
            estimate.walked_calls, EXPECTED_SUMMARY
        );
        row("trials of several steps", format!("{}, {told}", estimate.walked_trials));
    }
    if estimate.unasked_trials > 0 {
        row("trials without a call", format!("{}, whose arms ask nobody", estimate.unasked_trials));
    }
    if estimate.exec_trials > 0 {
        let told = "whose programs make their calls themselves: how many and at what cost is not known before";
        row("exec trials", format!("{}, {told}", estimate.exec_trials));
    }
    match estimate.judge_calls {
        0 => row("judge calls", "none, the judge is offline".to_owned()),
        calls => row("judge calls", format!("at most {calls} (one for each summary that passes the gate)")),
    }
    row("input tokens", format!("about {} (estimated at 4 characters a token)", estimate.input_tokens));
    if let Some((chars, name)) = &estimate.largest {
        row("largest request", format!("{chars} characters, {name}"));
    }
    if experiment.models().all(Model::is_builtin) {
        row("cost", "0, built-in models are free".to_owned());
    } else {
        let Forecast { expected, worst, exec_call } = forecast(&inputs, &estimate, prices, &today);
        let assumed = format!(
            "if a summary has {EXPECTED_SUMMARY} tokens and a verdict {EXPECTED_VERDICT}, and every summary is judged"
        );
        row("cost, expected", shown(expected, &assumed));
        row("cost, at worst", shown(worst, "if every reply is as long as it may be"));
        if estimate.exec_trials > 0 {
            row("without exec trials", "both costs leave the calls of their programs out".to_owned());
        }
        if estimate.exec_trials > 0 && experiment.cap != Cap::default() {
            let assumed = "for a request as long as the longest session and the longest reply; the budget holds for it";
            row("an exec call", shown(exec_call, &format!("at worst, {assumed}")));
        }
    }
    warn("what this plan cannot answer", advice(&inputs));
    warn("settings not sent", experiment.not_sent());
    warn("arms that refuse", estimate.refused.iter().map(|(name, reason)| format!("{name}: {reason}")).collect());
    warn("plants not fully sent", estimate.not_exposed);
    Ok(ExitCode::Pass)
}

fn shown(cost: Result<Money, Unknown>, assumed: &str) -> String {
    cost.map_or_else(|unknown| format!("unknown: {unknown}"), |cost| format!("{cost} {assumed}"))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn warn(what: &str, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    line(&format!("{what}: {}", names.len()));
    let more = names.len().saturating_sub(SHOWN);
    for name in names.into_iter().take(SHOWN) {
        line(&format!("  {name}"));
    }
    if more > 0 {
        line(&format!("  and {more} more"));
    }
}
