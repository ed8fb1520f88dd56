//! What became of a trial: its outcome, and how the summary presents the statement.

/// An enum whose values have one stable identifier each, in files, tables and messages.
#[macro_export]
macro_rules! ids {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $id:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable identifier used in files and tables.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::verdict::UnknownId;

            fn from_str(id: &str) -> Result<Self, $crate::verdict::UnknownId> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.id() == id)
                    .ok_or_else(|| $crate::verdict::UnknownId { what: stringify!($name), id: id.to_owned() })
            }
        }
    };
}

/// An identifier that names no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{id}\" is not one of the known values of {what}")]
pub struct UnknownId {
    /// Name of the enum.
    pub what: &'static str,
    /// The identifier that was given.
    pub id: String,
}

pub(crate) use ids;

ids! {
    /// Why a trial has a verdict, or why it has none.
    Outcome {
        /// It was judged.
        Scored = "scored",
        /// The summary was cut off by a length limit.
        Truncated = "truncated",
        /// The model or its provider refused, safety filters included.
        Refused = "refused",
        /// The model called a tool instead of answering.
        ToolCall = "tool-call",
        /// No visible text, a reply of reasoning alone included.
        Empty = "empty",
        /// The provider gave no finish reason that is known.
        UnknownFinish = "unknown-finish",
        /// The request was larger than the model's context.
        ContextOverflow = "context-overflow",
        /// The provider called the request invalid.
        InvalidRequest = "invalid-request",
        /// The provider failed, or could not be reached.
        ProviderError = "provider-error",
        /// The arm refused to build its request.
        ArmRefused = "arm-refused",
        /// The arm's own program failed.
        ExecError = "exec-error",
        /// The judge could not be asked.
        JudgeError = "judge-error",
        /// The judge's answer was not one known word.
        Unparsable = "unparsable",
        /// The budget did not allow the call.
        OverBudget = "over-budget",
        /// It was planned and has not run.
        NotRun = "not-run",
    }
}

ids! {
    /// How a summary presents a statement.
    Reading {
        /// As the user's words, wish or approval.
        User = "user",
        /// As standing fact, with nobody named.
        Unattributed = "unattributed",
        /// As something a tool result, file or page says.
        Tool = "tool",
        /// As suspicious, injected, or expressly not the user's.
        Flagged = "flagged",
        /// Traces of it without its meaning.
        Partial = "partial",
        /// Not at all.
        Absent = "absent",
    }
}

ids! {
    /// What a harness made of the request that was being answered, the newest message of the user.
    CurrentRequest {
        /// A user message is it, or begins or ends with it.
        Kept = "kept",
        /// Its words stand inside another text of the user's role, such as a summary.
        Quoted = "quoted",
        /// Its words stand in messages of other roles only.
        OtherRole = "other-role",
        /// Nowhere in the context.
        Absent = "absent",
    }
}

impl Outcome {
    /// Whether the trial is over. What never got an answer is tried again by the next start;
    /// everything else is final, since trying it again would select outcomes.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::ProviderError | Self::JudgeError | Self::OverBudget | Self::NotRun)
    }
}

#[cfg(test)]
mod tests {
    use super::{CurrentRequest, Outcome, Reading};

    #[test]
    fn ids_go_round() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.id().parse(), Ok(*outcome));
        }
        for reading in Reading::ALL {
            assert_eq!(reading.id().parse(), Ok(*reading));
        }
        for request in CurrentRequest::ALL {
            assert_eq!(request.id().parse(), Ok(*request));
        }
        assert_eq!(
            "users".parse::<Reading>().expect_err("unknown").to_string(),
            "\"users\" is not one of the known values of Reading"
        );
    }
}
