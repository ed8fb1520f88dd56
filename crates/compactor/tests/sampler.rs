//! The sampler against a second writing of its rules: over real strings, slow and plain.

use laundromat_compactor::arm::Arm;
use laundromat_compactor::{Compactor, presets};
use laundromat_session::{Call, Role, Session, Turn};
use proptest::prelude::*;

const LIMIT: usize = 160_000;

/// The records as text, capped one by one.
fn records(session: &Session) -> Vec<String> {
    let capped = |text: &str| {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() <= 6000 {
            return text.to_owned();
        }
        let (head, tail): (String, String) =
            (chars[..4000].iter().collect(), chars[chars.len() - 1500..].iter().collect());
        format!(
            "{head}⟪HERMES-CONTEXT-COMPRESSION: {} of {} chars omitted here by Hermes's context compressor.⟫{tail}",
            grouped(chars.len() - 5500),
            grouped(chars.len())
        )
    };
    let record = |turn: &Turn| match turn.role {
        Role::Tool => {
            format!("[TOOL RESULT {}]: {}", turn.call_id.as_deref().unwrap_or_default(), capped(&turn.text()))
        }
        Role::User => format!("[USER]: {}", capped(&turn.text())),
        _ => {
            let mut text = format!("[ASSISTANT]: {}", capped(&turn.text()));
            let lines: Vec<String> =
                turn.calls.iter().map(|call| format!("  {}({})", call.name, call.arguments)).collect();
            if !lines.is_empty() {
                text.push_str(&format!("\n[Tool calls:\n{}\n]", lines.join("\n")));
            }
            text
        }
    };
    session.turns.iter().map(record).collect()
}

fn grouped(n: usize) -> String {
    let digits: Vec<char> = n.to_string().chars().rev().collect();
    let groups: Vec<String> = digits.chunks(3).map(|group| group.iter().rev().collect()).collect();
    groups.into_iter().rev().collect::<Vec<_>>().join(",")
}

fn marker(first: usize, last: usize, chars: usize) -> String {
    format!("\n\n...[records {first}-{last}: {} chars elided — recover via session_search]...\n\n", grouped(chars))
}

/// Which records are kept, as inclusive runs.
fn reference(records: &[String]) -> Vec<(usize, usize)> {
    let sizes: Vec<usize> = records.iter().map(|record| record.chars().count()).collect();
    let count = sizes.len();
    let joined = |a: usize, b: usize| sizes[a..=b].iter().sum::<usize>() + 2 * (b - a);
    if joined(0, count - 1) <= LIMIT {
        return vec![(0, count - 1)];
    }
    let slices = count.min(8);
    let target = (LIMIT - (slices - 1) * marker(count, count, joined(0, count - 1)).chars().count()) / slices;
    assert!(sizes.iter().all(|size| *size <= target), "this reference does not shorten records");
    let merge = |mut runs: Vec<(usize, usize)>| {
        runs.sort_unstable();
        let mut out: Vec<(usize, usize)> = Vec::new();
        for (a, b) in runs {
            match out.last_mut() {
                Some(before) if a <= before.1 + 1 => before.1 = before.1.max(b),
                _ => out.push((a, b)),
            }
        }
        out
    };
    let rendered = |runs: &[(usize, usize)]| {
        let mut chars = 0;
        for (place, (a, b)) in runs.iter().enumerate() {
            if place > 0 {
                let from = runs[place - 1].1 + 1;
                chars += marker(from + 1, *a, joined(from, a - 1) + 4).chars().count();
            }
            chars += joined(*a, *b);
        }
        chars
    };
    let mut runs = Vec::new();
    for slice in 0..slices - 1 {
        let exact = slice as f64 * count as f64 / slices as f64;
        let first = (exact.round_ties_even() as usize).min(count - 1);
        let mut last = first;
        while last + 1 < count && joined(first, last + 1) <= target {
            last += 1;
        }
        runs.push((first, last));
    }
    let mut first = count - 1;
    while first > 0 && joined(first - 1, count - 1) <= target {
        first -= 1;
    }
    runs.push((first, count - 1));
    runs = merge(runs);
    loop {
        let mut grown = false;
        for place in (0..runs.len()).rev() {
            if place >= runs.len() {
                continue;
            }
            let mut tried = runs.clone();
            if place + 1 == runs.len() {
                if place == 0 || runs[place].0 == runs[place - 1].1 + 1 {
                    continue;
                }
                tried[place].0 -= 1;
            } else {
                tried[place].1 += 1;
            }
            let tried = merge(tried);
            if rendered(&tried) <= LIMIT {
                runs = tried;
                grown = true;
            }
        }
        if !grown {
            return runs;
        }
    }
}

fn expected(records: &[String]) -> String {
    let runs = reference(records);
    let mut text = String::new();
    for (place, (a, b)) in runs.iter().enumerate() {
        if place > 0 {
            let from = runs[place - 1].1 + 1;
            let skipped: usize = records[from..*a].iter().map(|record| record.chars().count() + 2).sum();
            text.push_str(&marker(from + 1, *a, skipped + 2));
        }
        text.push_str(&records[*a..=*b].join("\n\n"));
    }
    text
}

fn sessions() -> impl Strategy<Value = Session> {
    let turn = prop_oneof![
        (1usize..9000, "[a-zäß]").prop_map(|(n, c)| Turn::text_of(Role::User, c.repeat(n))),
        (1usize..9000, "c[0-9]{1,9}")
            .prop_map(|(n, id)| Turn { call_id: Some(id), ..Turn::text_of(Role::Tool, "o".repeat(n)) }),
        (0usize..2000, 1usize..4).prop_map(|(n, calls)| {
            let call = |k| Call {
                id: format!("c{k}"),
                name: "terminal".to_owned(),
                arguments: "{\"command\": \"ls\"}".to_owned(),
            };
            Turn { calls: (0..calls).map(call).collect(), ..Turn::text_of(Role::Assistant, "a".repeat(n)) }
        }),
    ];
    prop::collection::vec(turn, 20..120).prop_map(|turns| Session {
        id: "generated".to_owned(),
        title: None,
        origin: None,
        turns,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_flattened_block_is_the_reference_s(session in sessions()) {
        let compactor = Compactor::new(Arm::parse(presets::arm("hermes-split").expect("a preset")).expect("no faults")).expect("no faults");
        let request = compactor.request(&session, "2026-03-04").expect("a request");
        let block = request.messages[1].text.strip_prefix("TURNS TO SUMMARIZE:\n").expect("turns");
        prop_assert!(block == expected(&records(&session)), "the block differs from the reference");
    }
}
