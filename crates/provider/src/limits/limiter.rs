//! One account's limits, shared by all its calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::limits::bucket::Bucket;
use crate::limits::window::{Sent, Window};

/// How much and how fast, as the user says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Most calls in flight at one account.
    pub concurrency: u32,
    /// Most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute, input and output together.
    pub tokens_per_minute: Option<u32>,
}

/// How an attempt ended, as far as limits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With a reply that used so many tokens, where the provider said so.
    Answered(Option<u64>),
    /// Refused as one too many.
    RateLimited,
    /// The server failed or was overloaded.
    Overloaded,
    /// In a way that says nothing about limits.
    Otherwise,
}

/// The limits of one account.
#[derive(Debug)]
pub struct Limiter {
    state: Mutex<State>,
    /// First come, first served: only who holds this waits for the state to change.
    turn: tokio::sync::Mutex<()>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    window: Window,
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    paused: Option<Instant>,
}

/// What the next call has to wait for.
enum Turn {
    Now(Sent),
    At(Instant),
    WhenOneEnds,
}

impl State {
    fn try_send(&mut self, tokens: u64, now: Instant) -> Turn {
        if let Some(until) = self.paused.filter(|until| *until > now) {
            return Turn::At(until);
        }
        if !self.window.has_room() {
            return Turn::WhenOneEnds;
        }
        let mut wait = Duration::ZERO;
        for (bucket, units) in [(&mut self.requests, 1), (&mut self.tokens, tokens)] {
            wait = wait.max(bucket.as_mut().map_or(Duration::ZERO, |bucket| bucket.wait(units, now)));
        }
        if !wait.is_zero() {
            return Turn::At(now + wait);
        }
        for (bucket, units) in [(&mut self.requests, 1), (&mut self.tokens, tokens)] {
            if let Some(bucket) = bucket {
                bucket.take(units);
            }
        }
        Turn::Now(self.window.send())
    }
}

impl Limiter {
    /// Limits of an account that nothing was sent to yet.
    pub fn new(pace: Pace) -> Self {
        let now = Instant::now();
        let bucket = |limit: Option<u32>| limit.map(|limit| Bucket::new(limit, now));
        let state = State {
            window: Window::new(pace.concurrency),
            requests: bucket(pace.requests_per_minute),
            tokens: bucket(pace.tokens_per_minute),
            paused: None,
        };
        Self { state: Mutex::new(state), turn: tokio::sync::Mutex::new(()), changed: Notify::new() }
    }

    /// Waits until a request of about `tokens` may be sent.
    pub async fn permit(self: &Arc<Self>, tokens: u64) -> Permit {
        let _turn = self.turn.lock().await;
        loop {
            // The lock is not held across the wait.
            let turn = self.state().try_send(tokens, Instant::now());
            match turn {
                Turn::Now(sent) => return Permit { limiter: Arc::clone(self), sent: Some(sent), tokens },
                Turn::At(until) => {
                    let until = tokio::time::Instant::from_std(until);
                    tokio::select! {
                        () = tokio::time::sleep_until(until) => {}
                        // A correction may have made room earlier.
                        () = self.changed.notified() => {}
                    }
                }
                Turn::WhenOneEnds => self.changed.notified().await,
            }
        }
    }

    /// Sends nothing for `pause` from now on.
    pub fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut state = self.state();
        state.paused = Some(state.paused.map_or(until, |paused| paused.max(until)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, sent: Sent, tokens: u64, ended: Ended) {
        let mut state = self.state();
        match ended {
            Ended::Answered(used) => {
                if let (Some(bucket), Some(used)) = (&mut state.tokens, used) {
                    bucket.correct(tokens, used);
                }
                state.window.succeeded(sent);
            }
            Ended::RateLimited => state.window.refused(sent),
            Ended::Overloaded => state.window.overloaded(sent),
            Ended::Otherwise => state.window.left(),
        }
        // Who was refused has used nothing.
        if matches!(ended, Ended::RateLimited | Ended::Overloaded)
            && let Some(bucket) = &mut state.tokens
        {
            bucket.correct(tokens, 0);
        }
        drop(state);
        self.changed.notify_one();
    }
}

/// Leave to send one request. Dropped without a word, its place is given back.
#[derive(Debug)]
pub struct Permit {
    limiter: Arc<Limiter>,
    sent: Option<Sent>,
    tokens: u64,
}

impl Permit {
    /// Says how the attempt ended.
    pub fn end(mut self, ended: Ended) {
        if let Some(sent) = self.sent.take() {
            self.limiter.end(sent, self.tokens, ended);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.limiter.end(sent, self.tokens, Ended::Otherwise);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::{Ended, Limiter, Pace, State, Turn};
    use crate::limits::bucket::Bucket;
    use crate::limits::window::Window;

    fn pace(concurrency: u32) -> Pace {
        Pace { concurrency, requests_per_minute: None, tokens_per_minute: None }
    }

    #[tokio::test]
    async fn who_waits_is_let_through_when_one_ends() {
        let limiter = Arc::new(Limiter::new(pace(1)));
        let first = limiter.permit(1).await;
        let waiting = tokio::spawn({
            let limiter = Arc::clone(&limiter);
            async move { limiter.permit(1).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.expect("let through").end(Ended::Answered(None));
        assert_eq!(limiter.state().window.in_flight(), 0);
    }

    #[test]
    fn a_pause_and_an_empty_bucket_say_until_when() {
        let now = Instant::now();
        let bucket = |limit| Some(Bucket::new(limit, now));
        let mut state = State { window: Window::new(4), requests: bucket(600), tokens: bucket(600), paused: None };
        assert!(matches!(state.try_send(60, now), Turn::Now(_)));
        let Turn::At(at) = state.try_send(60, now) else { panic!("the tokens are used up") };
        assert!(at > now + Duration::from_secs(5));
        assert!(matches!(state.try_send(60, at + Duration::from_millis(1)), Turn::Now(_)));
        state.paused = Some(at + Duration::from_secs(100));
        assert!(matches!(state.try_send(0, at), Turn::At(until) if until == at + Duration::from_secs(100)));
    }
}
