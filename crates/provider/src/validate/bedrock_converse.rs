//! What Converse refuses.

use laundromat_session::normal_form::is_blank;
use serde_json::Value;

use super::json::{self, Fields};
use super::{Broken, names};

pub(super) fn check(body: &Fields) -> Result<(), Broken> {
    let Some(messages @ [first, ..]) = json::list(body, "messages") else {
        return Broken::err("messages_empty", "there are no messages");
    };
    if first["role"] != "user" {
        return Broken::err("first_user", "the first message is not the user's");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut has_tools = false;
    let mut before = "";
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == before {
            return Broken::err("alternation", format!("messages[{index}] is {role}'s as the one before"));
        }
        before = role;
        let Some(content @ [_, ..]) = message["content"].as_array().map(Vec::as_slice) else {
            return Broken::err("content_empty", format!("messages[{index}] has no content"));
        };
        let (used, answered) = blocks(index, content)?;
        has_tools |= !used.is_empty() || !answered.is_empty();
        if role == "user" {
            pairs(index, &open, &answered)?;
        }
        open = used;
    }
    if !open.is_empty() {
        return Broken::err("unanswered_call", format!("the results of {open:?} are missing"));
    }
    let declares = body.get("toolConfig").is_some_and(|it| it["tools"].as_array().is_some_and(|it| !it.is_empty()));
    if has_tools && !declares {
        return Broken::err("tool_config", "there are tool blocks and no toolConfig");
    }
    Ok(())
}

/// The ids of the calls and of the results among the blocks.
fn blocks(index: usize, content: &[Value]) -> Result<(Vec<&str>, Vec<&str>), Broken> {
    let (mut used, mut answered) = (Vec::new(), Vec::new());
    for block in content {
        if block.get("text").is_some_and(|text| text.as_str().is_none_or(is_blank)) {
            return Broken::err("text_blank", format!("messages[{index}] has a blank text"));
        }
        if let Some(call) = block.get("toolUse") {
            let (name, id) =
                (call["name"].as_str().unwrap_or_default(), call["toolUseId"].as_str().unwrap_or_default());
            if !names::is_plain(name) || name.len() > 64 {
                return Broken::err(
                    "tool_name",
                    format!("messages[{index}] has the tool name \"{}\"", name.escape_debug()),
                );
            }
            if !names::is_dotted(id) || id.len() > 64 {
                return Broken::err("tool_use_id", format!("messages[{index}] has a toolUse with a bad id"));
            }
            if !call["input"].is_object() {
                return Broken::err("tool_use_input", format!("messages[{index}] has an input that is no object"));
            }
            used.push(id);
        }
        if let Some(result) = block.get("toolResult") {
            answered.push(result["toolUseId"].as_str().unwrap_or_default());
        }
    }
    Ok((used, answered))
}

/// The results of a user message against the calls before it: the same ids, in any order.
fn pairs(index: usize, open: &[&str], answered: &[&str]) -> Result<(), Broken> {
    if let Some(id) = answered.iter().find(|id| !open.contains(id)) {
        return Broken::err(
            "orphan_tool_result",
            format!("messages[{index}]: {id:?} is no call of the message before"),
        );
    }
    let sorted = |ids: &[&str]| {
        let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        ids.sort_unstable();
        ids
    };
    if sorted(open) == sorted(answered) {
        Ok(())
    } else {
        Broken::err("unanswered_call", format!("messages[{index}] does not answer {open:?} once each"))
    }
}
