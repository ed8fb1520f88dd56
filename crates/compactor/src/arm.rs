//! An arm as data: window, shield, caps, form, labels, prompt and pointer. A preset is an arm file
//! that reproduces the structure of a known harness.

use std::fmt;
use std::ops::Range;

use laundromat_session::fault::{Fault, choose_remedy};
use laundromat_session::fields::{Document, Fields};
use laundromat_session::labels::{LabelStyle, Naming};

use crate::axes::{self, After, Clear, Escape, HarnessRows, Instructions, Previous, Shown, Staged, Thoughts, Wrapper};
use crate::caps::{self, Caps};
use crate::estimate::{self, Price};
use crate::forms::{Form, Need};
pub use crate::invariant::Invariant;
use crate::invariant::faults;
use crate::keep::{self, Boundary, Guard, Keep};
use crate::marker::{self, Marker};
use crate::presets;
use crate::records::{Scrub, Window};
use crate::tiers::{self, Tiers};
use crate::trigger::{self, Trigger};

/// What `schema` says in an arm file.
pub const SCHEMA: &str = "laundromat-arm/1";

/// Whose words a preset's prompt is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptBasis {
    /// The structure is the harness's, the words are ours: a rate under it is not the harness's rate.
    Paraphrase,
    /// The user gave the real text.
    UserSupplied,
}

impl PromptBasis {
    /// The identifier used in files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Paraphrase => "paraphrase",
            Self::UserSupplied => "user-supplied",
        }
    }
}

/// Where the facts of a preset come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The harness, or `laundromat` for arms of our own.
    pub harness: String,
    /// Version or commit the arm reproduces.
    pub version: String,
    /// What is from source, documentation or assumed.
    pub basis: String,
}

/// An arm as read from its file; the names of shield and prompt are not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// The arm's name, its file name without `.toml`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where its facts come from.
    pub source: Source,
    /// What the harness breaks.
    pub faults: Vec<Invariant>,
    /// How the request is built.
    pub form: Form,
    /// Where the instructions stand.
    pub instructions: Instructions,
    /// How flattened forms label turns; `None` for forms that do not.
    pub labels: Option<&'static LabelStyle>,
    /// Which turns go in.
    pub window: Window,
    /// What is scrubbed beside the shield.
    pub scrub: Scrub,
    /// Name of the shield file; `None` for no redaction.
    pub shield: Option<String>,
    /// Name of the prompt file.
    pub prompt: String,
    /// Whose words that prompt is in.
    pub prompt_basis: PromptBasis,
    /// What a flattened transcript shows.
    pub shown: Shown,
    /// How recorded thoughts stand in it; `None` where it shows none.
    pub thoughts: Option<Thoughts>,
    /// How session text in a transcript is escaped.
    pub escape: Option<Escape>,
    /// What encloses a transcript.
    pub wrapper: Option<Wrapper>,
    /// How a long transcript is parted.
    pub staged: Option<Staged>,
    /// The lists of the state that a reply changes.
    pub state: Option<Vec<String>>,
    /// Which results stay where no model is asked.
    pub clear: Option<Clear>,
    /// What becomes of user turns that no person wrote, in forms with roles.
    pub harness_rows: HarnessRows,
    /// How the next compaction is given this one's summary.
    pub previous: Previous,
    /// Where the summary goes.
    pub after: Option<After>,
    /// Which turns stay where they are; `None` where that is not known of the harness, or not modelled.
    pub keep: Option<Keep>,
    /// Which answers become summaries; `None` where that is not known.
    pub guard: Option<Guard>,
    /// How the harness finds its summary again in text; `None` where it does not look at text, or that is
    /// not known.
    pub marker: Option<Marker>,
    /// When the harness compacts on its own; `None` where that is not known.
    pub trigger: Option<Trigger>,
    /// What is done before and beside the summary.
    pub tiers: Tiers,
    /// What turns cost, wherever sizes count in tokens.
    pub price: Price,
    /// The arm that acts where this one's request is over the context window.
    pub downgrade: Option<String>,
    /// Where the shield acts.
    pub shield_covers: Vec<Boundary>,
    /// The final user message of typed forms.
    pub pointer: Option<String>,
    /// The context window in tokens, which the summary's target length depends on.
    pub context_tokens: usize,
    /// Tokens added to the target length for a session log.
    pub extra_tokens: usize,
    /// The caps.
    pub caps: Caps,
}

impl Arm {
    /// Reads an arm file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault])?;
        let arm = read(&mut document, &mut root);
        root.finish(&mut document);
        document.finish(arm)
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn read<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Option<Arm> {
    root.schema(document, SCHEMA);
    let name = root.name(document, "an arm");
    let title = root.required(document, "title");
    let faults = faults(document, root);
    let form = root.required_at::<String>(document, "form").and_then(|(id, span)| {
        let form = Form::by_id(&id);
        if form.is_none() {
            let known: Vec<&str> = Form::ALL.iter().map(|form| form.id()).collect();
            document.fault(&span, "form", format!("unknown form \"{id}\""), choose_remedy(&id, &known));
        }
        form
    });
    let labels = if root.has("labels") { caps::style(document, root, "labels") } else { None };
    let window = root.required(document, "window");
    let scrub = root.required(document, "scrub");
    let shield = root.optional(document, "shield");
    let shield_covers = shield_covers(document, root);
    let prompt = root.required(document, "prompt");
    let prompt_basis = root.required(document, "prompt-basis");
    let pointer = root.optional_at::<String>(document, "pointer");
    let context_tokens = root.required_at::<usize>(document, "context-tokens");
    if let Some((0, span)) = &context_tokens {
        document.fault(
            span,
            "context-tokens",
            "a context of 0 tokens holds nothing",
            "write the model's context window",
        );
    }
    let extra_tokens = root.optional(document, "extra-tokens").unwrap_or(0);
    let source = root.required_table(document, "source").and_then(|mut fields| {
        let harness = fields.required(document, "harness");
        let version = fields.required(document, "version");
        let basis = fields.required(document, "basis");
        fields.finish(document);
        Some(Source { harness: harness?, version: version?, basis: basis? })
    });
    let caps = root.table(document, "caps").map(|fields| caps::read(document, fields)).unwrap_or_default();
    let instructions = instructions(document, root, form);
    if let Some(form) = form {
        let traits = form.traits();
        let labels_span = labels.as_ref().map(|(_, span)| span);
        need(
            document,
            root,
            Axis { key: "pointer", need: traits.pointer, span: pointer.as_ref().map(|(_, span)| span) },
        );
        need(document, root, Axis { key: "labels", need: traits.labels, span: labels_span });
        let whole = root.span();
        for (key, need_it) in [
            ("wrapper", traits.wrapper),
            ("escape", traits.escape),
            ("transcript", traits.transcript),
            ("harness-rows", if form.is_flat() { Need::Absent } else { Need::Optional }),
            ("staged", if form == Form::FlatStaged { Need::Required } else { Need::Absent }),
            ("state", if form == Form::FlatDelta { Need::Required } else { Need::Absent }),
            ("clear", if form == Form::ClearOnly { Need::Required } else { Need::Absent }),
        ] {
            let span = root.has(key).then_some(&whole);
            need(document, root, Axis { key, need: need_it, span });
        }
        if let (Form::FlatNoroles, Some((Some(style), span))) = (form, &labels)
            && style.naming != Naming::Neutral
        {
            document.fault(
                span,
                "labels",
                format!("\"{}\" says who spoke", style.id),
                "write a style that does not, as \"numbered\" or \"bare\"",
            );
        }
    }
    let (shown, thoughts) =
        root.table(document, "transcript").map(|fields| axes::shown(document, fields)).unwrap_or_default();
    let escape = axes::escape(document, root);
    let wrapper = root.table(document, "wrapper").and_then(|fields| axes::wrapper(document, fields));
    let staged = root.table(document, "staged").and_then(|fields| axes::staged(document, fields));
    let state = root.optional(document, "state");
    let clear = root.table(document, "clear").and_then(|fields| axes::clear(document, fields));
    let harness_rows = HarnessRows::optional(document, root, "harness-rows").unwrap_or(HarnessRows::Note);
    let previous = Previous::optional(document, root, "previous").unwrap_or(Previous::Slot);
    let after = root.table(document, "after").and_then(|fields| axes::after(document, fields));
    let keep = root.table(document, "keep").and_then(|fields| keep::keep(document, fields));
    let guard = root.table(document, "guard").and_then(|fields| keep::guard(document, fields));
    let marker = root.table(document, "marker").and_then(|fields| marker::marker(document, fields));
    let most = context_tokens.as_ref().map_or(0, |(tokens, _)| *tokens);
    let trigger = root.table(document, "trigger").and_then(|fields| trigger::trigger(document, fields, most));
    let tiers = root.table(document, "tiers").map(|fields| tiers::tiers(document, fields, most)).unwrap_or_default();
    let price = root.table(document, "estimate").map(|fields| estimate::price(document, fields)).unwrap_or_default();
    let downgrade = downgrade(document, root, name.as_deref(), &caps);
    if keep.is_some() && after.is_none() && form.is_some_and(Form::asks_model) {
        document.fault(
            &root.span(),
            "after",
            "what stays is known, and where the summary goes is not",
            "add [after] with its placement",
        );
    }
    Some(Arm {
        name: name?,
        title: title?,
        source: source?,
        faults,
        form: form?,
        instructions,
        labels: labels.and_then(|(style, _)| style),
        window: window?,
        scrub: scrub?,
        shield,
        prompt: prompt?,
        prompt_basis: prompt_basis?,
        shown,
        thoughts,
        escape,
        wrapper,
        staged,
        state,
        clear,
        harness_rows,
        previous,
        after,
        keep,
        guard,
        marker,
        trigger,
        tiers,
        price,
        downgrade,
        shield_covers,
        pointer: pointer.map(|(text, _)| text.trim().to_owned()),
        context_tokens: context_tokens?.0,
        extra_tokens,
        caps,
    })
}

/// An axis as a form looks at it.
#[derive(Clone, Copy)]
struct Axis<'a> {
    key: &'static str,
    need: Need,
    /// Where it stands, if it does.
    span: Option<&'a Range<usize>>,
}

/// Checks that an axis is there where the form needs it, and only where it has a use for it.
fn need<'i>(document: &mut Document<'i>, root: &Fields<'i>, axis: Axis<'_>) {
    let (problem, remedy) = match (axis.need, axis.span, axis.key) {
        (Need::Required, None, "pointer") => {
            ("a typed form needs a pointer, its final user message".to_owned(), "add pointer = \"...\"".to_owned())
        }
        (Need::Required, None, "labels") => {
            ("a flattened form needs labels".to_owned(), "add labels = \"bracket-upper\" or another style".to_owned())
        }
        (Need::Required, None, key) => (format!("this form cannot do without {key}"), format!("add {key}")),
        (Need::Absent, Some(_), "pointer") => {
            ("a flattened form has no pointer".to_owned(), "drop the key, or write form = \"typed\"".to_owned())
        }
        (Need::Absent, Some(_), "labels") => (
            "a typed form labels no turns".to_owned(),
            "drop the key, or choose a flattened form; the labels that sizes are counted with stand in [caps.total]"
                .to_owned(),
        ),
        (Need::Absent, Some(_), key) => (format!("this form has no use for {key}"), "drop it".to_owned()),
        (Need::Required | Need::Optional, Some(_), _) | (Need::Optional | Need::Absent, None, _) => return,
    };
    document.fault(axis.span.unwrap_or(&root.span()), axis.key, problem, remedy);
}

/// Where the instructions stand: as written, or where the form usually has them.
fn instructions<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, form: Option<Form>) -> Instructions {
    let places = form.map_or(&[][..], |form| form.traits().places);
    let usual = places.first().copied().unwrap_or(Instructions::System);
    let Some(chosen) = Instructions::optional(document, root, "instructions") else { return usual };
    if form.is_some() && !places.contains(&chosen) {
        let known: Vec<&str> = places.iter().map(|place| place.id()).collect();
        document.fault(
            &root.span(),
            "instructions",
            format!("this form cannot have them at \"{}\"", chosen.id()),
            choose_remedy(chosen.id(), &known),
        );
    }
    chosen
}

/// The arm that acts in this one's place; it is given this one's records, so no cap may have cut them.
fn downgrade<'i>(document: &mut Document<'i>, root: &mut Fields<'i>, own: Option<&str>, caps: &Caps) -> Option<String> {
    let (name, span) = root.optional_at::<String>(document, "downgrade")?;
    let mut known = presets::arm_names();
    known.retain(|known| Some(*known) != own);
    if !known.contains(&name.as_str()) {
        let remedy = choose_remedy(&name, &known);
        document.fault(&span, "downgrade", format!("no other arm is called \"{name}\""), remedy);
    } else if *caps != Caps::default() {
        let problem = "the other arm would be given records that this one's caps cut";
        document.fault(&span, "downgrade", problem, "drop [caps]");
    }
    Some(name)
}

/// Where the shield acts: as written, or on all that goes to the summarizer.
fn shield_covers<'i>(document: &mut Document<'i>, root: &mut Fields<'i>) -> Vec<Boundary> {
    Boundary::listed(document, root, "shield-covers")
        .unwrap_or_else(|| vec![Boundary::SummarizerUser, Boundary::SummarizerOther])
}

#[cfg(test)]
mod tests {
    use super::Arm;
    use crate::presets;

    /// The faults of the embedded arm `name` with each `from` replaced by its `to`.
    fn faults(name: &str, changes: &[(&str, &str)]) -> Vec<String> {
        let mut text = presets::arm(name).expect("an arm").to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        Arm::parse(&text).map_or_else(|faults| faults.iter().map(ToString::to_string).collect(), |_| Vec::new())
    }

    /// What the one fault says behind its line and column.
    fn fault(name: &str, from: &str, to: &str) -> String {
        let faults = faults(name, &[(from, to)]);
        assert_eq!(faults.len(), 1, "{faults:#?}");
        faults[0].splitn(3, ':').nth(2).expect("a place").trim().to_owned()
    }

    #[test]
    fn embedded_arms_have_no_faults() {
        for name in presets::arm_names() {
            assert!(faults(name, &[]).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_name_must_fit_tables_and_file_names() {
        for name in ["", "../x", "a b", "all", "a\\nb"] {
            let told = fault("hermes-main", "name = \"hermes-main\"", &format!("name = \"{name}\""));
            assert!(
                told.starts_with("name: \"") && told.contains("\" cannot name an arm; use 1 to 100 letters"),
                "{told}"
            );
        }
        assert!(faults("hermes-main", &[("name = \"hermes-main\"", "name = \"all-2.x_y\"")]).is_empty());
    }

    #[test]
    fn a_context_of_nothing_is_a_fault() {
        let told = fault("hermes-main", "context-tokens = 128000", "context-tokens = 0");
        assert_eq!(told, "context-tokens: a context of 0 tokens holds nothing; write the model's context window");
    }

    #[test]
    fn keys_of_another_form_are_faults() {
        let told = fault("hermes-main", "window = ", "pointer = \"go\"\nwindow = ");
        assert_eq!(told, "pointer: a flattened form has no pointer; drop the key, or write form = \"typed\"");
        let told = fault("hermes-split", "window = ", "pointer = \"go\"\nwindow = ");
        assert!(told.starts_with("pointer: a flattened form has no pointer; "), "{told}");
        let told = fault("hermes-typed", "window = ", "labels = \"bracket-upper\"\nwindow = ");
        assert!(told.starts_with("labels: a typed form labels no turns; drop the key"), "{told}");
    }

    #[test]
    fn caps_that_cannot_be_kept_are_faults() {
        let told = fault("hermes-main", "head = 1200", "head = 1501");
        assert_eq!(told, "caps.arguments.head: the head is longer than the limit; make limit at least head");
        assert!(faults("hermes-main", &[("head = 1200", "head = 1500")]).is_empty());
        let told = fault("hermes-main", "limit = 160000", "limit = 999");
        assert_eq!(told, "caps.total.limit: 999 characters are too few for all records together; write at least 1000");
        assert!(faults("hermes-main", &[("limit = 160000", "limit = 1000")]).is_empty());
    }

    #[test]
    fn holes_of_markers_are_checked() {
        let told = faults("hermes-main", &[("{first}-{last}: {chars} chars", "{first}-{lest} {first}")]);
        let ends: Vec<&str> = told.iter().map(|told| told.splitn(3, ':').nth(2).expect("a place").trim()).collect();
        let remedy = "write each of {first}, {last}, {chars} once and no other braces";
        let problems = [
            "the hole {first} stands 2 times",
            "the hole {last} is missing",
            "the hole {chars} is missing",
            "an unknown hole at \"{lest}\"",
        ];
        assert_eq!(ends, problems.map(|problem| format!("caps.total.marker: {problem}; {remedy}")));
        let told = faults("hermes-main", &[("{omitted} of", "{ommitted} of"), ("{omitted} of", "{chars} of")]);
        assert_eq!(told.len(), 2, "{told:#?}");
        let remedy = "write no other braces than {omitted}, {total}";
        assert!(
            told[0].ends_with(&format!("caps.text.marker: an unknown hole at \"{{ommitted}}\"; {remedy}")),
            "{told:?}"
        );
        let end = format!("caps.total.record-marker: an unknown hole at \"{{chars}}\"; {remedy}");
        assert!(told[1].ends_with(&end), "{told:?}");
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let told = faults(
            "hermes-main",
            &[
                ("name = \"hermes-main\"", "name = \"all\""),
                ("= 128000", "= 0"),
                ("head = 1200", "head = 9000"),
                ("limit = 160000", "limit = 0"),
            ],
        );
        assert_eq!(told.len(), 4, "{told:#?}");
    }
}
