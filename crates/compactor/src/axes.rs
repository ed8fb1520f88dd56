//! The axes of an arm beside its form: where instructions stand, what a transcript shows, how it is
//! escaped and enclosed, and where the summary goes afterwards. Each is data in the arm file.

use laundromat_session::fields::{Document, Fields};

/// Declares a closed choice with one identifier each.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $id:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The identifier used in arm files and tables.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The value with this identifier.
            pub fn by_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.id() == id)
            }

            /// Takes an optional key; an unknown identifier is a fault.
            #[allow(dead_code, reason = "one macro declares choices that are required and optional ones")]
            pub(crate) fn optional<'i>(
                document: &mut laundromat_session::fields::Document<'i>,
                fields: &mut laundromat_session::fields::Fields<'i>,
                key: &'static str,
            ) -> Option<Self> {
                let (id, span) = fields.optional_at::<String>(document, key)?;
                let found = Self::by_id(&id);
                if found.is_none() {
                    let known: Vec<&str> = Self::ALL.iter().map(|value| value.id()).collect();
                    document.fault(&span, &fields.path_of(key), format!("unknown value \"{id}\""), laundromat_session::fault::choose_remedy(&id, &known));
                }
                found
            }

            /// Takes an optional list of them; an unknown identifier is a fault.
            #[allow(dead_code, reason = "one macro declares choices of one and of several")]
            pub(crate) fn listed<'i>(
                document: &mut laundromat_session::fields::Document<'i>,
                fields: &mut laundromat_session::fields::Fields<'i>,
                key: &'static str,
            ) -> Option<Vec<Self>> {
                let (ids, span) = fields.optional_at::<Vec<String>>(document, key)?;
                let mut found = Vec::new();
                for id in ids {
                    match Self::by_id(&id) {
                        Some(value) => found.push(value),
                        None => {
                            let known: Vec<&str> = Self::ALL.iter().map(|value| value.id()).collect();
                            let remedy = laundromat_session::fault::choose_remedy(&id, &known);
                            document.fault(&span, &fields.path_of(key), format!("unknown value \"{id}\""), remedy);
                        }
                    }
                }
                Some(found)
            }
        }
    };
}
pub(crate) use choice;

choice! {
    /// Where the instructions stand. Which places a form has says [`crate::forms::Traits::places`].
    Instructions {
        /// Preamble and task before the turns, structure behind them, in the message that holds them.
        Around = "around",
        /// All before the turns, in one user message.
        UserHead = "user-head",
        /// All behind the turns, in the last user message; no system message.
        UserTail = "user-tail",
        /// All in a system message in front.
        System = "system",
        /// The preamble in a system message in front, the rest in the user message before the turns.
        SystemUserHead = "system-user-head",
        /// The preamble in a system message in front, the rest behind the turns in the last user message.
        SystemUserTail = "system-user-tail",
        /// All in a system message behind the turns.
        SystemTail = "system-tail",
    }
}

choice! {
    /// What of the tool results a transcript shows.
    Results {
        /// Their text.
        Shown = "shown",
        /// The name of their content's type, as harnesses print that only look for text.
        TypeName = "type-name",
        /// Nothing.
        LeftOut = "left-out",
    }
}

choice! {
    /// Whether a transcript shows something at all.
    Presence {
        /// It does.
        Shown = "shown",
        /// It does not.
        LeftOut = "left-out",
    }
}

choice! {
    /// How session text is kept from acting as markup.
    EscapeKind {
        /// `&`, `<`, `>` and, in attributes, `"`.
        Xml = "xml",
        /// The `<` of tags that the harness itself writes, in any case and spacing.
        OwnTags = "own-tags",
    }
}

choice! {
    /// The message that a summary comes back as.
    Placement {
        /// A user message.
        User = "user",
        /// A user message in a frame that says where the text is from.
        FramedUser = "framed-user",
        /// A user message with the kept turns flattened behind the summary.
        UserWithFlatTail = "user-with-flat-tail",
        /// An assistant message.
        Assistant = "assistant",
        /// A system message.
        System = "system",
        /// The result of a recap call.
        ToolRecap = "tool-recap",
    }
}

choice! {
    /// What of the compacted turns stays beside the summary, word for word.
    Verbatim {
        /// Nothing.
        Nothing = "nothing",
        /// The first genuine user turn.
        FirstUser = "first-user",
        /// The newest genuine user turn.
        LastUser = "last-user",
        /// Every genuine user turn.
        UserTurns = "user-turns",
    }
}

choice! {
    /// What forms with roles make of user turns that no person wrote. Flattened forms label every turn
    /// by its recorded role.
    HarnessRows {
        /// Assistant text behind a mark.
        Note = "note",
        /// User messages, as they were recorded: most harnesses cannot tell them from a person's.
        Recorded = "recorded",
    }
}

choice! {
    /// How the next compaction is given the summary of the one before.
    Previous {
        /// In a block of its own, by the prompt's `previous` part.
        Slot = "slot",
        /// As the turn that the harness made of it: the session holds it already.
        Turn = "turn",
    }
}

choice! {
    /// What becomes of partial summaries.
    Merge {
        /// One more call summarizes them, each as a user turn.
        Summarize = "summarize",
        /// They are joined.
        Concatenate = "concatenate",
    }
}

choice! {
    /// Where copies of user turns stand.
    VerbatimPlace {
        /// In front of the summary.
        Before = "before",
        /// Behind it.
        Behind = "behind",
    }
}

choice! {
    /// How long kept turns stay.
    KeptTurns {
        /// Until a later compaction summarizes them.
        Stay = "stay",
        /// For one round: the next one starts behind them, and no summary holds them.
        OneRound = "one-round",
    }
}

choice! {
    /// What a harness adds to a summary by code: no model writes it.
    Section {
        /// The newest request of the summarized turns, in place of what the model wrote under that heading.
        TaskSnapshot = "task-snapshot",
        /// Identifiers found in all summarized turns, tool results included.
        Anchors = "anchors",
        /// What persons said, word for word.
        UserMessages = "user-messages",
        /// Where the turns can be found.
        Recovery = "recovery",
    }
}

/// What a transcript shows of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Tool results.
    pub results: Results,
    /// Calls.
    pub calls: Presence,
    /// System turns.
    pub system: Presence,
}

/// How recorded thoughts of the assistant's stand in a transcript: an entry each, before what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thoughts {
    /// What opens one.
    pub label: String,
    /// Characters of one.
    pub most: Option<usize>,
}

impl Default for Shown {
    fn default() -> Self {
        Self { results: Results::Shown, calls: Presence::Shown, system: Presence::Shown }
    }
}

/// How session text in a transcript is escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Escape {
    /// All markup.
    Xml,
    /// These tags only.
    OwnTags(Vec<String>),
}

/// What encloses a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// What stands before it.
    pub open: String,
    /// What stands behind it.
    pub close: String,
}

/// Where the summary goes. A later stage makes the next context from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// The message it comes back as.
    pub placement: Placement,
    /// What stands before it there.
    pub prefix: String,
    /// What stands behind it there.
    pub end: String,
    /// What stays beside it.
    pub verbatim: Verbatim,
    /// On which side of it.
    pub verbatim_place: VerbatimPlace,
    /// Characters of each copy; longer ones are cut and marked. `None` where copies are whole.
    pub verbatim_chars: Option<usize>,
    /// Characters of all copies together: the oldest make way.
    pub verbatim_total: Option<usize>,
    /// What stands behind a copy that was cut.
    pub verbatim_marker: String,
    /// How long kept turns stay.
    pub kept: KeptTurns,
    /// Characters of a result in a flattened tail.
    pub flat_result_chars: Option<usize>,
    /// What is added to the summary.
    pub sections: Vec<Section>,
}

/// How a long transcript is summarized in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    /// Most characters of one part.
    pub chunk: usize,
    /// What becomes of the partial summaries.
    pub merge: Merge,
}

/// Which tool results stay when no model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clear {
    /// The newest results that stay.
    pub keep: usize,
    /// What stands in place of the others.
    pub placeholder: String,
}

/// Reads `[transcript]`.
pub(crate) fn shown<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> (Shown, Option<Thoughts>) {
    let default = Shown::default();
    let results = Results::optional(document, &mut fields, "results");
    let calls = Presence::optional(document, &mut fields, "calls");
    let system = Presence::optional(document, &mut fields, "system");
    let thoughts = fields.table(document, "thoughts").and_then(|mut fields| {
        let label = fields.required(document, "label");
        let most = fields.optional(document, "limit");
        fields.finish(document);
        Some(Thoughts { label: label?, most })
    });
    fields.finish(document);
    let shown = Shown {
        results: results.unwrap_or(default.results),
        calls: calls.unwrap_or(default.calls),
        system: system.unwrap_or(default.system),
    };
    (shown, thoughts)
}

/// Reads `escape` and `own-tags`.
pub(crate) fn escape<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Escape> {
    let kind = EscapeKind::optional(document, root, "escape");
    let tags = root.optional_at::<Vec<String>>(document, "own-tags");
    match (kind, tags) {
        (None, None) => None,
        (Some(EscapeKind::Xml), None) => Some(Escape::Xml),
        (Some(EscapeKind::OwnTags), Some((tags, _))) if !tags.is_empty() && tags.iter().all(|tag| is_tag(tag)) => {
            Some(Escape::OwnTags(tags))
        }
        (Some(EscapeKind::OwnTags), None) => {
            document.fault(&root.span(), "own-tags", "which tags to escape is missing", "add own-tags = [\"...\"]");
            None
        }
        (Some(EscapeKind::OwnTags), Some((_, span))) => {
            document.fault(&span, "own-tags", "not names of tags", "write letters, digits, '_' and '-' only");
            None
        }
        (None | Some(EscapeKind::Xml), Some((_, span))) => {
            document.fault(&span, "own-tags", "nothing uses these tags", "write escape = \"own-tags\"");
            None
        }
    }
}

fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Reads `[wrapper]`.
pub(crate) fn wrapper<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Wrapper> {
    let mut side = |key: &'static str| {
        let (text, span) = fields.required_at::<String>(document, key)?;
        if text.trim().is_empty() {
            document.fault(&span, &fields.path_of(key), "a blank side encloses nothing", "write a tag or a delimiter");
        }
        Some(text)
    };
    let (open, close) = (side("open"), side("close"));
    fields.finish(document);
    Some(Wrapper { open: open?, close: close? })
}

/// Reads `[after]`.
pub(crate) fn after<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<After> {
    if !fields.has("placement") {
        fields.required::<String>(document, "placement");
    }
    let placement = Placement::optional(document, &mut fields, "placement");
    let prefix = fields.optional(document, "prefix").unwrap_or_default();
    let end = fields.optional(document, "end").unwrap_or_default();
    let verbatim = Verbatim::optional(document, &mut fields, "verbatim").unwrap_or(Verbatim::Nothing);
    let verbatim_place =
        VerbatimPlace::optional(document, &mut fields, "verbatim-place").unwrap_or(VerbatimPlace::Behind);
    let kept = KeptTurns::optional(document, &mut fields, "kept-turns").unwrap_or(KeptTurns::Stay);
    let verbatim_chars = fields.optional(document, "verbatim-chars");
    let verbatim_total = fields.optional(document, "verbatim-total");
    let verbatim_marker = fields.optional(document, "verbatim-marker").unwrap_or_default();
    let flat_result_chars = fields.optional(document, "flat-result-chars");
    let sections = Section::listed(document, &mut fields, "sections").unwrap_or_default();
    fields.finish(document);
    Some(After {
        placement: placement?,
        prefix,
        end,
        verbatim,
        verbatim_place,
        verbatim_chars,
        verbatim_total,
        verbatim_marker,
        kept,
        flat_result_chars,
        sections,
    })
}

/// Reads `[staged]`.
pub(crate) fn staged<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Staged> {
    let chunk = fields.required_at::<usize>(document, "chunk");
    if let Some((0, span)) = &chunk {
        document.fault(span, &fields.path_of("chunk"), "parts of 0 characters hold nothing", "write at least 1");
    }
    let merge = Merge::optional(document, &mut fields, "merge").unwrap_or(Merge::Summarize);
    fields.finish(document);
    Some(Staged { chunk: chunk?.0, merge })
}

/// Reads `[clear]`.
pub(crate) fn clear<'i>(document: &mut Document<'i>, mut fields: Fields<'i>) -> Option<Clear> {
    let keep = fields.required(document, "keep");
    let placeholder = fields.required_at::<String>(document, "placeholder");
    if let Some((text, span)) = &placeholder
        && text.trim().is_empty()
    {
        document.fault(span, &fields.path_of("placeholder"), "a blank result is refused by routes", "write some text");
    }
    fields.finish(document);
    Some(Clear { keep: keep?, placeholder: placeholder?.0 })
}
