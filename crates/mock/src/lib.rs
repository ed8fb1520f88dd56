//! A strict provider on 127.0.0.1 for end-to-end tests, demos and benchmarks: it speaks every route that is sent to,
//! refuses what real servers refuse, and answers as a summarizer or as a judge by a script.
//!
//! # Routes
//!
//! | [`Route`] | paths | key | profiles |
//! | --- | --- | --- | --- |
//! | `chat` | `/v1/chat/completions`, also below `/openai` and `/api`; under DeepSeek's profiles without `/v1` too | `Authorization: Bearer` | all that [`profile::NAMES`] has for chat |
//! | `azure` | `/openai/deployments/M/chat/completions?api-version=V` | `api-key`, or Bearer | the same |
//! | `responses` | `/v1/responses`, `/openai/v1/responses` | Bearer | `openai`, `openai-reasoning` |
//! | `codex` | `/backend-api/codex/responses`, streams only | Bearer and `chatgpt-account-id` | `codex-backend` |
//! | `anthropic` | `/v1/messages` | `x-api-key`, else Bearer; `anthropic-version` | `anthropic`, `anthropic-prefill`, `gateway-stub-tools` |
//! | `gemini` | `/v1beta/models/M:generateContent`, `:streamGenerateContent?alt=sse`; also below `v1` and a Vertex project | `x-goog-api-key`, or Bearer | `gemini-2x`, `gemini-3x` |
//! | `converse` | `/model/M/converse` | Bearer, or a signature, which is not checked | `converse` |
//!
//! All are served at once, under one accepted key. The script's one profile holds on the routes that it has rules
//! for; the others have their plain one. Models are listed at `/v1/models` (in the form of whoever's headers the
//! client sends) and `/v1beta/models`. [`Mock::root_url`] is the base for all paths, [`Mock::base_url`] the one of
//! OpenAI clients. A refusal names its rule in the header `x-mock-rule`.
//!
//! # Scripts
//!
//! A script says how requests are answered, built in code or read from a file whose keys [`script`] shows. What is
//! asked is read alike on every route: the [`Form`] of the input, who said what (a typed block is never the user's
//! word, wherever it lies), and whether a summary or a verdict is wanted. What a summary states is drawn from (seed,
//! `X-Client-Request-Id`), so the same key is laundered on each route or on none. Usage is four characters a token.
//!
//! A [`FaultKind`] fails on each route as that route's provider does:
//!
//! | fault | chat, azure | responses, codex | anthropic | gemini | converse |
//! | --- | --- | --- | --- | --- | --- |
//! | `truncated` | `length` | incomplete: `max_output_tokens` | `max_tokens` | `MAX_TOKENS` | `max_tokens` |
//! | `refused` | `message.refusal` | a `refusal` part | `refusal` | `promptFeedback` | `guardrail_intervened` |
//! | `content-filter` | `content_filter`; on azure 400 | incomplete: `content_filter` | `refusal` | `SAFETY` | `content_filtered` |
//! | `filtered-text` | `content_filter` | incomplete: `content_filter` | `refusal` | `SAFETY` | `content_filtered` |
//! | `tool-call` | `tool_calls` | a `function_call` item | `tool_use` | a `functionCall` part, `STOP` | `tool_use` |
//! | `unknown-finish` | null | incomplete: `unlisted_reason` | `unlisted_reason` | `FINISH_REASON_UNSPECIFIED` | `unlisted_reason` |
//! | `late-error`, whole | an error object in a 200 | status `failed` | an error object in a 200 | an error object in a 200 | 424 |
//! | `late-error`, stream | a chunk with `error` | `response.failed` | event `error` | a chunk with `error` | - |
//! | `rate-limit` | 429 | 429 | 429 | 429, `RetryInfo` | 429 `ThrottlingException` |
//! | `quota` | 429 `insufficient_quota` | the same; codex `usage_limit_reached` | 429, `details.error_code` | 429, `quotaId` per day | 400 `ServiceQuotaExceededException` |
//! | `overloaded` | 503 | 503 | 529 | 503 | 503 |
//! | `timeout` | 504 | 504 | 504 | 504 | 408 |
//! | `too-large` | 413 | 413 | 413 | 400 | 413 |
//! | `context-overflow` | 400, in the profile's words | 400 | 400 | 400 | 400 |
//!
//! `empty`, `reasoning-only` and `refusal-text` are normal stops. `drop`, `hang` and `drop-mid-body` end the
//! connection; `early-end` closes a body in good order before its end (a stream then lacks its end marker);
//! `malformed` is no JSON, in a stream its first event.
//!
//! # Where things are
//!
//! * [`route`]: what a path leads to; [`profile`]: whose rules; [`rules`]: one file a route; [`violation`] and
//!   `envelope`: a refusal, and each provider's error body;
//! * [`script`] and [`fault`]: how it answers and how it fails; [`draw`]: chance as a hash of the call's key, so that
//!   arrival order decides nothing;
//! * `request`: who says what, one file a route; `summarizer`, `judge`: the answer's text; `answer`: its shape, whole
//!   and as events, one file a route; `failure`: what takes an answer's place; `models`: the lists;
//! * `decide`: one request in, one `plan` out; `server`, `sse` and `wire`: the plan on a socket;
//! * [`log`]: every call, in memory and as JSON lines; [`mock`]: the handle that tests hold.
//!
//! Its rules are its own. It shares no code with the sender, whose validator it is there to check: another profile
//! is one row of [`profile::NAMES`] and the arms of [`rules`] that it differs in, another fault one variant of
//! [`FaultKind`] and one arm of `failure` or `answer`, another route one variant of [`Route`] and one file each below
//! `rules`, `request` and `answer`.

mod answer;
mod decide;
mod envelope;
mod failure;
mod judge;
mod models;
mod plan;
mod request;
mod server;
mod sse;
mod summarizer;
mod wire;

pub mod draw;
pub mod error;
pub mod fault;
pub mod log;
pub mod mock;
pub mod profile;
pub mod route;
pub mod rules;
pub mod script;
pub mod violation;

pub use error::MockError;
pub use fault::{AppliesTo, Fault, FaultKind, Retry, When};
pub use log::LoggedCall;
pub use mock::{Listen, Mock};
pub use profile::{Dialect, Profile, Version};
pub use request::{Form, Purpose};
pub use route::Route;
pub use script::{Bodies, JudgeScript, Launder, Script, Verdict};
pub use violation::Violation;
