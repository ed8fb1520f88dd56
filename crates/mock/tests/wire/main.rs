//! The mock over a real socket: what it refuses, how it answers, how it fails, what it logs.

// Helpers of tests are no tests to clippy.
#![allow(clippy::unwrap_used)]

mod answers;
mod client;
mod faults;
mod log;
mod program;
mod reading;
mod routes;
mod streams;
mod vectors;
