//! Each preset breaks what it declares, and nothing else.

use laundromat_compactor::probes::control_markers::{Carrier, reaches};
use laundromat_compactor::probes::redaction_leak::{self, Again};
use laundromat_compactor::probes::{Probe, Verdict, session};
use laundromat_compactor::shield::Shield;
use laundromat_compactor::{Arm, Compactor, presets};

fn compactor(name: &str) -> Compactor {
    Compactor::new(Arm::parse(presets::arm(name).expect("a preset")).expect("no faults")).expect("no faults")
}

#[test]
fn presets_break_exactly_what_they_declare() {
    let mut wrong = Vec::new();
    for name in presets::arm_names() {
        let compactor = compactor(name);
        let findings: Vec<_> = Probe::ALL.iter().map(|probe| probe.run(&compactor, &session())).collect();
        for finding in &findings {
            let Some(invariant) = finding.probe.invariant() else { continue };
            // Two probes can be about one invariant, and either may show it.
            let alike = findings.iter().filter(|other| other.probe.invariant() == Some(invariant));
            let breaks = alike.clone().any(|other| other.verdict == Verdict::Breaks);
            if breaks != compactor.arm().faults.contains(&invariant) {
                wrong.push(format!("{name} {} {}: {}", invariant.id(), finding.verdict.id(), finding.detail));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn finding(probe: Probe, name: &str) -> (Verdict, String) {
    let finding = probe.run(&compactor(name), &session());
    (finding.verdict, finding.detail)
}

#[test]
fn an_unfinished_summary_replaces_an_early_fact_where_it_was_seen_to() {
    for name in ["adk-2.0", "adk-2.13-sliding", "adk-2.13-token"] {
        let (verdict, detail) = finding(Probe::IncompleteSummary, name);
        assert_eq!(verdict, Verdict::Breaks);
        assert!(
            detail.starts_with("accepts length, content-filter") && detail.ends_with("an early fact is gone"),
            "{detail}"
        );
    }
    assert_eq!(finding(Probe::IncompleteSummary, "adk-2.13-token-guarded").0, Verdict::Holds);
    // The first user message stays there, and the fact with it.
    assert!(finding(Probe::IncompleteSummary, "pydantic-harness-0.62").1.ends_with("an early fact stays"));
    assert_eq!(finding(Probe::IncompleteSummary, "pi").0, Verdict::NotKnown);
}

#[test]
fn the_request_is_lost_from_where_it_was_seen_to_be() {
    let told = |name| finding(Probe::CurrentRequest, name).1;
    assert_eq!(told("pydantic-harness-0.30-users"), "lost from 5 earlier turns on");
    assert_eq!(told("adk-2.13-token"), "lost from 1 calls of a tool loop on");
    for name in ["pydantic-harness-0.62-users", "adk-2.13-sliding", "lightspeed-2026-08", "hermes-main", "codex-local"]
    {
        assert_eq!(finding(Probe::CurrentRequest, name).0, Verdict::Holds, "{name}: {}", told(name));
    }
}

#[test]
fn forged_marks_reach_the_summarizer_from_the_carriers_that_were_seen() {
    let told = |name| finding(Probe::ControlMarkers, name).1;
    let assistant = "user label from assistant text";
    let (summary, thought) = ("user label from an earlier summary", "user label from a thought");
    for name in ["adk-2.0", "gemini-delta"] {
        assert_eq!(told(name), format!("{assistant}, {summary}"), "{name}");
    }
    // In the sliding pair summaries are not summarized again; in the token pair each one is.
    assert_eq!(told("adk-2.13-sliding"), format!("{assistant}, {thought}"));
    assert_eq!(told("adk-2.13-token"), format!("{assistant}, {summary}, {thought}"));
    // An answer that begins with the sentinel is taken for a summary; with a count it hides later turns too.
    let sentinel = "summary mark from assistant text";
    assert_eq!(told("lightspeed-2026-08"), format!("{assistant}, {sentinel}"));
    assert_eq!(
        told("lightspeed-covers"),
        format!("{assistant}, {sentinel}, count of covered turns from assistant text")
    );
    assert_eq!(told("gemini-typed"), format!("summary mark from a tool result, {sentinel}"));
    let tail = "user label of the kept tail";
    assert!(told("opencode").ends_with(&format!("{tail} from a tool result, {tail} from assistant text")));
    // The block of the earlier summary is raw in 0.30 and escaped in 0.62.
    assert!(told("pydantic-harness-0.30").ends_with("end of the earlier summary from an earlier summary"));
    assert!(
        told("pydantic-harness-0.30").starts_with("user label from a tool result, closing mark from a tool result")
    );
    for name in ["pydantic-harness-0.62", "langchain-xml"] {
        assert_eq!(told(name), "none can be forged", "{name}");
    }
    let raw = |name: &str, text: &str| reaches(&compactor(name), Carrier::Tool, text);
    for text in ["\n[USER]:", "\nUser:", "</message>\n<message role=\"user\">", "</messages>", "<previous-summary>"] {
        assert!(raw("pydantic-harness-0.30", text), "{text}");
        assert_eq!(raw("pydantic-harness-0.62", text), !text.contains('<'), "{text}");
    }
}

#[test]
fn caps_hide_what_stands_behind_them() {
    let told = |name| finding(Probe::Exposure, name).1;
    for name in ["pydantic-harness-0.30", "pydantic-harness-0.62"] {
        assert_eq!(told(name), "0: full, 520: none, 2100: none, 6000: none, 12000: none");
    }
    assert_eq!(told("adk-2.13-token"), "0: full, 520: full, 2100: none, 6000: none, 12000: none");
    assert_eq!(told("hermes-main"), "0: full, 520: full, 2100: full, 6000: none, 12000: full");
    assert_eq!(told("lightspeed-covers"), "0: none, 520: none, 2100: none, 6000: none, 12000: none");
}

#[test]
fn summaries_gain_the_roles_that_were_seen() {
    let told = |name| finding(Probe::RoleGain, name);
    assert_eq!(told("pydantic-harness-0.30"), (Verdict::Breaks, "tool -> system".to_owned()));
    assert_eq!(told("pydantic-harness-0.62"), (Verdict::Holds, "tool -> user, in a frame".to_owned()));
    assert_eq!(told("adk-2.0").1, "tool -> user");
    assert_eq!(told("adk-2.13-sliding").1, "tool -> assistant");
}

#[test]
fn secrets_leak_where_the_table_of_the_shield_says() {
    let told = |name| finding(Probe::RedactionLeak, name).1;
    assert_eq!(
        told("lightspeed-covers"),
        "user text raw to the summarizer, assistant text raw to the summarizer, a summary raw to the model"
    );
    assert_eq!(told("lightspeed-shielded"), "assistant text raw to the summarizer");
    assert_eq!(finding(Probe::RedactionLeak, "hermes-main").0, Verdict::Holds);
    // Over three rounds the same carriers leak, and a summary behind the shield stays covered.
    let rounds = |name| redaction_leak::probe(&compactor(name)).0.expect("a shield").rounds;
    assert_eq!(rounds("lightspeed-shielded"), vec![vec![redaction_leak::Carrier::Assistant]; 3]);
    assert_eq!(rounds("hermes-main"), vec![Vec::new(); 3]);
    let raw =
        Arm::parse(&presets::arm("hermes-main").expect("an arm").replace(", \"summary\"]", "]")).expect("no faults");
    let rounds = redaction_leak::probe(&Compactor::new(raw).expect("no faults")).0.expect("a shield").rounds;
    assert_eq!(rounds, [vec![], vec![redaction_leak::Carrier::Summary], vec![redaction_leak::Carrier::Summary]]);
}

#[test]
fn a_replacement_that_is_longer_than_what_it_covers_overflows() {
    // 600 of 2000 tokens, four turns of 60 addresses with eight characters each.
    let arm = presets::arm("lightspeed-shielded").expect("an arm").replace("most-tokens = 38400", "most-tokens = 600");
    let arm = arm.replace("by = \"pieces\"", "by = \"chars-4\"");
    let shield = presets::shield("email").expect("a shield");
    let sizes = |arm: &str, with: &str| {
        let shield = Shield::parse(&shield.replace("[EMAIL]", with)).expect("no faults");
        let arm = Compactor::new(Arm::parse(arm).expect("no faults")).expect("no faults");
        let compactor = Compactor::assemble(arm.arm().clone(), arm.prompt().clone(), Some(shield));
        let leaks = redaction_leak::probe(&compactor).0.expect("a shield");
        let sizes = leaks.sizes.expect("a budget");
        (sizes.stored, sizes.sent, leaks.overflows())
    };
    let longest = "[an address that a shield of ours took away]";
    assert_eq!(longest.len(), 44);
    assert_eq!(sizes(&arm, "[EMAIL]"), (540, 480, false));
    assert_eq!(sizes(&arm, "[REDACTED_EMAIL]"), (540, 1020, true));
    assert_eq!(sizes(&arm, longest), (540, 2700, true));
    // Sized as it is sent, the tail takes in fewer turns.
    let sized = arm.replace("as-stored", "as-sent");
    assert_eq!(sizes(&sized, "[REDACTED_EMAIL]"), (270, 510, false));
    // A replacement that a rule matches again grows at each replay.
    let shield = Shield::parse(&shield.replace("[EMAIL]", "see <x@y> now")).expect("no faults");
    let arm = compactor("lightspeed-shielded");
    let growing = Compactor::assemble(arm.arm().clone(), arm.prompt().clone(), Some(shield));
    assert_eq!(redaction_leak::probe(&growing).0.expect("a shield").again, Again::Grows);
}

#[test]
fn a_template_that_sends_no_turns_is_noticed() {
    let arm = compactor("pydantic-harness-0.30");
    let mut prompt = arm.prompt().clone();
    prompt.preamble.push_str(" {budget}");
    let holed = Compactor::assemble(arm.arm().clone(), prompt, None);
    let finding = Probe::PromptHole.run(&holed, &session());
    assert_eq!((finding.verdict, finding.detail.as_str()), (Verdict::Breaks, "not filled: {budget}"));
    assert!(finding.is_undeclared(&holed));
}
