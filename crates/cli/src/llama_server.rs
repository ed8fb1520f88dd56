//! A running llama.cpp server, asked what its model would be given: the template in the weights, and the server's own
//! code around it.

use std::time::Duration;

use laundromat_session::Message;
use laundromat_template::{Render, TemplateError, wire};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::error::CliError;

/// How long a rendering may take; the server answers nothing else while it loads its weights.
const PATIENCE: Duration = Duration::from_secs(60);
/// Characters of a refusal that are shown.
const SHOWN: usize = 300;

/// A server by its address.
#[derive(Debug)]
pub(crate) struct Server {
    url: String,
    http: reqwest::Client,
    runtime: Runtime,
}

impl Server {
    /// The server at `url`, with or without the `/v1` of its chat route.
    pub(crate) fn new(url: &str) -> Result<Self, CliError> {
        let base = url.trim_end_matches('/').trim_end_matches("/v1");
        let broken = |error: &dyn std::fmt::Display| CliError::Internal(format!("no client: {error}"));
        // Whoever installed one before has installed the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            url: format!("{base}/apply-template"),
            // It is on this machine or in this house; a proxy would only see the session.
            http: reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().map_err(|error| broken(&error))?,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| broken(&error))?,
        })
    }
}

impl Render for Server {
    fn render(&self, messages: &[Message]) -> Result<String, TemplateError> {
        let body = json!({"messages": wire(messages)}).to_string();
        let request = self.http.post(&self.url).header("content-type", "application/json").body(body);
        let failed = |error: reqwest::Error| {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            TemplateError::Failed(format!("no answer ({why}); start llama.cpp's server and name its address"))
        };
        let (status, answer) = self.runtime.block_on(async {
            let response = request.send().await.map_err(failed)?;
            Ok((response.status(), response.text().await.map_err(failed)?))
        })?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or(Value::String(answer));
        let said = answer["error"]["message"].as_str().map_or_else(|| answer.to_string(), str::to_owned);
        let said: String = said.chars().take(SHOWN).collect();
        match answer["prompt"].as_str() {
            Some(prompt) if status.is_success() => Ok(prompt.to_owned()),
            _ if status.as_u16() == 503 => Err(TemplateError::Failed(format!("not ready yet ({said}); try again"))),
            _ if status.is_success() => {
                Err(TemplateError::Failed(format!("no rendering in the answer ({said}); is it llama.cpp's server?")))
            }
            // An error of the template comes as one of the server: 500.
            _ => Err(TemplateError::Refused(format!("HTTP {}: {said}", status.as_u16()))),
        }
    }
}
