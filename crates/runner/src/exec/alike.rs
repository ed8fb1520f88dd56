//! Arms of one harness are versions of it: whatever differs between them beside the declared variable
//! would be measured with it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::arm::{Differences, ExecArm, Place};

/// The first pair of arms of one harness that differs in more than it declares, in words.
pub(crate) fn unlike(arms: &[&ExecArm]) -> Option<(String, String)> {
    let pairs = arms.iter().enumerate().flat_map(|(at, a)| arms[at + 1..].iter().map(move |b| (*a, *b)));
    for (a, b) in pairs.filter(|(a, b)| a.harness == b.harness) {
        if a.differences == Differences::Allow || b.differences == Differences::Allow {
            continue;
        }
        let differing = differing(a, b);
        if !differing.is_empty() {
            let names = format!("\"{}\" and \"{}\"", a.name, b.name);
            let problem = format!(
                "{names} are both of the harness \"{}\" and differ in more than a declared variable: {}",
                a.harness.escape_debug(),
                differing.join(", ")
            );
            return Some((b.name.clone(), problem));
        }
    }
    None
}

/// Names of what differs while the variable's value is still a hole.
fn differing(a: &ExecArm, b: &ExecArm) -> Vec<String> {
    let (ours, theirs) = (fields(a), fields(b));
    let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name)).cloned().collect()
}

fn fields(arm: &ExecArm) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("command", Value::from(arm.command.clone()));
    match &arm.place {
        Place::Folder(folder) => put("cwd", Value::from(folder.to_string_lossy())),
        Place::Git { repository, reference } => {
            put("git.repository", Value::from(repository.to_string_lossy()));
            put("git.ref", Value::from(reference.as_str()))
        }
    };
    put("timeout-seconds", Value::from(arm.timeout.as_secs()));
    put("most-calls", Value::from(arm.most_calls));
    put("variable.name", arm.variable.as_ref().map_or(Value::Null, |variable| Value::from(variable.name.as_str())));
    for (name, value) in &arm.env {
        put(&format!("env.{name}"), Value::from(value.as_str()));
    }
    for (name, value) in &arm.settings {
        put(&format!("settings.{name}"), value.clone());
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::unlike;
    use crate::exec::ExecArm;

    fn arm(name: &str, value: &str, more: &str) -> ExecArm {
        let text = format!(
            "schema = \"laundromat-arm/1\"\nkind = \"exec\"\nname = \"{name}\"\ntitle = \"t\"\nharness = \"h\"\n\
             command = [\"py-{{variable}}\", \"d.py\"]\n{more}\n[variable]\nname = \"version\"\nvalue = \"{value}\"\n"
        );
        ExecArm::parse(&text, Path::new("")).expect("an arm")
    }

    #[test]
    fn only_the_variable_may_differ_unless_told() {
        let one = arm("one", "1", "");
        assert_eq!(unlike(&[&one, &arm("two", "2", "")]), None);
        let other = arm("two", "2", "timeout-seconds = 9\nenv = { A = \"x\" }\nsettings = { keep = 2 }");
        let (name, problem) = unlike(&[&one, &other]).expect("unlike");
        assert_eq!(name, "two");
        assert!(problem.ends_with("declared variable: env.A, settings.keep, timeout-seconds"), "{problem}");
        let told = arm("two", "2", "cwd = \"elsewhere\"\nallow-differences = true");
        assert_eq!(unlike(&[&one, &told]), None);
        let elsewhere = ExecArm { harness: "g".to_owned(), ..other };
        assert_eq!(unlike(&[&one, &elsewhere]), None, "two harnesses are not versions of each other");
    }
}
