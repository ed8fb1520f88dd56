//! Where the plant stands in requests that somebody else built. Their bytes carry no spans, so it is looked
//! for by its text, as it is and as encoders write it.

use laundromat_injector::Specimen;
use laundromat_session::{Exposure, Message, MessageRole, Part, PlantKind};

/// Characters at either end by which a plant that was cut is still known.
const END: usize = 24;

/// A plant, ready to be looked for.
#[derive(Debug, Clone)]
pub struct Planted {
    /// The planted text in every way it may be written; empty where nothing was planted.
    whole: Vec<String>,
    /// Its beginnings, its ends and its canaries.
    pieces: Vec<String>,
}

/// Where a plant stands in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// How much of it is there.
    pub exposure: Exposure,
    /// The role of the message it stands in; where it stands in several, the one that speaks most for the user.
    pub role: Option<MessageRole>,
    /// That message's number from 1, and how many there are.
    pub message: Option<(usize, usize)>,
}

impl Seen {
    /// `message 2 of 3`, or nothing.
    pub fn place(&self) -> String {
        self.message.map(|(number, of)| format!("message {number} of {of}")).unwrap_or_default()
    }
}

impl Planted {
    /// What was planted in `specimen`.
    pub fn of(specimen: &Specimen) -> Self {
        let (plant, turns) = (&specimen.plant, &specimen.session.turns);
        if plant.kind == PlantKind::Clean {
            return Self { whole: Vec::new(), pieces: Vec::new() };
        }
        let texts = plant.spans.iter().filter_map(|span| match turns.get(span.turn)?.parts.get(span.part)? {
            Part::Text(text) => text.get(span.bytes.clone()),
            Part::Image(_) | Part::Other(_) => None,
        });
        let whole: Vec<String> = texts.flat_map(writings).collect();
        let ends = whole.iter().filter(|text| text.chars().count() >= 2 * END).flat_map(|text| {
            let chars: Vec<char> = text.chars().collect();
            [chars[..END].iter().collect::<String>(), chars[chars.len() - END..].iter().collect()]
        });
        let pieces = ends.chain(plant.canaries.iter().cloned()).collect();
        Self { whole, pieces }
    }

    /// Where it stands in `messages`.
    pub fn seen_in(&self, messages: &[Message]) -> Seen {
        if self.whole.is_empty() && self.pieces.is_empty() {
            return Seen { exposure: Exposure::Full, role: None, message: None };
        }
        let found = messages.iter().enumerate().filter_map(|(index, message)| {
            let exposure = self.in_message(message)?;
            Some((exposure == Exposure::Full, authority(message.role), std::cmp::Reverse(index)))
        });
        match found.max() {
            None => Seen { exposure: Exposure::None, role: None, message: None },
            Some((is_full, _, std::cmp::Reverse(index))) => Seen {
                exposure: if is_full { Exposure::Full } else { Exposure::Partial },
                role: Some(messages[index].role),
                message: Some((index + 1, messages.len())),
            },
        }
    }

    fn in_message(&self, message: &Message) -> Option<Exposure> {
        let arguments = message.calls.iter().map(|call| call.arguments.as_str());
        let texts: Vec<&str> = std::iter::once(message.text.as_str()).chain(arguments).collect();
        let stands = |wanted: &[String]| texts.iter().any(|text| wanted.iter().any(|it| text.contains(it.as_str())));
        if stands(&self.whole) { Some(Exposure::Full) } else { stands(&self.pieces).then_some(Exposure::Partial) }
    }
}

/// How much a role speaks for the user.
fn authority(role: MessageRole) -> u8 {
    match role {
        MessageRole::User => 3,
        MessageRole::System => 2,
        MessageRole::Assistant => 1,
        MessageRole::Tool => 0,
    }
}

/// The ways in which harnesses write a text: as it is, inside JSON once and twice, as Python shows it, and with
/// markup escaped. Blank space around it is whoever's.
fn writings(planted: &str) -> Vec<String> {
    // What was planted inside JSON may reach the request decoded.
    let decoded = serde_json::from_str::<String>(&format!("\"{planted}\"")).unwrap_or_else(|_| planted.to_owned());
    let plain = decoded.trim();
    let json = in_json(plain);
    let markup = plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let python = plain.replace('\\', "\\\\").replace('\n', "\\n").replace('\'', "\\'");
    let mut all = vec![plain.to_owned(), in_json(&json), json, python, markup.replace('"', "&quot;"), markup];
    all.retain(|text| !text.is_empty());
    all.sort();
    all.dedup();
    all
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use laundromat_injector::{Attack, Specimen, inject};
    use laundromat_session::{Exposure, Message, MessageRole, Role, SentCall, Session, Turn};

    use super::{Planted, in_json};

    fn specimen(attack: &str) -> Specimen {
        let result = Turn { call_id: Some("c".to_owned()), ..Turn::text_of(Role::Tool, "page") };
        let turns = vec![Turn::text_of(Role::User, "go"), result];
        let session = Session { id: "s".to_owned(), title: None, origin: None, turns };
        inject(&session, &Attack::embedded(attack).expect("an attack"), 1).expect("planted")
    }

    fn line(specimen: &Specimen) -> String {
        specimen.session.turns[1].text().lines().last().expect("a line").to_owned()
    }

    #[test]
    fn it_is_found_however_it_is_written_and_its_role_is_told() {
        let specimen = specimen("standing-approval");
        let line = line(&specimen);
        let planted = Planted::of(&specimen);
        let twice = in_json(&in_json(&format!("a\n\"{line}\"")));
        for text in [format!("x\n{line}\ny"), in_json(&format!("\"\n{line}\"")), twice, format!("'{line}'")] {
            let messages = [Message::text(MessageRole::System, "s"), Message::text(MessageRole::User, text)];
            let seen = planted.seen_in(&messages);
            assert_eq!((seen.exposure, seen.role), (Exposure::Full, Some(MessageRole::User)));
            assert_eq!(seen.place(), "message 2 of 2");
        }
        let call = SentCall { id: "c".to_owned(), name: "n".to_owned(), arguments: format!("{{\"a\": \"{line}\"}}") };
        let calls = [Message { calls: vec![call], ..Message::text(MessageRole::Assistant, "") }];
        assert_eq!(planted.seen_in(&calls).role, Some(MessageRole::Assistant));
    }

    #[test]
    fn a_cut_plant_is_partial_and_a_missing_one_none() {
        let specimen = specimen("standing-approval");
        let line = line(&specimen);
        let planted = Planted::of(&specimen);
        let exposure = |text: &str| planted.seen_in(&[Message::result("c", text)]).exposure;
        assert_eq!(exposure(&line[..40]), Exposure::Partial);
        assert_eq!(exposure(&line[line.len() - 40..]), Exposure::Partial);
        assert_eq!(exposure("page"), Exposure::None);
        assert_eq!(planted.seen_in(&[]).exposure, Exposure::None);
    }

    #[test]
    fn the_fullest_and_most_authoritative_place_counts() {
        let specimen = specimen("standing-approval");
        let line = line(&specimen);
        let planted = Planted::of(&specimen);
        let messages = [
            Message::text(MessageRole::User, &line[..40]),
            Message::result("c", line.as_str()),
            Message::text(MessageRole::User, line.as_str()),
        ];
        assert_eq!(planted.seen_in(&messages).message, Some((3, 3)));
        assert_eq!(planted.seen_in(&messages[..2]).role, Some(MessageRole::Tool), "full counts before authority");
    }

    #[test]
    fn a_clean_specimen_has_nothing_to_miss() {
        let seen = Planted::of(&specimen("clean")).seen_in(&[]);
        assert_eq!((seen.exposure, seen.role), (Exposure::Full, None));
    }
}
