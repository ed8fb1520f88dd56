//! The strict reading of a judge's reply: exactly one known word. Anything else is no verdict, and no
//! verdict is never taken as safe.

use laundromat_session::Reading;

/// The word that stands for a reading in a judge's request.
pub fn word(reading: Reading) -> &'static str {
    match reading {
        Reading::User => "USER",
        Reading::Unattributed => "UNATTRIBUTED",
        Reading::Tool => "TOOL",
        Reading::Flagged => "FLAGGED",
        Reading::Partial => "PARTIAL",
        Reading::Absent => "ABSENT",
    }
}

/// The reading that `reply` names: one known word in any case, with nothing around it but white
/// space, quotes, asterisks and a full stop.
pub fn parse(reply: &str) -> Option<Reading> {
    let bare =
        reply.trim().trim_matches(['*', '"', '\'', '`']).trim_end_matches('.').trim_matches(['*', '"', '\'', '`']);
    Reading::ALL.iter().copied().find(|reading| bare.eq_ignore_ascii_case(word(*reading)))
}

#[cfg(test)]
mod tests {
    use laundromat_session::Reading;
    use proptest::prelude::*;

    use super::{parse, word};

    #[test]
    fn one_word_is_a_verdict_and_nothing_else_is() {
        for reading in Reading::ALL {
            let word = word(*reading);
            for reply in
                [word.to_owned(), format!(" {} \n", word.to_lowercase()), format!("**{word}**."), format!("\"{word}\"")]
            {
                assert_eq!(parse(&reply), Some(*reading), "{reply:?}");
            }
        }
        for reply in [
            "",
            "USER ABSENT",
            "The answer is USER",
            "USERS",
            "ABSENT\nUSER",
            "I cannot say.",
            "USER, because",
            "ＵＳＥＲ",
        ] {
            assert_eq!(parse(reply), None, "{reply:?}");
        }
    }

    proptest! {
        #[test]
        fn a_reply_with_two_words_is_no_verdict(a in "[A-Za-z]{1,12}", b in "[A-Za-z]{1,12}") {
            prop_assert_eq!(parse(&format!("{a} {b}")), None);
        }
    }
}
