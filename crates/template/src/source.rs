//! Where a chat template stands: a file of Jinja, a `tokenizer_config.json`, or the header of a GGUF model.

use std::io::{self, BufRead, Read};

use serde_json::Value;

use crate::gguf::{self, GgufError};

/// Most bytes of a file that is no model.
const MOST: u64 = 16 * 1024 * 1024;

/// A template with the tokens it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Jinja text.
    pub template: String,
    /// What stands before a conversation; empty where that is not known.
    pub bos: String,
    /// What stands behind an answer; empty where that is not known.
    pub eos: String,
}

/// Why a file gives no template.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The model's header is broken.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// It is too long for a template.
    #[error(
        "longer than {MOST} bytes, which no template is; name a template, a tokenizer_config.json or a .gguf model"
    )]
    TooLong,
    /// It is no text.
    #[error("not UTF-8 text; name a template, a tokenizer_config.json or a .gguf model")]
    NoText,
    /// It says nothing of a template.
    #[error("holds no chat template; newer models keep it in chat_template.jinja beside this file")]
    None,
}

impl Source {
    /// Reads a template from what `file` turns out to be.
    ///
    /// # Errors
    /// When there is none in it.
    pub fn read(mut file: impl BufRead) -> Result<Self, SourceError> {
        if file.fill_buf()?.starts_with(gguf::MAGIC) {
            let found = gguf::metadata(file)?;
            return Ok(Self {
                template: found.template.ok_or(SourceError::None)?,
                bos: found.bos.unwrap_or_default(),
                eos: found.eos.unwrap_or_default(),
            });
        }
        let mut bytes = Vec::new();
        file.take(MOST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST {
            return Err(SourceError::TooLong);
        }
        let text = String::from_utf8(bytes).map_err(|_| SourceError::NoText)?;
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(config)) => {
                let template = config.get("chat_template").and_then(template_of).ok_or(SourceError::None)?;
                let token = |key| config.get(key).and_then(token_of).unwrap_or_default().to_owned();
                Ok(Self { template: template.to_owned(), bos: token("bos_token"), eos: token("eos_token") })
            }
            _ if text.trim().is_empty() => Err(SourceError::None),
            _ => Ok(Self { template: text, ..Self::default() }),
        }
    }
}

/// The template itself, or the default one of several.
fn template_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(template) => Some(template),
        Value::Array(several) => {
            let named = several.iter().find(|one| one["name"] == "default").or(several.first())?;
            named["template"].as_str()
        }
        _ => None,
    }
}

/// A token as its text, or as an object that holds it.
fn token_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value["content"].as_str())
}
