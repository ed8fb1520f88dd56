//! `flat-system`: the flattened turns stand inside the system prompt; the user message only asks.

use laundromat_session::{Message, MessageRole};

use super::flat::Written;
use super::form::{Built, Material};

pub(super) fn build(from: Material<'_>) -> Built {
    let mut built = Written::of(from, &from.view.items).request(MessageRole::System);
    built.request.messages.push(Message::text(MessageRole::User, from.arm.pointer.clone().unwrap_or_default()));
    built
}
