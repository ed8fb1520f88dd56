//! The bytes of a file as text: where they are none, the fault says at which place.

use crate::fault::{Fault, Place};

/// `bytes` as text.
///
/// # Errors
/// The first byte that is not UTF-8, with its line and column.
pub fn text(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let before = String::from_utf8_lossy(&bytes[..at]);
        Fault::new(
            Place::of_byte(&before, before.len(), ""),
            format!("not UTF-8 text: byte {} of the file is 0x{:02X}", at + 1, bytes.get(at).unwrap_or(&0)),
            "save the file as UTF-8",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_first_bad_byte_is_named() {
        assert_eq!(text("ä\n".into()), Ok("ä\n".to_owned()));
        let fault = text(b"a = 1\n\xC3\xA4 = \"\xE9\"\n".to_vec()).expect_err("Latin-1");
        assert_eq!(fault.to_string(), "2:6: not UTF-8 text: byte 13 of the file is 0xE9; save the file as UTF-8");
    }
}
