//! Sessions of one size, made of what the bundled sessions hold, so that they compress and tokenize as real
//! ones do. The same number gives the same bytes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Lengths of tool results in bytes, short and long ones as agents get them; none is over the arms' caps.
const RESULTS: [usize; 5] = [350, 1100, 2200, 3400, 5450];
/// Tool results of a session.
const TURNS: usize = 20;
/// A user speaks before every so many of them: 45 messages in all.
const TURNS_A_USER: usize = 4;

/// The bundled sessions, taken apart.
#[derive(Debug)]
pub(crate) struct Corpus {
    users: Vec<String>,
    /// Assistant texts that go with calls.
    says: Vec<String>,
    /// Names and arguments of calls.
    calls: Vec<Value>,
    /// All tool results, one behind the other, without the lines of untrusted wrappers: a slice could hold
    /// half of one.
    results: String,
}

impl Corpus {
    /// Reads `sessions/*.json` of the repository, in the order of their names.
    pub(crate) fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
        let entries = fs::read_dir(&folder).expect("the bundled sessions");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut corpus = Self { users: Vec::new(), says: Vec::new(), calls: Vec::new(), results: String::new() };
        for file in files {
            let session: Value = serde_json::from_slice(&fs::read(file).expect("a session")).expect("JSON");
            for message in session["messages"].as_array().expect("messages") {
                corpus.take(message);
            }
        }
        corpus
    }

    fn take(&mut self, message: &Value) {
        let text = message["content"].as_str().unwrap_or_default();
        match (message["role"].as_str(), message["tool_calls"].as_array()) {
            (Some("user"), _) if message.get("laundromat").is_none() => self.users.push(text.to_owned()),
            (Some("assistant"), Some(calls)) => {
                self.says.push(text.to_owned());
                self.calls.extend(calls.iter().map(|call| call["function"].clone()));
            }
            (Some("tool"), _) => {
                for line in text.lines().filter(|line| !line.contains("untrusted_tool_result")) {
                    self.results.push_str(line);
                    self.results.push('\n');
                }
            }
            _ => {}
        }
    }

    /// The session with this number: 45 messages, about 60 KB as JSON.
    pub(crate) fn session(&self, number: usize) -> String {
        let mut messages = Vec::new();
        for turn in 0..TURNS {
            // Two primes keep the pairing of texts, calls and results from repeating in step.
            let drawn = number * 7919 + turn * 104_729;
            if turn % TURNS_A_USER == 0 {
                messages.push(json!({"role": "user", "content": of(&self.users, drawn)}));
            }
            let id = format!("call_{number:05}_{turn:02}");
            messages.push(json!({
                "role": "assistant",
                "content": of(&self.says, drawn),
                "tool_calls": [{"id": id, "type": "function", "function": of(&self.calls, drawn)}],
            }));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": self.result(number, turn)}));
        }
        let id = format!("s{number:05}");
        json!({"schema": "laundromat-session/1", "id": id, "messages": messages}).to_string()
    }

    /// A slice of the real results. The slices of a session stand evenly over all of them and never overlap:
    /// text that is there twice would compress too well.
    fn result(&self, number: usize, turn: usize) -> &str {
        let stride = self.results.len() / TURNS;
        let length = RESULTS[turn % RESULTS.len()];
        assert!(length <= stride, "the bundled sessions are too short for slices that do not overlap");
        // Sessions differ in where within its stride each slice begins, and in which stride comes first.
        let within = number * 7919 % (stride - length + 1);
        let begin = (turn + number) % TURNS * stride + within;
        let begin = self.results.floor_char_boundary(begin);
        &self.results[begin..self.results.floor_char_boundary(begin + length)]
    }
}

fn of<T>(items: &[T], drawn: usize) -> &T {
    &items[drawn % items.len()]
}
