//! Forms: how a view becomes messages. One file each; the choice is made in `form.rs` and nowhere else.

mod clear_only;
mod flat;
mod flat_delta;
mod flat_escaped;
mod flat_fenced;
mod flat_noroles;
mod flat_split;
mod flat_staged;
mod flat_system;
mod flat_user;
mod flat_wrapped;
mod form;
mod static_fallback;
mod tools_dropped;
mod turns;
mod typed;
mod typed_nosys;
mod typed_self;
mod typed_syshead;
mod typed_systail;
mod typed_toolasuser;

pub use flat::{Transcript, block};
pub(crate) use flat_delta::empty_state;
pub use form::{Form, Need, Traits};
pub(crate) use form::{Material, Step};
