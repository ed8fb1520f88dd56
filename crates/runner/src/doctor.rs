//! Whether the models of an experiment can be asked: each key, address and model looked at without a call that costs
//! anything. [`live`] goes further and asks.

pub mod live;

use laundromat_provider::model::Named;
use laundromat_provider::profile::{ModelList, NoUrl};
use laundromat_provider::{
    CallFailure, Client, Endpoint, FailureKind, Listing, Model, Prices, Profile, Settings, prices::provider_of,
};
use laundromat_session::fault::choose_remedy;

use crate::experiment::{Experiment, Limits};

/// How many names of a list are shown.
const SHOWN: usize = 5;

/// A model to be looked at.
#[derive(Debug, Clone)]
pub struct Patient {
    /// What it is called: a summarizer's name, `the judge`, or a profile's id.
    pub name: String,
    /// The model, or why it has no address.
    model: Result<Model, NoUrl>,
}

impl Patient {
    /// The models of an experiment: its summarizers, and its judge where that is one.
    pub fn of_experiment(experiment: &Experiment) -> Vec<Self> {
        let summarizers = experiment.summarizers.iter().map(|it| (it.name.clone(), &it.model));
        let judge = experiment.judge.model().map(|model| ("the judge".to_owned(), model));
        summarizers.chain(judge).map(|(name, model)| Self { name, model: Ok(model.clone()) }).collect()
    }

    /// Every profile with an address and a key of its own whose key is set: no model of it is known.
    pub fn of_environment() -> Vec<Self> {
        let is_set = |profile: &&Profile| profile.keys.iter().any(|source| variable(&source.env).is_some());
        let found = Profile::all().iter().filter(|profile| profile.base_url.is_some()).filter(is_set);
        found
            .map(|profile| {
                let url = profile.url("", None, variable);
                let endpoint = |url| Endpoint::new(profile, String::new(), url, &Settings::default());
                Self { name: profile.id.clone(), model: url.map(|url| Model::Chat(endpoint(url))) }
            })
            .collect()
    }
}

/// What was found out about a model.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it is called.
    pub name: String,
    /// What is known of it, by name, in order.
    pub facts: Vec<(&'static str, String)>,
    /// Whether it can be asked.
    pub health: Health,
}

/// Whether a model can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// As far as can be known without asking it.
    Well,
    /// What the user set up is at fault: the problem and its remedy.
    Misconfigured(String),
    /// The endpoint does not answer: the problem and its remedy.
    Silent(String),
}

impl Health {
    /// What a call that failed says.
    pub fn of(failure: &CallFailure) -> Self {
        // A reply that no server of the route gives is another server's.
        if failure.kind.is_transport() && failure.kind != FailureKind::Protocol {
            Self::Silent(failure.to_string())
        } else {
            Self::Misconfigured(failure.to_string())
        }
    }

    /// What is wrong, where something is.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Well => None,
            Self::Misconfigured(problem) | Self::Silent(problem) => Some(problem),
        }
    }
}

/// Looks at `patients`, one after the other. No key is in what comes back.
pub async fn examine(patients: Vec<Patient>, limits: &Limits, prices: &Prices, date: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Patient { name, model } in patients {
        findings.push(match &model {
            Err(no_url) => {
                let problem = match no_url {
                    NoUrl::NoBase(_) => format!("{no_url}; name it in an experiment, with base-url"),
                    NoUrl::NoVariable { .. } => format!("{no_url}; set it"),
                };
                Finding { facts: vec![("profile", name.clone())], name, health: Health::Misconfigured(problem) }
            }
            Ok(Model::BuiltinReader) => {
                let facts = vec![("model", "built-in; it needs no address and no key".to_owned())];
                Finding { name, facts, health: Health::Well }
            }
            Ok(model @ Model::Chat(endpoint)) => {
                let mut facts = facts(endpoint);
                if !endpoint.model.is_empty() {
                    facts.push(("price", price(model, prices, date)));
                }
                let (answer, health) = look(model, endpoint, limits).await;
                facts.extend(answer.map(|answer| ("answers", answer)));
                Finding { name, facts, health }
            }
        });
    }
    findings
}

/// What is known without asking anybody.
fn facts(endpoint: &Endpoint) -> Vec<(&'static str, String)> {
    let named = match endpoint.named {
        Named::Explicit => "",
        Named::Implied => ", since no profile is named",
    };
    let mut facts = vec![
        ("profile", format!("{}{named}", endpoint.profile.id)),
        ("route", endpoint.route.to_string()),
        ("address", endpoint.url.clone()),
        ("key", key(endpoint)),
    ];
    if !endpoint.model.is_empty() {
        facts.insert(0, ("model", endpoint.model.clone()));
    }
    facts.extend(endpoint.dropped().iter().map(|dropped| ("setting", dropped.to_string())));
    facts
}

/// Where the key is, never what it is.
fn key(endpoint: &Endpoint) -> String {
    let names: Vec<&str> = endpoint.keys.iter().map(|source| source.env.as_str()).collect();
    let wanted: Vec<&str> = endpoint.variables().filter(|name| variable(name).is_none()).collect();
    let key = match names.iter().find(|name| variable(name).is_some()) {
        Some(name) => format!("in {name}"),
        None if names.is_empty() => "none is sent".to_owned(),
        None if endpoint.needs_key() => format!("missing; set {}", names.join(" or ")),
        None => format!("none is sent, {} is not set", names.join(" and ")),
    };
    if wanted.is_empty() { key } else { format!("{key}; {} is not set", wanted.join(" and ")) }
}

fn price(model: &Model, prices: &Prices, date: &str) -> String {
    match prices.of(model, date) {
        Some(_) => "known".to_owned(),
        None => format!(
            "unknown for \"{}\" of \"{}\"; a money budget needs [[prices]] with it",
            model.name(),
            provider_of(model.endpoint())
        ),
    }
}

/// Asks for the list of models.
async fn look(model: &Model, endpoint: &Endpoint, limits: &Limits) -> (Option<String>, Health) {
    let client = match Client::new([model], limits.sending()) {
        Ok(client) => client,
        Err(error) => return (None, Health::Misconfigured(error.to_string())),
    };
    match client.listing(endpoint).await {
        Err(failure) => (None, Health::of(&failure)),
        Ok(Listing::Unlisted) => {
            let answer = "yes; whether it takes the key and has the model is for --live to say".to_owned();
            (Some(answer), Health::Well)
        }
        Ok(Listing::Listed { names, .. }) if endpoint.model.is_empty() => {
            (Some(format!("yes, with {} models: {}", names.len(), shown(&names))), Health::Well)
        }
        Ok(Listing::Listed { has_model: true, .. }) => (Some("yes, and has the model".to_owned()), Health::Well),
        Ok(Listing::Listed { names, .. }) => absent(endpoint, &names),
    }
}

/// A model that is not in the list.
fn absent(endpoint: &Endpoint, names: &[String]) -> (Option<String>, Health) {
    let listed = if names.is_empty() { "no model".to_owned() } else { shown(names) };
    let said = format!("the model \"{}\" is not in its list, which has {listed}", endpoint.model);
    if endpoint.profile.models == ModelList::Part {
        return (Some(format!("yes, but {said}; it may take it all the same")), Health::Well);
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let remedy =
        if known.is_empty() { "check model and base-url".to_owned() } else { choose_remedy(&endpoint.model, &known) };
    (
        Some("yes".to_owned()),
        Health::Misconfigured(format!("the model \"{}\" does not exist there; {remedy}", endpoint.model)),
    )
}

fn shown(names: &[String]) -> String {
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    if names.len() > SHOWN {
        shown.push("...");
    }
    shown.join(", ")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
