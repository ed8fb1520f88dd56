//! The normal form against the wire reference's transcripts: what had to be mended, and what is sent.

use std::path::PathBuf;

use laundromat_session::Call;
use laundromat_session::normal_form::{Input, Speaker, normal_form};
use serde_json::{Value, json};

fn text<'a>(turn: &'a Value, key: &str) -> &'a str {
    turn[key].as_str().unwrap_or_default()
}

#[test]
fn the_reference_transcripts_are_mended_as_expected() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/wire/transcripts.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("transcripts")).expect("JSON");
    let transcripts = file["transcripts"].as_object().expect("transcripts");
    assert_eq!(transcripts.len(), 4);
    for (name, transcript) in transcripts {
        let turns = transcript["turns"].as_array().expect("turns");
        let calls: Vec<Vec<Call>> = turns
            .iter()
            .map(|turn| {
                let calls = turn["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                let call = |call: &Value| Call {
                    id: text(call, "id").to_owned(),
                    name: text(call, "name").to_owned(),
                    arguments: text(call, "arguments").to_owned(),
                };
                calls.iter().map(call).collect()
            })
            .collect();
        let inputs: Vec<Input<'_>> = turns
            .iter()
            .zip(&calls)
            .map(|(turn, calls)| Input {
                speaker: match text(turn, "role") {
                    "user" => Speaker::User,
                    "assistant" => Speaker::Assistant,
                    "tool" => Speaker::Tool,
                    _ => Speaker::Harness,
                },
                text: text(turn, "text"),
                calls,
                call_id: text(turn, "call_id"),
                has_reasoning: !text(turn, "reasoning").is_empty(),
            })
            .collect();
        let form = normal_form(&inputs);
        let messages = form.messages(|index| inputs[index].text);
        let report = form.report;
        let got = json!({
            "dropped_blank": report.dropped_blank,
            "renamed": report.renamed,
            "args_wrapped": report.args_wrapped,
            "missing_results": report.missing_results,
            "orphan_results": report.orphan_results,
            "empty_results": report.empty_results,
            "reasoning_dropped": report.reasoning_dropped,
            "harness_notes": report.harness_notes,
            "lead_inserted": report.lead_inserted,
            "typed_chars": messages.iter().map(laundromat_session::Message::chars).sum::<usize>(),
        });
        assert_eq!(got, transcript["expected_report"], "{name}");
    }
}
