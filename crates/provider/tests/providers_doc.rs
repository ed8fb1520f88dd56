//! `docs/providers.md` shows the profiles as they are. On a difference the tables are printed as they
//! should stand there.

use std::fmt::Write;
use std::path::PathBuf;

use laundromat_provider::policy::{AfterTool, Neighbours, NoContent, Presence, Tools};
use laundromat_provider::profile::{Auth, Profile};
use laundromat_provider::settings::Sent;
use laundromat_provider::{Route, Settings};
use serde_json::Value;

fn keys(profile: &Profile) -> String {
    let names: Vec<String> = profile
        .keys
        .iter()
        .map(|source| match source.auth {
            Auth::Bearer => format!("`{}`", source.env),
            other => format!("`{}` as `{}`", source.env, other.header()),
        })
        .chain(profile.headers.iter().filter_map(|header| Some(format!("`{}`", header.env.as_ref()?))))
        .collect();
    let optional = if profile.wants_key() { "" } else { " (where the server wants one)" };
    if names.is_empty() { format!("`key-env`{optional}") } else { format!("{}{optional}", names.join(", ")) }
}

fn words(profile: &Profile) -> String {
    let fields = &profile.fields;
    let effort = fields.effort.as_ref().map(|effort| effort.field.clone());
    let named = [&fields.max_tokens, &fields.temperature, &fields.seed, &effort];
    let named: Vec<String> = named.into_iter().flatten().map(|field| format!("`{field}`")).collect();
    named.join(", ")
}

fn adds(profile: &Profile) -> String {
    let mut adds: Vec<String> = Vec::new();
    let policy = &profile.policy;
    if !profile.extra.is_empty() {
        adds.push(format!("`{}`", Value::from(profile.extra.clone())));
    }
    if let Some(effort) = &profile.defaults.effort {
        adds.push(format!("effort {effort}"));
    }
    if let Some(cap) = profile.defaults.max_tokens {
        adds.push(format!("max-tokens {cap}"));
    }
    adds.extend(profile.headers.iter().filter_map(|it| Some(format!("header `{}: {}`", it.name, it.value.as_ref()?))));
    let switches = [
        (policy.neighbours == Neighbours::Merged, "merges neighbouring turns of one role"),
        (policy.after_tool == AfterTool::Bridge, "an assistant turn between a result and a person's words"),
        (policy.no_content == NoContent::EmptyText, "`\"\"` for no content"),
        (policy.result_name == Presence::Sent, "the tool's name beside its result"),
        (policy.call_ids == Presence::Sent, "ids of calls"),
        (policy.tools == Tools::Stubs || profile.route == Route::BedrockConverse, "declares the tools used"),
        (policy.reasoning.is_some(), "a placeholder for the reasoning behind calls"),
        (policy.signature.is_some(), "a sentinel for the signature of a turn's first call"),
        (policy.default_system.is_some(), "instructions where there are none"),
    ];
    adds.extend(switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, words)| words.to_owned()));
    adds.join("; ")
}

fn drops(profile: &Profile) -> String {
    let settings = Settings {
        max_tokens: Some(1),
        temperature: Some(0.into()),
        seed: Some(0),
        effort: Some("low".to_owned()),
        ..Settings::default()
    };
    let dropped = Sent::new(profile, &settings).dropped;
    dropped.iter().map(|it| format!("{}: {}", it.setting, it.why)).collect::<Vec<_>>().join("; ")
}

fn tables() -> String {
    let mut out = String::new();
    for route in Route::ALL {
        writeln!(out, "### Route `{route}`\n").expect("text");
        out.push_str("| profile | destination | address | key | words for max-tokens, temperature, seed, effort | not sent | added | refused | known from |\n");
        out.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        for profile in Profile::all().iter().filter(|profile| profile.route == *route) {
            let note = if profile.note.is_empty() { String::new() } else { format!(" ({})", profile.note) };
            let address = format!("`{}{}`", profile.base_url.as_deref().unwrap_or("BASE-URL"), profile.path);
            let cells = [
                format!("`{}`", profile.id),
                format!("{}{note}", profile.title),
                address,
                keys(profile),
                words(profile),
                drops(profile),
                adds(profile),
                profile.rules.refusals().join("; "),
                profile.confidence.clone(),
            ];
            writeln!(out, "| {} |", cells.join(" | ")).expect("text");
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_documentation_shows_the_profiles_as_they_are() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let text = std::fs::read_to_string(path).expect("docs/providers.md");
    let tables = tables();
    assert!(text.contains(&tables), "docs/providers.md should hold:\n<<<\n{tables}>>>");
}
