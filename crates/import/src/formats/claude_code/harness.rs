//! Texts that the harness puts into the user role. The harness writes them as blocks or lines of their
//! own, each opening with a fixed mark.

/// Marks at the start of a text, with the reason they stand for.
const MARKS: &[(&str, &str)] = &[
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<command-args>", "command"),
    ("<local-command-stdout>", "command_output"),
    ("<local-command-stderr>", "command_output"),
    ("<local-command-caveat>", "command"),
    ("<bash-input>", "shell"),
    ("<bash-stdout>", "shell_output"),
    ("<bash-stderr>", "shell_output"),
    ("<system-reminder>", "system_reminder"),
    ("<task-notification>", "task_notification"),
    ("<user-prompt-submit-hook>", "hook"),
    ("<ide_opened_file>", "ide_opened_file"),
    ("<ide_selection>", "ide_selection"),
    ("<ide_diagnostics>", "ide_diagnostics"),
    ("[Request interrupted", "interrupted"),
];

/// Why no person wrote `text`; `None` where a person may have.
pub(super) fn mark(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    MARKS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn only_the_start_counts() {
        assert_eq!(mark("<bash-input>ls</bash-input>"), Some("shell"));
        assert_eq!(mark("\n <ide_selection>The user selected"), Some("ide_selection"));
        assert_eq!(mark("What does <bash-input> mean?"), None);
        assert_eq!(mark(""), None);
    }
}
