//! The holes of texts in data files, such as `{host}`: what is filled in must be known beforehand,
//! since a hole that nobody fills would be sent as it stands.

/// Each hole and each single brace of `text` that belongs to none of the `holes`, as a problem in words.
pub fn unknown(text: &str, holes: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        rest = &rest[at..];
        if let Some(behind) = holes.iter().find_map(|hole| rest.strip_prefix(hole)) {
            rest = behind;
            continue;
        }
        // A brace is one byte, so the text behind it begins at 1.
        let inner = rest[1..].find(['{', '}', '\n']).filter(|end| rest[1 + end..].starts_with('}'));
        let (problem, end) = match inner {
            Some(end) if rest.starts_with('{') => ("an unknown hole", end + 2),
            _ => ("a stray brace", 1),
        };
        let shown: String =
            rest.chars().take(if end == 1 { 20 } else { rest[..end].chars().count().min(40) }).collect();
        problems.push(format!("{problem} at \"{}\"", shown.escape_debug()));
        rest = &rest[end..];
    }
    problems
}

/// What is wrong with the holes of `text`, which must hold each of `holes` once and no other brace.
pub fn problems(text: &str, holes: &[&str]) -> Vec<String> {
    let counted = holes.iter().filter_map(|hole| match text.matches(hole).count() {
        1 => None,
        0 => Some(format!("the hole {hole} is missing")),
        n => Some(format!("the hole {hole} stands {n} times")),
    });
    counted.chain(unknown(text, holes)).collect()
}

/// The holes as a remedy lists them.
pub fn listed(holes: &[&str]) -> String {
    if holes.is_empty() { "no holes".to_owned() } else { holes.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{listed, problems, unknown};

    #[test]
    fn holes_are_checked() {
        assert!(problems("a {turns} b", &["{turns}"]).is_empty());
        assert_eq!(problems("a", &["{turns}"]), ["the hole {turns} is missing"]);
        assert_eq!(problems("{turns}{turns}", &["{turns}"]), ["the hole {turns} stands 2 times"]);
        assert_eq!(problems("{turns:>5} {turns}", &["{turns}"]), ["an unknown hole at \"{turns:>5}\""]);
        assert_eq!(problems("{turns!r} {turns}", &["{turns}"]), ["an unknown hole at \"{turns!r}\""]);
        assert_eq!(
            problems("{other}", &["{turns}"]),
            ["the hole {turns} is missing", "an unknown hole at \"{other}\""]
        );
    }

    #[test]
    fn every_brace_that_is_no_hole_is_shown() {
        assert!(unknown("{a} and {b}{a}", &["{a}", "{b}"]).is_empty());
        assert!(unknown("plain", &[]).is_empty());
        // Taking the holes out must not make a new one.
        assert_eq!(
            unknown("{ho{host}st}", &["{host}"]),
            ["a stray brace at \"{ho{host}st}\"", "a stray brace at \"}\""]
        );
        assert_eq!(
            unknown("${HOME} {\n} {{host}} ä{", &["{host}"]),
            [
                "an unknown hole at \"{HOME}\"",
                "a stray brace at \"{\\n} {{host}} ä{\"",
                "a stray brace at \"} {{host}} ä{\"",
                "a stray brace at \"{{host}} ä{\"",
                "a stray brace at \"} ä{\"",
                "a stray brace at \"{\"",
            ]
        );
        assert_eq!((listed(&[]), listed(&["{a}", "{b}"])), ("no holes".to_owned(), "{a}, {b}".to_owned()));
    }
}
