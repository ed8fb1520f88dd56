//! The keys of a model in an experiment: which destination it is behind, which key it needs, and its
//! settings, each checked against what the destination takes.

use std::ops::Range;

use laundromat_provider::model::Named;
use laundromat_provider::profile::{KeySource, NoUrl};
use laundromat_provider::settings::EFFORTS;
use laundromat_provider::{Endpoint, Model, Profile, Route, Settings};
use laundromat_session::fault::choose_remedy;
use laundromat_session::fields::{Document, Fields};
use laundromat_session::{Message, MessageRole};
use serde_json::{Map, Number, Value};

/// Fields of a body that are no settings.
const OURS: [&str; 14] = [
    "model",
    "messages",
    "input",
    "instructions",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "stream",
    "tools",
    "tool_choice",
    "toolConfig",
    "tool_config",
    "n",
];

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// It writes summaries.
    Summarizer,
    /// It reads them, and should say the same of the same summary as far as its server allows.
    Judge,
}

/// Reads the model `name` with what stands beside it: built-in, one of the `known`, or behind an
/// address.
pub(crate) fn model<'i>(
    document: &mut Document<'i>,
    fields: &mut Fields<'i>,
    (name, span): (String, Range<usize>),
    part: Part,
    known: &[&str],
) -> Option<Model> {
    if let Some(model) = Model::builtin(&name).filter(|_| known.contains(&name.as_str())) {
        return Some(model);
    }
    let table = Table::read(document, fields);
    if !table.says_where() {
        let remedy = format!(
            "{}; a model behind an address needs base-url or the name of a profile",
            choose_remedy(&name, known)
        );
        let problem = format!("unknown model \"{}\"", name.escape_debug());
        document.fault(&span, &fields.path_of("model"), problem, remedy);
        return None;
    }
    let (profile, named) = table.profile(document, fields)?;
    let url = table.url(document, fields, profile, (&name, &span))?;
    let keys = table.keys(document, fields, profile, &span)?;
    let settings = table.settings(document, fields, profile, named, part)?;
    let mut endpoint = Endpoint::new(profile, name, url, &settings);
    endpoint.keys = keys;
    endpoint.named = named;
    probe(document, fields, &endpoint, &span)?;
    Some(Model::Chat(endpoint))
}

/// A value with its place in the file.
type At<T> = Option<(T, Range<usize>)>;

/// The keys beside `model`, as they are written.
struct Table {
    profile: At<String>,
    route: At<String>,
    base_url: At<String>,
    key_env: At<String>,
    max_tokens: At<u64>,
    temperature: At<Number>,
    seed: At<u64>,
    effort: At<String>,
    parameters: At<Map<String, Value>>,
}

/// The bound on a reply, where there is one.
fn max_tokens<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>) -> At<u64> {
    let bound: At<u64> = fields.optional_at(document, "max-tokens");
    if let Some((0, span)) = &bound {
        let path = fields.path_of("max-tokens");
        document.fault(span, &path, "a reply of no tokens is none".to_owned(), "write at least 1, or leave it out");
    }
    bound
}

impl Table {
    fn read<'i>(document: &mut Document<'i>, fields: &mut Fields<'i>) -> Self {
        Self {
            profile: fields.optional_at(document, "profile"),
            route: fields.optional_at(document, "route"),
            base_url: fields.optional_at(document, "base-url"),
            key_env: fields.optional_at(document, "key-env"),
            max_tokens: max_tokens(document, fields),
            temperature: fields.optional_at(document, "temperature"),
            seed: fields.optional_at(document, "seed"),
            effort: fields.optional_at(document, "effort"),
            parameters: fields.optional_at(document, "parameters"),
        }
    }

    fn says_where(&self) -> bool {
        self.base_url.is_some() || self.profile.is_some() || self.route.is_some()
    }

    /// The destination: by its name, by its route, or any OpenAI-compatible server.
    fn profile<'i>(&self, document: &mut Document<'i>, fields: &Fields<'i>) -> Option<(&'static Profile, Named)> {
        let route = match &self.route {
            None => None,
            Some((id, span)) => match id.parse::<Route>() {
                Ok(route) => Some((route, span)),
                Err(_) => {
                    let known: Vec<&str> = Route::ALL.iter().map(|route| route.id()).collect();
                    let problem = format!("unknown route \"{}\"", id.escape_debug());
                    document.fault(span, &fields.path_of("route"), problem, choose_remedy(id, &known));
                    return None;
                }
            },
        };
        let Some((id, span)) = &self.profile else {
            return Some(match route {
                Some((route, _)) => (Profile::of_route(route), Named::Explicit),
                None => (Profile::of_route(Route::ChatCompletions), Named::Implied),
            });
        };
        let Some(profile) = Profile::named(id) else {
            let known: Vec<&str> = Profile::all().iter().map(|profile| profile.id.as_str()).collect();
            let problem = format!("unknown profile \"{}\"", id.escape_debug());
            document.fault(span, &fields.path_of("profile"), problem, choose_remedy(id, &known));
            return None;
        };
        if let Some((route, span)) = route.filter(|(route, _)| *route != profile.route) {
            let problem = format!("the profile \"{id}\" is on the route {}, not {route}", profile.route);
            document.fault(span, &fields.path_of("route"), problem, "leave the route out: a profile implies it");
            return None;
        }
        Some((profile, Named::Explicit))
    }

    fn url<'i>(
        &self,
        document: &mut Document<'i>,
        fields: &Fields<'i>,
        profile: &Profile,
        (model, model_span): (&str, &Range<usize>),
    ) -> Option<String> {
        let path = fields.path_of("base-url");
        if let Some((base_url, span)) = &self.base_url {
            let (scheme, rest) = base_url.split_once("://").unwrap_or_default();
            let is_odd = |c: char| matches!(c, '@' | '?' | '$' | '{');
            if !matches!(scheme, "http" | "https") || rest.is_empty() || rest.contains(is_odd) {
                document.fault(
                    span,
                    &path,
                    // Not shown: what makes it none may be a password in it.
                    "this is not the base of an API".to_owned(),
                    "write an http or https address without user, password or query, such as https://api.openai.com/v1",
                );
                return None;
            }
        }
        let base_url = self.base_url.as_ref().map(|(base_url, _)| base_url.as_str());
        match profile.url(model, base_url, |name| std::env::var(name).ok()) {
            Ok(url) => Some(url),
            Err(error) => {
                let remedy = match &error {
                    NoUrl::NoBase(_) => "add base-url = ... with the server's address".to_owned(),
                    NoUrl::NoVariable { name, .. } if profile.path.contains(name.as_str()) => format!("set {name}"),
                    NoUrl::NoVariable { name, .. } => format!("set {name}, or add base-url = ..."),
                };
                let span = self.profile.as_ref().map_or(model_span, |(_, span)| span);
                document.fault(span, &path, error.to_string(), remedy);
                None
            }
        }
    }

    /// The variables of the key: the one named here, or the profile's. A key named here is sent as the
    /// profile's first one is.
    fn keys<'i>(
        &self,
        document: &mut Document<'i>,
        fields: &Fields<'i>,
        profile: &Profile,
        model_span: &Range<usize>,
    ) -> Option<Vec<KeySource>> {
        let path = fields.path_of("key-env");
        let Some((env, span)) = &self.key_env else {
            if profile.keys.is_empty() && profile.wants_key() {
                let problem = format!("the profile \"{}\" needs a key and knows no variable for it", profile.id);
                document.fault(model_span, &path, problem, "name the variable that holds the key");
                return None;
            }
            return Some(profile.keys.clone());
        };
        if env.is_empty() || !env.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            document.fault(
                span,
                &path,
                "this is not the name of an environment variable",
                "name the variable that holds the key, never write the key itself here",
            );
            return None;
        }
        let known = profile.keys.iter().find(|source| source.env == *env).or(profile.keys.first());
        let auth = known.map(|source| source.auth).unwrap_or_default();
        Some(vec![KeySource { env: env.clone(), auth }])
    }

    fn settings<'i>(
        self,
        document: &mut Document<'i>,
        fields: &Fields<'i>,
        profile: &Profile,
        named: Named,
        part: Part,
    ) -> Option<Settings> {
        if let Some((parameters, span)) = &self.parameters {
            let taken: Vec<&str> = OURS.into_iter().filter(|key| parameters.contains_key(*key)).collect();
            for key in &taken {
                let path = format!("{}.{key}", fields.path_of("parameters"));
                document.fault(span, &path, format!("\"{key}\" is laundromat's to send"), "leave it out");
            }
            if !taken.is_empty() {
                return None;
            }
        }
        if let Some((effort, span)) = &self.effort
            && !EFFORTS.contains(&effort.as_str())
        {
            let problem = format!("unknown effort \"{}\"", effort.escape_debug());
            document.fault(span, &fields.path_of("effort"), problem, choose_remedy(effort, &EFFORTS));
            return None;
        }
        let defaults = match (part, named) {
            (Part::Summarizer, _) => Settings::default(),
            (Part::Judge, Named::Explicit) => Settings::judge(profile),
            // Nothing is known about the server's models: whoever writes parameters writes all of them.
            (Part::Judge, Named::Implied) if self.parameters.is_some() => Settings::default(),
            (Part::Judge, Named::Implied) => Settings { temperature: Some(Number::from(0)), ..Settings::default() },
        };
        fn value<T>(at: At<T>) -> Option<T> {
            at.map(|(value, _)| value)
        }
        Some(Settings {
            max_tokens: value(self.max_tokens).or(defaults.max_tokens),
            temperature: value(self.temperature).or(defaults.temperature),
            seed: value(self.seed).or(defaults.seed),
            effort: value(self.effort).or(defaults.effort),
            parameters: value(self.parameters).unwrap_or_default(),
        })
    }
}

/// Settings that the destination would refuse in every request are a fault of the file.
fn probe<'i>(document: &mut Document<'i>, fields: &Fields<'i>, endpoint: &Endpoint, span: &Range<usize>) -> Option<()> {
    let messages = [Message::text(MessageRole::System, "s"), Message::text(MessageRole::User, "u")];
    match endpoint.body(&messages) {
        Ok(_) => Some(()),
        Err(broken) => {
            let problem = format!("{} would refuse every request: {broken}", endpoint.profile.id);
            document.fault(span, &fields.path_of("model"), problem, "change the setting that the rule is about");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use laundromat_provider::Model;
    use laundromat_session::{Message, MessageRole};

    use crate::experiment::{Experiment, Judge};

    const HEAD: &str = "schema = \"laundromat-experiment/1\"\nname = \"x\"\nseed = 1\nsessions = [\"s\"]\n\
                        attacks = [\"a\"]\narms = [\"b\"]\n";

    /// The experiment with this summarizer and judge, or its faults.
    fn read(summarizer: &str, judge: &str) -> Result<Experiment, Vec<String>> {
        let text = format!("{HEAD}[[summarizers]]\nname = \"m\"\n{summarizer}\n[judge]\n{judge}\n");
        Experiment::parse(&text).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    fn summarizer(summarizer: &str) -> Model {
        let experiment = read(summarizer, "model = \"builtin:rules\"").expect("faultless");
        experiment.summarizers[0].model.clone()
    }

    fn judge(text: &str) -> Model {
        match read("model = \"builtin:reader\"", text).expect("faultless").judge {
            Judge::Model { model, .. } => *model,
            Judge::Rules => panic!("a model is asked"),
        }
    }

    fn fault(summarizer: &str) -> String {
        let mut faults = read(summarizer, "model = \"builtin:rules\"").expect_err("faulty");
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    fn body(model: &Model) -> String {
        let body = model.body(&[Message::text(MessageRole::User, "u")]).expect("a body");
        String::from_utf8(body.bytes.to_vec()).expect("text")
    }

    fn keys(model: &Model) -> Vec<&str> {
        match model {
            Model::Chat(endpoint) => endpoint.keys.iter().map(|source| source.env.as_str()).collect(),
            Model::BuiltinReader => Vec::new(),
        }
    }

    /// Bodies and addresses are what stored calls are found by.
    #[test]
    fn a_server_about_which_nothing_is_said_is_asked_as_ever() {
        let model = summarizer(
            "model = \"m\"\nbase-url = \"http://h/v1/\"\nkey-env = \"K\"\nparameters = { top_p = 0.5, max_tokens = 9 }",
        );
        assert_eq!(model.endpoint(), "http://h/v1/chat/completions");
        assert_eq!(model.key_endpoint(), "http://h/v1/chat/completions");
        assert_eq!(keys(&model), ["K"]);
        let messages = r#"{"model":"m","messages":[{"role":"user","content":"u"}]"#;
        assert_eq!(body(&model), format!(r#"{messages},"max_tokens":9,"top_p":0.5}}"#));
        assert_eq!(model.parameters_text(), r#"{"max_tokens":9,"top_p":0.5}"#);
        assert_eq!(body(&summarizer("model = \"m\"\nbase-url = \"http://h\"")), format!("{messages}}}"));
        let steady = judge("model = \"m\"\nbase-url = \"http://h\"");
        assert_eq!(body(&steady), format!(r#"{messages},"temperature":0}}"#));
        assert_eq!(steady.parameters_text(), r#"{"temperature":0}"#);
        let own = judge("model = \"m\"\nbase-url = \"http://h\"\nparameters = { max_tokens = 9 }");
        assert_eq!(body(&own), format!(r#"{messages},"max_tokens":9}}"#));
    }

    #[test]
    fn a_profile_brings_address_keys_and_words() {
        let model = summarizer("model = \"g/x\"\nprofile = \"gemini-2x\"\nmax-tokens = 9\ntemperature = 0.5\nseed = 3");
        assert_eq!(model.endpoint(), "https://generativelanguage.googleapis.com/v1beta/models/g%2Fx:generateContent");
        assert_eq!(keys(&model), ["GOOGLE_API_KEY", "GEMINI_API_KEY"]);
        let config = r#""generationConfig":{"maxOutputTokens":9,"temperature":0.5,"seed":3}"#;
        assert_eq!(body(&model), format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"u"}}]}}],{config}}}"#));
        let reasoning = judge("model = \"m\"\nprofile = \"openai-reasoning\"");
        assert!(body(&reasoning).ends_with(r#""max_completion_tokens":2048,"reasoning_effort":"low"}"#));
        assert_eq!(
            reasoning.parameters_text(),
            r#"{"profile":"openai-reasoning","sent":{"max_completion_tokens":2048,"reasoning_effort":"low"},"not sent":{"temperature":0}}"#
        );
        let routed = summarizer("model = \"m\"\nroute = \"anthropic\"\nbase-url = \"http://h\"\nkey-env = \"K\"");
        assert_eq!(routed.endpoint(), "http://h/v1/messages");
        assert_eq!(routed.key_endpoint(), "http://h/v1/messages 2023-06-01");
        assert!(body(&routed).ends_with(r#""max_tokens":4096}"#));
    }

    #[test]
    fn faults_name_the_key_and_the_remedy() {
        assert!(
            fault("model = \"m\"\nprofile = \"anthropic-2026-10-12\"").contains(
                "summarizers[0].profile: unknown profile \"anthropic-2026-10-12\"; did you mean \"anthropic-"
            )
        );
        assert!(
            fault("model = \"m\"\nroute = \"gemni\"").ends_with("unknown route \"gemni\"; did you mean \"gemini\"?")
        );
        assert!(
            fault("model = \"m\"\nprofile = \"mistral\"\nroute = \"gemini\"")
                .ends_with("is on the route chat-completions, not gemini; leave the route out: a profile implies it")
        );
        assert!(fault("model = \"m\"\nprofile = \"generic\"").ends_with(
            "base-url: the profile \"generic\" has no address of its own; add base-url = ... with the server's address"
        ));
        assert!(
            fault("model = \"m\"\nprofile = \"vertex-gemini\"\nbase-url = \"http://h\"")
                .contains("GOOGLE_CLOUD_PROJECT")
        );
        assert!(fault("model = \"m\"\nprofile = \"openai\"\neffort = \"hihg\"").ends_with("did you mean \"high\"?"));
        assert!(fault("model = \"m\"\nprofile = \"openai\"\nmax-tokens = 0").contains("a reply of no tokens is none"));
        assert!(fault("model = \"m\"\nprofile = \"openai\"\nmax_tokens = 3").contains("did you mean \"max-tokens\"?"));
        assert!(
            fault("model = \"m\"\nprofile = \"openai\"\nparameters = { tools = [] }")
                .ends_with("\"tools\" is laundromat's to send; leave it out")
        );
    }

    /// What every request would be refused for is told before anything is spent.
    #[test]
    fn settings_that_are_always_refused_are_a_fault() {
        let refused = |more: &str, rule: &str| {
            let said = fault(&format!("model = \"m\"\n{more}"));
            assert!(said.contains(&format!("would refuse every request: rule {rule}: ")), "{said}");
        };
        refused("profile = \"openai-responses\"\nmax-tokens = 8", "max_output_tokens");
        refused("profile = \"openai\"\nparameters = { random_seed = 1 }", "unknown_param");
        refused("profile = \"anthropic-2023-06-01\"\ntemperature = 1.5", "temperature_range");
        refused("profile = \"anthropic-2026-10-21\"\nparameters = { temperature = 0 }", "sampling_param");
        refused("profile = \"openai-reasoning\"\nparameters = { max_tokens = 9 }", "max_tokens_name");
        refused("profile = \"gemini-2x\"\nmax-tokens = 70000", "max_output_tokens");
    }
}
