//! The tokens by which models tell turns apart, for each known family of templates.

use std::fmt;

/// Whose turn text is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The system's.
    System,
    /// The user's.
    User,
    /// The model's.
    Assistant,
    /// A tool's.
    Tool,
    /// One by another name.
    Other(String),
    /// Nobody's: outside any turn.
    Nobody,
}

impl Owner {
    /// The owner that templates call so, in any case; what stands behind the name, such as a channel, is none of it.
    fn by_name(name: &str) -> Self {
        let name = name.trim();
        let end = name.find("<|").unwrap_or(name.len());
        let word = name[..end].split_whitespace().next().unwrap_or_default().to_lowercase();
        match word.as_str() {
            "user" | "human" => Self::User,
            "assistant" | "model" | "gpt" => Self::Assistant,
            "system" | "developer" => Self::System,
            "tool" | "tools" | "ipython" | "function" | "observation" | "environment" | "tool_response" => Self::Tool,
            call if call.starts_with("functions.") => Self::Tool,
            _ => Self::Other(name.to_owned()),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::User => f.write_str("user"),
            Self::Assistant => f.write_str("assistant"),
            Self::Tool => f.write_str("tool"),
            Self::Other(name) => f.write_str(name),
            Self::Nobody => f.write_str("nobody"),
        }
    }
}

/// How one family of templates marks turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Stable identifier.
    pub id: &'static str,
    /// What opens a turn whose role is named behind it, and what ends that name.
    named: Option<(&'static str, &'static str)>,
    /// What opens a turn of a fixed role.
    fixed: &'static [(&'static str, Fixed)],
    /// What closes turns.
    closes: &'static [&'static str],
}

/// A role that a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fixed {
    System,
    User,
    Assistant,
    Tool,
}

impl From<Fixed> for Owner {
    fn from(fixed: Fixed) -> Self {
        match fixed {
            Fixed::System => Self::System,
            Fixed::User => Self::User,
            Fixed::Assistant => Self::Assistant,
            Fixed::Tool => Self::Tool,
        }
    }
}

/// Every family that is known.
pub const FAMILIES: &[Family] = &[
    Family { id: "chatml", named: Some(("<|im_start|>", "\n")), fixed: &[], closes: &["<|im_end|>"] },
    Family {
        id: "llama-3",
        named: Some(("<|start_header_id|>", "<|end_header_id|>")),
        fixed: &[],
        closes: &["<|eot_id|>", "<|eom_id|>"],
    },
    Family { id: "gemma", named: Some(("<start_of_turn>", "\n")), fixed: &[], closes: &["<end_of_turn>"] },
    Family { id: "harmony", named: Some(("<|start|>", "<|message|>")), fixed: &[], closes: &["<|end|>", "<|return|>"] },
    Family {
        id: "role-tokens",
        named: None,
        fixed: &[
            ("<|system|>", Fixed::System),
            ("<|user|>", Fixed::User),
            ("<|assistant|>", Fixed::Assistant),
            ("<|tool|>", Fixed::Tool),
            ("<|observation|>", Fixed::Tool),
        ],
        closes: &["<|end|>", "<|endoftext|>", "</s>"],
    },
    Family {
        id: "deepseek",
        named: None,
        fixed: &[
            ("<｜User｜>", Fixed::User),
            ("<｜Assistant｜>", Fixed::Assistant),
            ("<｜tool▁outputs▁begin｜>", Fixed::Tool),
        ],
        closes: &["<｜end▁of▁sentence｜>", "<｜tool▁outputs▁end｜>"],
    },
    Family {
        id: "mistral",
        named: None,
        fixed: &[
            ("[SYSTEM_PROMPT]", Fixed::System),
            ("[INST]", Fixed::User),
            ("[/INST]", Fixed::Assistant),
            ("[TOOL_RESULTS]", Fixed::Tool),
            ("[/TOOL_RESULTS]", Fixed::Assistant),
        ],
        closes: &["[/SYSTEM_PROMPT]", "</s>"],
    },
];

/// A turn token in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its first byte.
    pub at: usize,
    /// What it is, a name behind it included.
    pub text: String,
    /// Whose turn begins behind it.
    pub then: Owner,
}

impl Family {
    /// The family whose openers a rendered conversation holds; the one with the most.
    pub fn of(rendered: &str) -> Option<&'static Self> {
        let openers =
            |family: &Self| family.tokens(rendered).iter().filter(|token| token.then != Owner::Nobody).count();
        let known = FAMILIES.iter().map(|family| (openers(family), family)).filter(|(openers, _)| *openers > 0);
        // The first of equals, so that the order of the table decides.
        known.rev().max_by_key(|(openers, _)| *openers).map(|(_, family)| family)
    }

    /// The turn tokens in `text`, in order.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        if let Some((open, end)) = self.named {
            for (at, _) in text.match_indices(open) {
                let name = &text[at + open.len()..];
                // A name that runs on has no end in this text, or is none.
                let name = name.find(end).map_or(name, |end| &name[..end]);
                let name = if name.len() > NAME || name.contains('\n') { "" } else { name };
                tokens.push(Token { at, text: format!("{open}{name}"), then: Owner::by_name(name) });
            }
        }
        for (open, fixed) in self.fixed {
            tokens.extend(text.match_indices(open).map(|(at, open)| Token {
                at,
                text: open.to_owned(),
                then: (*fixed).into(),
            }));
        }
        for close in self.closes {
            tokens.extend(text.match_indices(close).map(|(at, close)| Token {
                at,
                text: close.to_owned(),
                then: Owner::Nobody,
            }));
        }
        tokens.sort_by_key(|token| token.at);
        tokens
    }
}

/// Longest name of a role.
const NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Family, Owner};

    #[test]
    fn families_are_told_by_their_openers() {
        let of = |text| Family::of(text).map(|family| family.id);
        assert_eq!(of("<|im_start|>user\nhi<|im_end|>\n"), Some("chatml"));
        assert_eq!(of("<s>[INST] hi [/INST]"), Some("mistral"));
        assert_eq!(of("<|user|>\nhi<|end|>\n<|assistant|>\n"), Some("role-tokens"));
        assert_eq!(of("USER: hi\nASSISTANT:"), None);
        // What only closes is no sign of a family.
        assert_eq!(of("hi</s>"), None);
    }

    #[test]
    fn names_behind_openers_end_where_they_should() {
        let chatml = Family::of("<|im_start|>user\n").expect("a family");
        let owners = |text| chatml.tokens(text).into_iter().map(|token| token.then).collect::<Vec<_>>();
        assert_eq!(owners("<|im_end|>\n<|im_start|>user\nyes"), [Owner::Nobody, Owner::User]);
        assert_eq!(owners("<|im_start|>judge\n"), [Owner::Other("judge".to_owned())]);
        assert_eq!(owners("<|im_start|>user"), [Owner::User]);
        assert_eq!(owners("<|im_start|> User\n<|im_start|>human\n"), [Owner::User, Owner::User]);
        let harmony = Family::of("<|start|>user<|message|>").expect("a family");
        let text =
            "<|start|>assistant<|channel|>final<|message|>a<|start|>functions.read to=assistant<|channel|>x<|message|>";
        let owners: Vec<Owner> = harmony.tokens(text).into_iter().map(|token| token.then).collect();
        assert_eq!(owners, [Owner::Assistant, Owner::Tool]);
    }
}
