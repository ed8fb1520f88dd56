//! The styles themselves.

use super::Naming::{Neutral, Role};
use super::{Arguments, CallLines, CallPlace, Ends, LabelStyle, Naming};

/// A block of indented lines in the assistant's record.
const BLOCK: CallLines = CallLines {
    place: CallPlace::Inside,
    open: "\n[Tool calls:",
    open_alone: "\n[Tool calls:",
    each: "\n  {name}({arguments})",
    between: "",
    close: "\n]",
    arguments: Arguments::Recorded,
};

/// Entries of their own.
const fn apart(open: &'static str, each: &'static str, between: &'static str, arguments: Arguments) -> CallLines {
    CallLines { place: CallPlace::Apart, open, open_alone: open, each, between, close: "", arguments }
}

/// Behind the assistant's text, with `open` only where there is some.
const fn inside(open: &'static str, each: &'static str, between: &'static str) -> CallLines {
    CallLines {
        place: CallPlace::Inside,
        open,
        open_alone: "",
        each,
        between,
        close: "",
        arguments: Arguments::Recorded,
    }
}

/// A style with four labels and nothing else of its own.
const fn style(
    id: &'static str,
    naming: Naming,
    [user, assistant, tool, system]: [&'static str; 4],
    used_by: &'static [&'static str],
) -> LabelStyle {
    LabelStyle { id, naming, user, assistant, tool, system, ends: Ends::NONE, between: "\n\n", calls: BLOCK, used_by }
}

/// Every style known to laundromat.
pub const STYLES: &[LabelStyle] = &[
    style(
        "bracket-upper",
        Role,
        ["[USER]: ", "[ASSISTANT]: ", "[TOOL RESULT {id}]: ", "[SYSTEM]: "],
        &["hermes", "crewai"],
    ),
    LabelStyle {
        calls: apart("[Assistant tool calls]: ", "{name}({arguments})", "; ", Arguments::Pairs),
        ..style(
            "bracket-title",
            Role,
            ["[User]: ", "[Assistant]: ", "[Tool result]: ", "[System]: "],
            &["pi", "openclaw", "opencode"],
        )
    },
    style("bracket-lower", Role, ["[user]: ", "[assistant]: ", "[tool]: ", "[system]: "], &["goose", "letta"]),
    style("lower-colon", Role, ["user: ", "assistant: ", "tool: ", "system: "], &["mem0", "llama-index", "lightspeed"]),
    LabelStyle {
        between: "\n",
        calls: apart("", "Tool Call [{name}]: {arguments}", "\n", Arguments::Recorded),
        ..style(
            "title-colon",
            Role,
            ["User: ", "Assistant: ", "Tool [{name}]: ", "System: "],
            &["pydantic-ai-harness <= 0.58", "summarization-pydantic-ai"],
        )
    },
    style("human-colon", Role, ["Human: ", "AI: ", "Tool: ", "System: "], &["langchain"]),
    style("md-heading", Role, ["## User\n", "## Assistant\n", "## Tool\n", "## System\n"], &["zed"]),
    style("md-heading-upper", Role, ["# USER\n", "# ASSISTANT\n", "# TOOL\n", "# SYSTEM\n"], &["aider"]),
    style("md-bold", Role, ["**User:** ", "**Assistant:** ", "**Tool:** ", "**System:** "], &["mastra"]),
    LabelStyle {
        ends: Ends { user: "</user>", assistant: "</assistant>", tool: "</tool>", system: "</system>" },
        between: "\n",
        calls: inside("\n", "Used tool \"{name}\" with arguments: {arguments}", "\n"),
        ..style("xml-role", Role, ["<user>", "<assistant>", "<tool>", "<system>"], &["copilot"])
    },
    style(
        "chatml",
        Role,
        ["<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_start|>tool\n", "<|im_start|>system\n"],
        &["qwen templates"],
    ),
    style("numbered", Neutral, ["({n}) "; 4], &["laundromat"]),
    style("bare", Neutral, [""; 4], &["lossless-claw before #1026"]),
    LabelStyle {
        between: "\n",
        calls: inside("\n", "tool_request({name}): {arguments}", "\n"),
        ..style(
            "goose",
            Role,
            // A tool's answer lives in a user message there, and is labelled as one.
            ["[user]: ", "[assistant]: ", "[user]: tool_response: ", "[system]: "],
            &["goose"],
        )
    },
    LabelStyle {
        calls: apart("[Bot tool calls]: ", "{name}({arguments})", "; ", Arguments::Pairs),
        ..style("cline", Role, ["[User]: ", "[Bot]: ", "[Tool result]: ", "[System]: "], &["cline"])
    },
    LabelStyle {
        calls: inside("\n[Called tools: ", "{name}", ", ").alone("[Called tools: ").closed("]"),
        ..style("crewai", Role, ["[USER]: ", "[ASSISTANT]: ", "[TOOL_RESULT ({name})]: ", "[SYSTEM]: "], &["crewai"])
    },
    LabelStyle {
        calls: apart("[Assistant tool calls]: ", "{name}({arguments})", "; ", Arguments::Pairs),
        ..style(
            "bracket-sender",
            Role,
            ["[User sender={\"id\":\"user\"}]: ", "[Assistant]: ", "[Tool result]: ", "[System]: "],
            &["openclaw"],
        )
    },
    LabelStyle {
        between: "\n",
        calls: apart("", "CALL: {name}({arguments})", "\n", Arguments::Recorded),
        ..style(
            "bracket-turn",
            Role,
            [
                "[Turn {n}] [USER] [USER_PROMPT]: ",
                "[Turn {n}] [AGENT]: ",
                "[Turn {n}] [TOOL RESPONSE ({name})]: ",
                "[Turn {n}] [SYSTEM]: ",
            ],
            &["gemini-cli"],
        )
    },
    LabelStyle {
        between: "\n",
        calls: inside(" -> ", "{name}({arguments})", ", ").alone("-> "),
        ..style("bracket-bare", Role, ["[user] ", "[assistant] ", "[tool] ", "[system] "], &["letta"])
    },
    LabelStyle {
        between: "\n",
        ..style(
            "numbered-role",
            Role,
            ["{n}. [user] ", "{n}. [assistant] ", "{n}. [tool] ", "{n}. [system] "],
            &["agent-framework"],
        )
    },
    style(
        "index-role",
        Role,
        ["[{n}] user: ", "[{n}] assistant: ", "[{n}] toolResult: ", "[{n}] system: "],
        &["dirge"],
    ),
    style(
        "message-block",
        Role,
        [
            "## Message {n}\nRole: user\nContent:\n",
            "## Message {n}\nRole: assistant\nContent:\n",
            "## Message {n}\nRole: tool\nContent:\n",
            "## Message {n}\nRole: system\nContent:\n",
        ],
        &["kimi-cli"],
    ),
    LabelStyle {
        ends: Ends::all("</message>"),
        between: "\n",
        calls: inside("", "<tool_call id=\"{id}\" name=\"{name}\">{arguments}</tool_call>", ""),
        ..style(
            "xml-message-type",
            Role,
            [
                "<message type=\"human\">",
                "<message type=\"ai\">",
                "<message type=\"tool\">",
                "<message type=\"system\">",
            ],
            &["langchain 1.x", "deepagents"],
        )
    },
    LabelStyle {
        ends: Ends::all("\n</message>"),
        between: "\n",
        calls: apart(
            "",
            "<message role=\"tool_call\" name=\"{name}\">\n{arguments}\n</message>",
            "\n",
            Arguments::Recorded,
        ),
        ..style(
            "xml-message-role",
            Role,
            [
                "<message role=\"user\">\n",
                "<message role=\"assistant\">\n",
                "<message role=\"tool_return\" name=\"{name}\">\n",
                "<message role=\"system\">\n",
            ],
            &["pydantic-ai-harness >= 0.59"],
        )
    },
    LabelStyle {
        ends: Ends::all("\n</EVENT>"),
        between: "\n",
        calls: apart(
            "<EVENT>\nActionEvent (agent)\n  ",
            "Action: {name}({arguments})",
            "\n</EVENT>\n<EVENT>\nActionEvent (agent)\n  ",
            Arguments::Recorded,
        )
        .closed("\n</EVENT>"),
        ..style(
            "xml-event",
            Role,
            [
                "<EVENT>\nMessageEvent (user)\n  ",
                "<EVENT>\nMessageEvent (agent)\n  ",
                "<EVENT>\nObservationEvent (environment)\n  ",
                "<EVENT>\nSystemPromptEvent (agent)\n  ",
            ],
            &["openhands"],
        )
    },
    LabelStyle {
        between: "\n",
        calls: apart("", "assistant called tool: {name}({arguments})", "\n", Arguments::Python),
        ..style("adk", Role, ["user: ", "assistant: ", "Tool response from {name}: ", "system: "], &["adk >= 2.6"])
    },
    LabelStyle {
        between: "\\n",
        ..style("adk-2.0", Role, ["user: ", "assistant: ", "tool: ", "system: "], &["adk <= 2.0"])
    },
    LabelStyle {
        between: "\n",
        calls: inside("", "", ""),
        ..style("lightspeed", Role, ["user: ", "assistant: ", "tool: ", "system: "], &["lightspeed"])
    },
    LabelStyle {
        ends: Ends::all("')"),
        between: ", ",
        ..style(
            "repr",
            Role,
            ["HumanMessage(content='", "AIMessage(content='", "ToolMessage(content='", "SystemMessage(content='"],
            &["langchain 1.0"],
        )
    },
    style(
        "llama-inst",
        Role,
        ["[INST] ", "[/INST] ", "[TOOL_RESULTS] ", "<<SYS>>\n"],
        &["llama and mistral templates"],
    ),
    style(
        "harmony",
        Role,
        [
            "<|start|>user<|message|>",
            "<|start|>assistant<|channel|>final<|message|>",
            "<|start|>tool<|message|>",
            "<|start|>system<|message|>",
        ],
        &["gpt-oss templates"],
    ),
    LabelStyle {
        ends: Ends::all("\"}"),
        between: "\n",
        ..style(
            "json-role",
            Role,
            [
                "{\"role\": \"user\", \"content\": \"",
                "{\"role\": \"assistant\", \"content\": \"",
                "{\"role\": \"tool\", \"content\": \"",
                "{\"role\": \"system\", \"content\": \"",
            ],
            &["transcript files"],
        )
    },
    // Only the tool parts of these two are ever written: their turns go out in roles.
    LabelStyle {
        calls: CallLines { arguments: Arguments::Lines, ..inside("\n", "[Tool Use: {name}]\n{arguments}", "\n\n") },
        ..style("tool-block", Neutral, ["", "", "[Tool Result]\n", ""], &["roo-code"])
    },
    LabelStyle {
        calls: inside("", "", ""),
        ..style("tool-output", Neutral, ["", "", "Tool Output: ", ""], &["continue"])
    },
];

impl CallLines {
    const fn alone(self, open_alone: &'static str) -> Self {
        Self { open_alone, ..self }
    }

    const fn closed(self, close: &'static str) -> Self {
        Self { close, ..self }
    }
}
