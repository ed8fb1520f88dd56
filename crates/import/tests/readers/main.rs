//! The readers, each by fixtures of our own and by published sessions where they are at hand.

mod agents;
mod apis;
mod basics;
mod damage;
mod evaluations;
mod fixture;
mod published;
mod same_session;
