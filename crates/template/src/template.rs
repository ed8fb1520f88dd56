//! A model's chat template: Jinja as the tools of the model's makers read it.
//!
//! Templates come with models from anywhere. One that nests without end, or that works without end, ends with an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use laundromat_session::{Message, MessageRole};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind};
use serde_json::{Value, json};

use crate::source::Source;

/// Steps that a template may take; one that needs more does not end.
const FUEL: u64 = 20_000_000;
/// Most bytes of a template; those of the models that were looked at have 20,000 at most.
const MOST: usize = 64 * 1024;
/// Bytes of stack for reading a template: expressions nest as deeply as [`MOST`] lets them.
const STACK: usize = 512 * 1024 * 1024;
/// Bytes of stack for writing with one.
const WRITER: usize = 16 * 1024 * 1024;
/// How long a template may take for one conversation: not all of its work is counted as steps.
const PATIENCE: Duration = Duration::from_secs(5);
/// The name of the one template.
const NAME: &str = "chat";

/// Why a template wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It is no Jinja that is known here.
    #[error("the template cannot be read: {0}")]
    Syntax(String),
    /// It refuses the messages, as models' templates do with orders they were not trained on.
    #[error("the template refuses these messages: {0}")]
    Refused(String),
    /// It failed.
    #[error("the template failed: {0}")]
    Failed(String),
}

/// A compiled template.
#[derive(Debug)]
pub struct Template {
    environment: Arc<Environment<'static>>,
    source: Source,
    /// It took too long once. Its thread cannot be stopped, so it is given no other.
    endless: AtomicBool,
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// When it is no Jinja that is known here, or too long.
    pub fn new(source: Source) -> Result<Self, TemplateError> {
        if source.template.len() > MOST {
            let problem = format!("it has {} bytes, and at most {MOST} are read", source.template.len());
            return Err(TemplateError::Syntax(problem));
        }
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| TemplateError::Syntax(told(&error)))?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        // Any date: no turn depends on it.
        environment.add_function("strftime_now", |_format: String| "01 Jan 2026".to_owned());
        let text = source.template.clone();
        let read = move || environment.add_template_owned(NAME, text).map(|()| environment);
        let reader = thread::Builder::new().stack_size(STACK).spawn(read);
        let reader = reader.map_err(|error| TemplateError::Failed(format!("no thread to read it in: {error}")))?;
        let environment = reader.join().map_err(|_| TemplateError::Failed("reading it ended in a panic".to_owned()))?;
        let environment = Arc::new(environment.map_err(|error| TemplateError::Syntax(told(&error)))?);
        Ok(Self { environment, source, endless: AtomicBool::new(false) })
    }

    /// What the model is given for these messages.
    ///
    /// # Errors
    /// When the template refuses them, or fails.
    pub fn render(&self, messages: &[Message]) -> Result<String, TemplateError> {
        let too_long = || TemplateError::Failed(format!("it took longer than {} seconds", PATIENCE.as_secs()));
        if self.endless.load(Ordering::Relaxed) {
            return Err(too_long());
        }
        let messages: Vec<Value> = messages.iter().map(as_json).collect();
        let context = json!({
            "messages": messages,
            "add_generation_prompt": true,
            "bos_token": self.source.bos,
            "eos_token": self.source.eos,
        });
        let (environment, (done, answer)) = (Arc::clone(&self.environment), mpsc::channel());
        let write = move || {
            let written = environment.get_template(NAME).and_then(|template| template.render(Serde(context)));
            // Nobody listens any more where it took too long.
            let _ = done.send(written);
        };
        let writer = thread::Builder::new().stack_size(WRITER).spawn(write);
        writer.map_err(|error| TemplateError::Failed(format!("no thread to write in: {error}")))?;
        match answer.recv_timeout(PATIENCE) {
            Ok(written) => written.map_err(|error| match error.kind() {
                ErrorKind::InvalidOperation => TemplateError::Refused(told(&error)),
                _ => TemplateError::Failed(told(&error)),
            }),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.endless.store(true, Ordering::Relaxed);
                Err(too_long())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(TemplateError::Failed("writing with it ended in a panic".to_owned()))
            }
        }
    }
}

fn told(error: &Error) -> String {
    let line = error.line().map(|line| format!(" (line {line})")).unwrap_or_default();
    format!("{}{line}", error.detail().map_or_else(|| error.kind().to_string(), str::to_owned))
}

/// Messages as a server is sent them over the chat route: arguments as text, not as an object.
pub fn wire(messages: &[Message]) -> Value {
    let messages = messages.iter().map(|message| {
        let mut value = as_json(message);
        for (call, sent) in message.calls.iter().enumerate() {
            value["tool_calls"][call]["function"]["arguments"] = json!(sent.arguments);
        }
        value
    });
    messages.collect()
}

/// A message as templates are given it: arguments as an object, not as text.
fn as_json(message: &Message) -> Value {
    let mut value = json!({"role": message.role.as_str(), "content": message.text});
    if !message.calls.is_empty() {
        let calls = message.calls.iter().map(|call| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        });
        value["tool_calls"] = calls.collect();
    }
    if let Some(id) = message.call_id.as_ref().filter(|_| message.role == MessageRole::Tool) {
        value["tool_call_id"] = json!(id);
    }
    value
}
