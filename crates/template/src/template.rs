//! A model's chat template: Jinja as the tools of the model's makers read it.

use laundromat_session::{Message, MessageRole};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind};
use serde_json::{Value, json};

use crate::source::Source;

/// Steps that a template may take; one that needs more does not end.
const FUEL: u64 = 20_000_000;
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
    environment: Environment<'static>,
    source: Source,
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// When it is no Jinja that is known here.
    pub fn new(source: Source) -> Result<Self, TemplateError> {
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
        environment
            .add_template_owned(NAME, source.template.clone())
            .map_err(|error| TemplateError::Syntax(told(&error)))?;
        Ok(Self { environment, source })
    }

    /// What the model is given for these messages.
    ///
    /// # Errors
    /// When the template refuses them, or fails.
    pub fn render(&self, messages: &[Message]) -> Result<String, TemplateError> {
        let template = self.environment.get_template(NAME).map_err(|error| TemplateError::Failed(told(&error)))?;
        let messages: Vec<Value> = messages.iter().map(as_json).collect();
        let context = json!({
            "messages": messages,
            "add_generation_prompt": true,
            "bos_token": self.source.bos,
            "eos_token": self.source.eos,
        });
        template.render(Serde(context)).map_err(|error| match error.kind() {
            ErrorKind::InvalidOperation => TemplateError::Refused(told(&error)),
            _ => TemplateError::Failed(told(&error)),
        })
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
