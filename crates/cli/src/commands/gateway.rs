//! `gateway`: answers whatever agent is pointed at it, and shows what it asked.

use std::path::Path;

use laundromat_import::Input;
use laundromat_injector::Specimen;
use laundromat_provider::model::READER;
use laundromat_provider::{Cap, Model};
use laundromat_runner::exec::alone::{self, Alone, AloneEvent};
use laundromat_runner::exec::{Planted, protocol};
use laundromat_runner::experiment::Limits;
use laundromat_runner::experiment::lone::LoneModel;
use laundromat_runner::{Experiment, RunError};
use laundromat_session::canonical;
use laundromat_session::fault::{Fault, Place, choose_remedy};
use serde_json::Value;

use crate::args::Gateway;
use crate::commands::load;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

pub(crate) fn run(args: &Gateway) -> Result<ExitCode, CliError> {
    let (model, limits, seed) = answering(args)?;
    let planted = match (&args.session, &args.plant) {
        (Some(session), Some(attack)) => {
            let specimen = load::specimen(session, attack, args.seed.unwrap_or(seed))?;
            write_specimen(&args.out, &specimen)?;
            Some(Planted::of(&specimen))
        }
        _ => None,
    };
    let alone = Alone { model, limits, planted, folder: args.out.clone(), port: args.port };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let stop = async {
        // Without a handler for it an interrupt ends the process anyway.
        let _ = tokio::signal::ctrl_c().await;
    };
    runtime.block_on(alone::serve(alone, stop, |event| show(&event)))?;
    note("the gateway is closed");
    Ok(ExitCode::Pass)
}

fn show(event: &AloneEvent) {
    match event {
        AloneEvent::Open { base_url, token } => {
            line(&format!("base URL                {base_url}"));
            line(&format!("key                     {token}"));
            line(&format!("OPENAI_BASE_URL         {base_url}/v1"));
            line(&format!("ANTHROPIC_BASE_URL      {base_url}"));
            line(&format!("GOOGLE_GEMINI_BASE_URL  {base_url}"));
            note("interrupt to close it");
        }
        AloneEvent::Caught(caught) => {
            let (shape, messages, chars) = (caught.shape, caught.messages, caught.chars);
            let file = caught.file.display();
            let outcome = caught.outcome;
            line(&format!("{file}: {shape}, {messages} messages, {chars} characters, {outcome}; {}", caught.plant()));
        }
    }
}

/// Who answers, how long to wait, and the seed of plants.
fn answering(args: &Gateway) -> Result<(Model, Limits, u64), CliError> {
    let Some(path) = &args.experiment else {
        return Ok((lone(args)?, Limits::default(), 1));
    };
    let text = Input::file(path).text()?;
    let faulty = |faults| CliError::Run(RunError::Faults { path: path.clone(), faults });
    let experiment = Experiment::parse(&text).map_err(faulty)?;
    let wanted = args.summarizer.as_deref().unwrap_or(&experiment.summarizers[0].name);
    let found = experiment.summarizers.iter().find(|summarizer| summarizer.name == wanted);
    let Some(summarizer) = found else {
        let names: Vec<&str> = experiment.summarizers.iter().map(|summarizer| summarizer.name.as_str()).collect();
        let problem = format!("there is no summarizer \"{}\"", wanted.escape_debug());
        return Err(faulty(vec![Fault::new(Place::of_path("summarizers"), problem, choose_remedy(wanted, &names))]));
    };
    if experiment.cap != Cap::default() {
        let problem = "a gateway keeps no budget".to_owned();
        let remedy = "leave [budget] out of the experiment that it is given, or run an exec arm, which keeps one";
        return Err(faulty(vec![Fault::new(Place::of_path("budget"), problem, remedy)]));
    }
    if summarizer.model.is_builtin() {
        note(&format!("{READER} answers: it needs no key and is no language model"));
    }
    Ok((summarizer.model.clone(), experiment.limits, experiment.seed))
}

/// The model that the arguments name; without one the built-in reader answers.
fn lone(args: &Gateway) -> Result<Model, CliError> {
    let Some(model) = &args.model else { return Ok(Model::BuiltinReader) };
    let said = LoneModel {
        model,
        base_url: args.to.as_deref(),
        profile: args.profile.as_deref(),
        key_env: args.key_env.as_deref(),
    };
    said.read().map_err(|mut faults| {
        for fault in &mut faults {
            // The arguments are named as the keys of an experiment, but for one.
            let name = fault.place.path.replace("base-url", "to");
            fault.place.path = format!("--{name}");
        }
        CliError::Run(RunError::Faults { path: "gateway".into(), faults })
    })
}

/// Writes the planted session for the agent to load: in the canonical form, and as bare chat messages.
fn write_specimen(folder: &Path, specimen: &Specimen) -> Result<(), CliError> {
    let messages = Value::Array(protocol::messages(&specimen.session));
    let files = [
        ("planted-session.json", canonical::write(&specimen.session)),
        ("planted-messages.json", format!("{messages:#}\n")),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|source| CliError::Run(RunError::Unwritable { path: path.clone(), source }))?;
        line(&format!("planted                 {}", path.display()));
    }
    Ok(())
}
