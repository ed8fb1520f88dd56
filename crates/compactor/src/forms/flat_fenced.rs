//! `flat-fenced`: flattened turns between reserved delimiters. The turns are looked through first, and
//! where one holds a delimiter nothing is sent: an attack can stop the compaction, not leave the fence.

use laundromat_session::MessageRole;

use super::flat::Written;
use super::form::{Built, Material};
use crate::compactor::Refusal;

pub(super) fn build(from: Material<'_>) -> Result<Built, Refusal> {
    let written = Written::of(from, &from.view.items);
    let sides = from.arm.wrapper.iter().flat_map(|wrapper| [&wrapper.open, &wrapper.close]);
    // Between records stands text of the compactor's own, which holds no delimiter, so looking through
    // the whole block finds what the turns hold, and what they would make together.
    for delimiter in sides.map(|side| side.trim()) {
        let inside = |text: &str| text.contains(delimiter);
        if inside(written.turns()) || from.prose.previous.as_deref().is_some_and(inside) {
            return Err(Refusal::Delimiter { delimiter: delimiter.to_owned() });
        }
    }
    Ok(written.request(MessageRole::User))
}
