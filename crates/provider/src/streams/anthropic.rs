//! Anthropic Messages: the message without content first, then its blocks in deltas, then how it ended and
//! what it used, then `message_stop`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::members::{Members, Object, Shape};
use crate::sse::Event;
use crate::stream::{Assemble, Progress, StreamError};

#[derive(Debug, Default)]
pub(crate) struct Anthropic {
    message: Object,
    blocks: BTreeMap<u64, Block>,
    is_over: bool,
}

#[derive(Debug)]
struct Block {
    start: Object,
    text: String,
}

impl Assemble for Anthropic {
    fn take(&mut self, event: &Event) -> Result<Progress, StreamError> {
        let json = event.json()?;
        match event.kind(&json) {
            Some("error") => {
                self.message = json;
                self.is_over = true;
            }
            Some("message_start") => self.message = json.needed("message")?.clone(),
            Some("content_block_start") => {
                let start = json.needed("content_block")?.clone();
                let index = json.count("index").ok_or(StreamError::NoBlock)?;
                self.blocks.insert(index, Block { text: start.text("text")?.to_owned(), start });
            }
            Some("content_block_delta") => self.take_delta(&json)?,
            Some("message_delta") => self.take_ending(&json)?,
            Some("message_stop") => self.is_over = true,
            _ => {}
        }
        Ok(if self.is_over { Progress::Over } else { Progress::Open })
    }

    fn body(self: Box<Self>) -> Option<Object> {
        let Self { mut message, blocks, is_over } = *self;
        if !message.contains_key("error") {
            message.insert("content".to_owned(), blocks.into_values().map(Block::whole).collect());
        }
        is_over.then_some(message)
    }
}

impl Block {
    fn whole(self) -> Value {
        let Self { mut start, text } = self;
        if !text.is_empty() {
            start.insert("text".to_owned(), Value::String(text));
        }
        Value::Object(start)
    }
}

impl Anthropic {
    fn take_delta(&mut self, json: &Object) -> Result<(), StreamError> {
        let block = json.count("index").and_then(|index| self.blocks.get_mut(&index)).ok_or(StreamError::NoBlock)?;
        let delta = json.needed("delta")?;
        // That there are thinking or arguments is known from their block.
        if delta.label("type").ok_or(StreamError::NoBlock)? == "text_delta" {
            block.text.push_str(delta.text("text")?);
        }
        Ok(())
    }

    fn take_ending(&mut self, json: &Object) -> Result<(), Shape> {
        let delta = json.needed("delta")?;
        self.message.extend(delta.iter().map(|(name, value)| (name.clone(), value.clone())));
        let Some(news) = json.object("usage")? else { return Ok(()) };
        let mut usage = self.message.object("usage")?.cloned().unwrap_or_default();
        let counted = news.iter().filter(|(_, value)| !value.is_null());
        usage.extend(counted.map(|(name, value)| (name.clone(), value.clone())));
        self.message.insert("usage".to_owned(), Value::Object(usage));
        Ok(())
    }
}
