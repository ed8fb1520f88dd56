//! How much goes to a provider at once, and how fast. Each account (an address and a key variable)
//! has one [`Limiter`]; what it knows are two pure machines and a pause:
//!
//! * [`window`]: calls in flight, grown by success and shrunk by 429;
//! * [`bucket`]: requests and tokens a minute;
//! * [`headers`]: a provider's own word that nothing is left for now.
//!
//! The machines are told the time and never ask for it, so that they are tested without a clock.
//! `governor` was looked at for the buckets: its cells cannot be given back when a reply used less than was
//! estimated, nor taken when it used more, which is what a tokens-a-minute limit needs.

pub mod bucket;
pub mod headers;
pub mod limiter;
pub mod window;

pub use limiter::{Ended, Limiter, Pace, Permit};
