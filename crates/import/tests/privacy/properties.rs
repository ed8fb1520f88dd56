//! What holds for every session: JSON stays JSON, pairs stay pairs, who is who survives, and what is private
//! already stays as it is.

use std::collections::BTreeMap;

use laundromat_import::{Privacy, Salt};
use laundromat_session::{Call, Counts, Role, Session, Turn};
use proptest::prelude::*;

use crate::random::Random;
use crate::secrets;

fn privacy() -> Privacy {
    Privacy::new(None, Salt::of(b"test")).expect("rules")
}

/// Pieces that anchors, secrets and escapes are made of, mixed with anything.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        (0..60_u64, 0..60_usize).prop_map(|(seed, which)| {
            let all = secrets::all(&mut Random::new(seed, "properties"));
            all[which % all.len()].text.clone()
        }),
        prop::sample::select(vec![
            "@",
            "\\n",
            "\\\\",
            "\"",
            "://",
            "/home/",
            "/Users/",
            "\\Users\\",
            ".internal",
            "-----BEGIN PRIVATE KEY-----",
            "password=",
            "token: ",
            "Bearer ",
            "Basic ",
            "+1",
            "sk-",
            "eyJ",
            "\u{e9}",
            "\u{1F600}",
            "{",
            "[",
            "}",
            "]",
            ",",
            ":",
            "\u{0}",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf =
        prop_oneof![any::<bool>().prop_map(Into::into), any::<i64>().prop_map(Into::into), text().prop_map(Into::into)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(prop_oneof![text(), Just("password".to_owned())], inner, 0..4)
                .prop_map(|map: BTreeMap<_, _>| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// The form of a value: everything but its strings.
fn form(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(_) => "s".to_owned(),
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(form).collect::<Vec<_>>().join(",")),
        serde_json::Value::Object(map) => format!("{{{}}}", map.values().map(form).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_stops_it(text in text()) {
        let (redacted, redactions) = privacy().redact_text(&text);
        prop_assert_eq!(redactions.total() == 0, redacted == text);
    }

    #[test]
    fn arguments_stay_json_of_the_same_form(value in json()) {
        let arguments = value.to_string();
        let call = Call { id: "c".to_owned(), name: "f".to_owned(), arguments };
        let turn = Turn { calls: vec![call], ..Turn::text_of(Role::Assistant, "") };
        let session = Session { id: "s".to_owned(), title: None, origin: None, turns: vec![turn] };
        let (session, _) = privacy().redact(session);
        let after: serde_json::Value = serde_json::from_str(&session.turns[0].calls[0].arguments).expect("JSON");
        prop_assert!(form(&after).len() <= form(&value).len(), "keys may fall together, and nothing else");
    }
}

/// A session in which one person, key and host come again and again.
fn session() -> Session {
    let call =
        |id: &str, arguments: &str| Call { id: id.to_owned(), name: "run".to_owned(), arguments: arguments.to_owned() };
    let result = |id: &str, text: &str| Turn { call_id: Some(id.to_owned()), ..Turn::text_of(Role::Tool, text) };
    let mut turns = vec![
        Turn::text_of(
            Role::User,
            "Mail anna@acme.io, or use /home/anna/notes. Export API_KEY=9f86d081884c7d659a2feaa0c55ad015.",
        ),
        Turn {
            calls: vec![
                call("anna@acme.io-1", r#"{"to": "anna@acme.io", "n": 1.50, "headers": {"password": "x9Kq2LmP7"}}"#),
                call("2", r#"{"cmd": "cat /home/anna/notes\nanna@acme.io", "k":  "9f86d081884c7d659a2feaa0c55ad015"}"#),
            ],
            ..Turn::text_of(Role::Assistant, "On it.")
        },
        result("anna@acme.io-1", "sent to Anna@acme.io"),
        result("2", "9f86d081884c7d659a2feaa0c55ad015 is the key of bob@acme.io"),
    ];
    turns[1].reasoning = Some("anna@acme.io again".to_owned());
    Session { id: "anna-acme".to_owned(), title: Some("For anna@acme.io".to_owned()), origin: None, turns }
}

#[test]
fn who_is_who_survives() {
    let before = session();
    let (after, redactions) = privacy().redact(before.clone());
    assert_eq!(Counts::of(&after), Counts::of(&before), "pairs stay pairs");
    let mail = after.title.as_deref().and_then(|title| title.strip_prefix("For ")).expect("a title").to_owned();
    assert!(mail.starts_with("user-") && mail.ends_with("@redacted.invalid"));
    assert!(after.turns[0].text().contains(&mail));
    assert_eq!(after.turns[2].text(), format!("sent to {mail}"), "the same in any case of letters");
    assert_eq!(after.turns[1].reasoning, Some(format!("{mail} again")));
    assert!(after.turns[1].calls[0].arguments.starts_with(&format!("{{\"to\": \"{mail}\", \"n\": 1.50, ")));
    assert!(
        !after.turns[3].text().contains(&mail) && after.turns[3].text().contains("@redacted.invalid"),
        "others are others"
    );
    // The key is marked in one place only, and gone from all.
    let written = laundromat_session::canonical::write(&after);
    for gone in ["9f86d081", "anna", "Anna", "x9Kq2LmP7", "bob"] {
        assert!(
            !written.contains(gone)
                || gone == "anna" && after.id == "anna-acme" && written.matches("anna").count() == 1,
            "{gone}: {written}"
        );
    }
    let counts: Vec<(&str, usize)> = redactions.0.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(counts, [("email", 9), ("home-path", 2), ("secret", 4)]);
}

#[test]
fn what_is_private_already_stays() {
    let privacy = privacy();
    for seed in 0..40 {
        for sample in secrets::all(&mut Random::new(seed, "again")) {
            let (once, _) = privacy.redact_text(&sample.text);
            assert_eq!(privacy.redact_text(&once).0, once, "{}", sample.text);
        }
    }
}

#[test]
fn pseudonyms_of_two_salts_have_nothing_in_common() {
    let (one, _) = privacy().redact(session());
    let other = Privacy::new(None, Salt::of(b"other")).expect("rules");
    let (two, _) = other.redact(session());
    assert_eq!(privacy().redact(session()).0, one);
    assert_ne!(one.title, two.title);
}

#[test]
fn rules_of_a_file_are_added() {
    let extra = "[[rules]]\nid = \"ticket\"\nkind = \"ticket\"\nregex = 'ACME-[0-9]{4}'\nkeywords = [\"acme-\"]\n";
    let privacy = Privacy::new(Some(extra), Salt::of(b"test")).expect("rules");
    let (text, redactions) = privacy.redact_text("see ACME-1234 and ACME-12345");
    assert!(text.starts_with("see [ticket-") && text.ends_with(" and ACME-12345"), "{text}");
    assert_eq!(redactions.0["ticket"], 1);
}
