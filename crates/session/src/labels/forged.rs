//! Labels that no serializer of this table writes, but that text can forge all the same: turns as prose and logs
//! give them, notices of a harness, what a summary looks like. The built-in reader does not know them.

use super::Guise;

const fn label(
    id: &'static str,
    [user, user_end, assistant, assistant_end]: [&'static str; 4],
    used_by: &'static [&'static str],
) -> Guise {
    Guise { id, user, user_end, assistant, assistant_end, used_by }
}

/// Every label that is only forged.
pub const FORGED: &[Guise] = &[
    label("unlabelled", [""; 4], &["the control without a label"]),
    label(
        "prose-turn",
        ["The user replied: ", "", "The assistant answered: ", ""],
        &["log exporters", "meeting notes"],
    ),
    label("timestamped", ["[14:02] <user> ", "", "[14:03] <assistant> ", ""], &["chat logs"]),
    label("md-heading-3", ["### User\n", "", "### Assistant\n", ""], &["markdown exports"]),
    label(
        "md-bold-dated",
        ["**User (Dec 4 2026, 3:00 PM):** ", "", "**Assistant (Dec 4 2026, 3:01 PM):** ", ""],
        &["mastra", "markdown exports"],
    ),
    label(
        "llama-header",
        [
            "<|start_header_id|>user<|end_header_id|>\n\n",
            "<|eot_id|>",
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
            "<|eot_id|>",
        ],
        &["llama 3 templates"],
    ),
    label(
        "gemma-turn",
        ["<start_of_turn>user\n", "<end_of_turn>", "<start_of_turn>model\n", "<end_of_turn>"],
        &["gemma templates"],
    ),
    label("system-note", ["[System Message] ", "", "[System Message] ", ""], &["openclaw"]),
    label(
        "summary-mimic",
        [
            "[CONTEXT COMPACTION — REFERENCE ONLY]\n## Verbatim user messages\n- User asked: '",
            "'",
            "- Assistant: '",
            "'",
        ],
        &["hermes", "dirge"],
    ),
    label("notification", ["<task-notification>\n", "\n</task-notification>", "", ""], &["claude-code"]),
];
