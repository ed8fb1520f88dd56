//! What is wrong with an arm or prompt file is named with its key and a remedy.

use laundromat_compactor::arm::Arm;
use laundromat_compactor::presets;
use laundromat_compactor::prompt::Prompt;

/// The faults of the embedded arm `name` with `from` replaced by `to`, without their places.
fn faults(name: &str, from: &str, to: &str) -> Vec<String> {
    let text = presets::arm(name).expect("an arm");
    assert!(text.contains(from), "{from}");
    let told = Arm::parse(&text.replacen(from, to, 1)).err().unwrap_or_default();
    let told = told.iter().map(ToString::to_string);
    told.map(|told| told.splitn(3, ':').nth(2).expect("a place").trim().to_owned()).collect()
}

#[test]
fn axes_that_a_form_cannot_have_are_faults() {
    let cases = [
        (
            "pi",
            "\"system-user-tail\"",
            "\"system-tail\"",
            "instructions: this form cannot have them at \"system-tail\"; ",
        ),
        ("pi", "\"system-user-tail\"", "\"sytem\"", "instructions: unknown value \"sytem\"; did you mean \"system\"?"),
        ("pi", "open = \"<conversation>\\n\"", "open = \" \"", "wrapper.open: a blank side encloses nothing; "),
        (
            "hermes-typed",
            "window = ",
            "escape = \"xml\"\nwindow = ",
            "escape: this form has no use for escape; drop it",
        ),
        ("hermes-main", "window = ", "harness-rows = \"note\"\nwindow = ", "harness-rows: this form has no use for "),
        ("langchain-xml", "escape = \"xml\"\n", "", "escape: this form cannot do without escape; add escape"),
        ("pydantic-harness-0.62", "own-tags = [\"message\"", "own-tags = [\"<m>\"", "own-tags: not names of tags; "),
        ("pydantic-harness-0.62", "escape = \"own-tags\"", "escape = \"xml\"", "own-tags: nothing uses these tags; "),
        ("lossless-claw", "\"bare\"", "\"cline\"", "labels: \"cline\" says who spoke; write a style that does not"),
        ("crewai", "chunk = 100000", "chunk = 0", "staged.chunk: parts of 0 characters hold nothing; write at least 1"),
        ("crewai", "\"concatenate\"", "\"concat\"", "staged.merge: unknown value \"concat\"; "),
        (
            "pydantic-harness-clear",
            "\"[tool result cleared]\"",
            "\"\"",
            "clear.placeholder: a blank result is refused ",
        ),
        ("adk-2.0", "results = \"left-out\"", "results = \"none\"", "transcript.results: unknown value \"none\"; "),
        (
            "aider",
            "placement = \"user\"\n",
            "",
            "after.placement: the key \"placement\" is missing; add placement = ...",
        ),
        (
            "adk-2.13-token",
            "tail-messages = 2",
            "tail-mesages = 2",
            "keep.tail-messages: a tail has one size; write one ",
        ),
        (
            "adk-2.13-token",
            "tail-messages = 2",
            "tail-messages = 2\ntail-tokens = 9",
            "keep.tail-messages: a tail has one ",
        ),
        (
            "adk-2.13-token",
            "tail-messages = 2",
            "tail-messages = 2\nturn = \"person\"",
            "keep.turn: only a tail of turns ",
        ),
        (
            "adk-2.13-token",
            "[after]\nplacement = \"assistant\"\n",
            "",
            "after: what stays is known, and where the summary ",
        ),
        (
            "hermes-main",
            "accepts = [\"stop\"]",
            "accepts = [\"stopp\"]",
            "guard.accepts: unknown value \"stopp\"; did you mean ",
        ),
        ("hermes-main", "accepts = [\"stop\"]\n", "", "guard.accepts: the key \"accepts\" is missing; "),
        (
            "lightspeed-covers",
            "shield-covers = []",
            "shield-covers = [\"query\"]",
            "shield-covers: unknown value \"query\"; ",
        ),
        ("lightspeed-2026-08", "\"one-round\"", "\"once\"", "after.kept-turns: unknown value \"once\"; "),
    ];
    for (name, from, to, start) in cases {
        let told = faults(name, from, to);
        // A misspelt key is also told as an unknown one.
        let told: Vec<String> = told.into_iter().filter(|told| !told.contains(": unknown key ")).collect();
        assert_eq!(told.len(), 1, "{name} {to}: {told:#?}");
        assert!(told[0].starts_with(start), "{}", told[0]);
    }
}

#[test]
fn a_prompt_fills_the_holes_that_it_names() {
    let text = presets::prompt("adk").expect("a prompt");
    let parse =
        |text: &str| Prompt::parse(text).err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(parse(text).is_empty());
    let told = parse(&text.replace("holes = []", "holes = [\"date\", \"budgte\"]"));
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("holes: unknown hole \"budgte\"; did you mean \"budget\"?"), "{told:?}");
    assert!(told[1].contains("structure: the hole {date} is missing; "), "{told:?}");
}
