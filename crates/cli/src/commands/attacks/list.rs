//! The lists: the attacks that come with laundromat, then each axis with its values.

use laundromat_injector::{Attack, Axis, presets};

use crate::terminal::{line, note};

pub(super) fn print() {
    for text in attacks().into_iter().chain(axes()) {
        line(&text);
    }
    note("label and place are classed for each arm: see `attacks show NAME --session FILE --arm ARM`");
}

fn attacks() -> Vec<String> {
    // Embedded attacks have no faults: a test reads each.
    let attacks: Vec<Attack> =
        presets::attack_names().into_iter().filter_map(|name| Attack::embedded(name).ok()).collect();
    let width = |of: fn(&Attack) -> &str| attacks.iter().map(|attack| of(attack).len()).max().unwrap_or_default();
    let (names, kinds) = (width(|attack| &attack.name), width(|attack| attack.kind.id()));
    let rows =
        attacks.iter().map(|attack| format!("{:<names$}  {:<kinds$}  {}", attack.name, attack.kind.id(), attack.title));
    [format!("{:<names$}  {:<kinds$}  title", "name", "kind")].into_iter().chain(rows).collect()
}

fn axes() -> Vec<String> {
    let mut out = Vec::new();
    for axis in Axis::ALL {
        out.push(String::new());
        let table = axis.table().map_or_else(String::new, |table| format!(", in [{table}]"));
        out.push(format!("{axis} (default {}{table})", axis.default_id()));
        let values = axis.values();
        let width = values.iter().map(|id| id.len()).max().unwrap_or_default();
        out.extend(values.iter().map(|id| format!("  {id:<width$}  {}", axis.about(id)).trim_end().to_owned()));
    }
    out
}

#[cfg(test)]
mod tests {
    use laundromat_injector::{Axis, presets};

    use super::{attacks, axes};

    #[test]
    fn every_attack_and_every_value_is_listed() {
        assert_eq!(attacks().len(), presets::attack_names().len() + 1);
        let values: usize = Axis::ALL.iter().map(|axis| axis.values().len() + 2).sum();
        assert_eq!(axes().len(), values);
        assert!(axes().iter().any(|line| line.starts_with("  bracket-upper") && line.contains("hermes")));
    }
}
