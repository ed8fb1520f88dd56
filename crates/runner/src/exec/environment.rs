//! What a program sees of its surroundings: a cleared environment, a folder of its own, a token for the gateway,
//! and never a key.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use laundromat_provider::Model;
use laundromat_provider::gateway::Door;

use super::arm::ExecArm;

/// Shorter values of variables that look like keys are words such as "none".
const SHORTEST_KEY: usize = 8;

/// What is set for every program.
const OURS: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LAUNDROMAT_BASE_URL",
    "LAUNDROMAT_TOKEN",
    "LAUNDROMAT_MODEL",
    "LAUNDROMAT_DATE",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GEMINI_API_KEY",
];

/// What is wrong with a variable that an arm declares.
pub(super) fn problem(name: &str, value: &str) -> Option<&'static str> {
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_name {
        Some("this cannot name a variable")
    } else if OURS.contains(&name) && name != "PATH" {
        Some("this variable is set for every program")
    } else if value.contains('\0') {
        Some("a value cannot hold a zero byte")
    } else {
        None
    }
}

/// The whole environment of a program.
pub(super) fn variables(
    arm: &ExecArm,
    door: &Door,
    home: &Path,
    model: &str,
    date: &str,
) -> BTreeMap<String, OsString> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let (base, token) = (door.base_url(), door.token());
    let versioned = format!("{base}/v1");
    let texts = [
        ("LANG", "C.UTF-8"),
        ("LAUNDROMAT_BASE_URL", base),
        ("LAUNDROMAT_TOKEN", token),
        ("LAUNDROMAT_MODEL", model),
        ("LAUNDROMAT_DATE", date),
        ("OPENAI_BASE_URL", &versioned),
        ("OPENAI_API_KEY", token),
        ("ANTHROPIC_BASE_URL", base),
        ("ANTHROPIC_API_KEY", token),
        ("GOOGLE_GEMINI_BASE_URL", base),
        ("GEMINI_API_KEY", token),
    ];
    let mut all: BTreeMap<String, OsString> =
        texts.into_iter().map(|(name, value)| (name.to_owned(), OsString::from(value))).collect();
    all.insert("PATH".to_owned(), path);
    all.insert("HOME".to_owned(), home.into());
    all.insert("TMPDIR".to_owned(), home.into());
    all.extend(arm.env.iter().map(|(name, value)| (name.clone(), OsString::from(value))));
    all
}

/// The keys of this process: those that the models are asked with, and whatever else looks like one.
pub(super) fn keys<'m>(models: impl Iterator<Item = &'m Model>) -> Vec<(String, String)> {
    let named: Vec<String> = models
        .filter_map(|model| match model {
            Model::Chat(endpoint) => Some(endpoint),
            Model::BuiltinReader => None,
        })
        .flat_map(|endpoint| {
            let keys = endpoint.keys.iter().map(|source| source.env.clone());
            keys.chain(endpoint.variables().map(str::to_owned)).collect::<Vec<_>>()
        })
        .collect();
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| named.contains(name) || (looks_like_a_key(name) && value.len() >= SHORTEST_KEY))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn looks_like_a_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"].iter().any(|end| name.ends_with(end))
}

/// Where an arm would hand a key over: the place in the arm, and the key's name.
pub(super) fn handed_over<'k>(arm: &ExecArm, keys: &'k [(String, String)]) -> Option<(String, &'k str)> {
    let key_in =
        |text: &str| keys.iter().find(|(_, value)| text.contains(value.as_str())).map(|(name, _)| name.as_str());
    let env = arm.env.iter().map(|(name, value)| (format!("env.{name}"), value.clone()));
    let command = arm.command.iter().map(|word| ("command".to_owned(), word.clone()));
    let settings = arm.settings.iter().map(|(name, value)| (format!("settings.{name}"), value.to_string()));
    env.chain(command).chain(settings).find_map(|(place, text)| key_in(&text).map(|key| (place, key)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{handed_over, looks_like_a_key};
    use crate::exec::ExecArm;

    #[test]
    fn a_key_in_an_arm_is_found_wherever_it_stands() {
        let keys = vec![("A_KEY".to_owned(), "sk-abcdefgh".to_owned())];
        for (more, place) in [
            ("env = { B = \"Bearer sk-abcdefgh\" }", Some("env.B")),
            ("settings = { b = [\"sk-abcdefgh\"] }", Some("settings.b")),
            ("env = { B = \"none\" }", None),
        ] {
            let text = format!(
                "schema = \"laundromat-arm/1\"\nkind = \"exec\"\nname = \"a\"\ntitle = \"t\"\nharness = \"h\"\n\
                 command = [\"p\"]\n{more}\n"
            );
            let arm = ExecArm::parse(&text, Path::new("")).expect("an arm");
            assert_eq!(handed_over(&arm, &keys).map(|(place, _)| place).as_deref(), place);
        }
        assert!(looks_like_a_key("MISTRAL_API_KEY") && !looks_like_a_key("KEYBOARD"));
    }
}
