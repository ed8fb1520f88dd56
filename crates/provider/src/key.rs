//! The key of a call: what makes two calls the same one. Credentials, other headers, timeouts,
//! retries and concurrency are not in it.

/// blake3 over the length-prefixed parts of a call.
pub type CallKey = [u8; 32];

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A summarizer call of a trial.
    Summarize,
    /// A judge call of a trial.
    Judge,
}

impl Purpose {
    /// The identifier used in files and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::Judge => "judge",
        }
    }
}

/// Which of several equal calls this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The trial, so that two trials never share an answer.
    pub trial: &'a str,
    /// Number of the call within the trial, from 0.
    pub ordinal: u32,
}

/// The key of a call to `endpoint` (its URL and API version, or a built-in model's name) with the body of this
/// digest, which stands for its exact bytes and spares hashing them once a repetition.
pub fn call_key(purpose: Purpose, endpoint: &str, body: &[u8; 32], sample: Sample<'_>) -> CallKey {
    let mut hasher = blake3::Hasher::new();
    for part in
        [purpose.id().as_bytes(), endpoint.as_bytes(), body, sample.trial.as_bytes(), &sample.ordinal.to_le_bytes()]
    {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Sample, call_key};

    #[test]
    fn every_part_counts() {
        let (body, other) = ([1; 32], [2; 32]);
        let sample = Sample { trial: "t/1", ordinal: 0 };
        let key = call_key(Purpose::Summarize, "e", &body, sample);
        assert_eq!(key, call_key(Purpose::Summarize, "e", &body, sample));
        assert_ne!(key, call_key(Purpose::Judge, "e", &body, sample));
        assert_ne!(key, call_key(Purpose::Summarize, "f", &body, sample));
        assert_ne!(key, call_key(Purpose::Summarize, "e", &other, sample));
        assert_ne!(key, call_key(Purpose::Summarize, "e", &body, Sample { trial: "t/2", ordinal: 0 }));
        assert_ne!(key, call_key(Purpose::Summarize, "e", &body, Sample { ordinal: 1, ..sample }));
    }
}
