//! Every route that is sent to, as an experiment names it, served by one mock.

use std::path::Path;
use std::process::Output;

use laundromat_mock::{Mock, Route};

use super::{laundromat, repo};

/// A destination.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination {
    /// Its profile.
    pub(crate) profile: &'static str,
    /// What the mock calls its route.
    pub(crate) route: Route,
    /// What stands behind the mock's root in its base URL.
    base: &'static str,
    /// The variable of its key.
    pub(crate) key_env: &'static str,
    /// Whether its replies are streams.
    pub(crate) streams: bool,
}

/// All of them.
pub(crate) const ALL: [Destination; 8] = [
    at("openai", Route::Chat, "/v1", "OPENAI_API_KEY"),
    at("azure", Route::Azure, "", "AZURE_OPENAI_API_KEY"),
    at("openai-responses", Route::Responses, "/v1", "OPENAI_API_KEY"),
    Destination { streams: true, ..at("codex", Route::Codex, "/backend-api/codex", "CODEX_ACCESS_TOKEN") },
    at("anthropic-2023-06-01", Route::Anthropic, "", "ANTHROPIC_API_KEY"),
    at("anthropic-2026-10-21", Route::Anthropic, "", "ANTHROPIC_API_KEY"),
    at("gemini-2x", Route::Gemini, "", "GOOGLE_API_KEY"),
    at("bedrock-converse", Route::Converse, "", "AWS_BEARER_TOKEN_BEDROCK"),
];

const fn at(profile: &'static str, route: Route, base: &'static str, key_env: &'static str) -> Destination {
    Destination { profile, route, base, key_env, streams: false }
}

impl Destination {
    /// The keys of a model there, as TOML.
    pub(crate) fn keys(&self, root: &str) -> String {
        format!("profile = {:?}\nbase-url = \"{root}{}\"\n", self.profile, self.base)
    }

    /// The study scenario there: its sessions, arms, attacks and repetitions, and its models by the same names.
    pub(crate) fn study(&self, mock: &Mock) -> String {
        let text = std::fs::read_to_string(repo("scenarios/role-typed-study.toml")).expect("the scenario");
        let router = "base-url = \"https://openrouter.ai/api/v1\"\nkey-env = \"OPENROUTER_API_KEY\"\n";
        let judged = text
            .replace(router, &self.keys(&mock.root_url()))
            .replace("parameters = { temperature = 0, max_tokens = 64 }\n", "")
            .replace("../sessions/*.json", &repo("sessions/*.json").display().to_string());
        assert_eq!(
            judged.matches(&format!("profile = {:?}", self.profile)).count(),
            4,
            "three summarizers and the judge"
        );
        judged
    }

    /// `laundromat` with `key` in the destination's variable, and no other.
    pub(crate) fn command(&self, key: &str) -> assert_cmd::Command {
        let mut command = environment(key);
        for other in ALL.iter().filter(|other| other.key_env != self.key_env) {
            command.env_remove(other.key_env);
        }
        command
    }

    /// `run` of the experiment at `path` into `out`.
    pub(crate) fn run(&self, key: &str, path: &Path, out: &Path) -> Output {
        let mut command = self.command(key);
        command.arg("run").arg(path).args(["--date", "2026-03-04", "--out"]).arg(out);
        command.output().expect("it runs")
    }
}

/// `laundromat` with `key` in the variables of all destinations, and in no other profile's.
pub(crate) fn environment(key: &str) -> assert_cmd::Command {
    let mut command = laundromat();
    for name in laundromat_provider::Profile::all().iter().flat_map(|profile| &profile.keys) {
        command.env_remove(&name.env);
    }
    for destination in ALL {
        command.env(destination.key_env, key);
    }
    command.env("OPENAI_API_VERSION", "2026-03-01").env("CODEX_ACCOUNT_ID", "acct-5a1e");
    command
}
