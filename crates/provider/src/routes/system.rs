//! Instructions, for routes that have a place of their own for them.

use std::borrow::Cow;

use laundromat_session::{Message, MessageRole};

use crate::policy::Policy;

/// All instructions of the conversation, a blank line between them; the policy's where it has none.
pub(super) fn of<'a>(messages: &'a [Message], policy: &'a Policy) -> Option<Cow<'a, str>> {
    let mut texts = messages.iter().filter(|message| message.role == MessageRole::System).map(|it| it.text.as_str());
    let Some(first) = texts.next() else { return policy.default_system.as_deref().map(Cow::Borrowed) };
    let rest: Vec<&str> = texts.collect();
    Some(if rest.is_empty() {
        Cow::Borrowed(first)
    } else {
        Cow::Owned(std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n\n"))
    })
}
