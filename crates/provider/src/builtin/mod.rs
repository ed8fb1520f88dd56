//! Models that are programs: deterministic, free, and no language models.

pub mod reader;
