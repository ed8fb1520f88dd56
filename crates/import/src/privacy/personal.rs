//! What tells who someone is, or where: e-mail addresses, phone numbers, user names in home paths, names
//! of private hosts. Each is looked for around an anchor that the one pass over the text has found.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::boundary::{floor, starts_word};
use super::pseudonym::holds_one;

/// How far an address or name reaches from its anchor at most.
const REACH: usize = 320;

/// Names that the RFCs reserve for documents and tests.
const RESERVED: &[&str] =
    &["example.com", "example.net", "example.org", "example", "test", "invalid", "localhost", "example.edu"];
/// Endings of file names that follow an `@` but are no domains, as in `icon@2x.png`.
const FILE_ENDINGS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "tsx", "json", "css", "html", "whl", "lock", "service",
    "target", "timer",
];
/// Local parts that are nobody.
const NOBODY: &[&str] = &[
    "git",
    "noreply",
    "no-reply",
    "donotreply",
    "do-not-reply",
    "hg",
    "root",
    "user",
    "username",
    "email",
    "your-email",
    "youremail",
    "your.email",
    "name",
    "you",
];
/// Users of machines, not persons.
const MACHINE_USERS: &[&str] = &[
    "user",
    "username",
    "users",
    "you",
    "me",
    "name",
    "root",
    "ubuntu",
    "debian",
    "centos",
    "admin",
    "node",
    "app",
    "runner",
    "vscode",
    "codespace",
    "gitpod",
    "vagrant",
    "ec2-user",
    "linuxbrew",
    "circleci",
    "jovyan",
    "sandbox",
    "agent",
    "openhands",
    "swe-agent",
    "shared",
    "public",
    "default",
    "all",
    "guest",
    "docker",
    "build",
    "builder",
    "jenkins",
    "git",
    "www-data",
    "coder",
    "dev",
    "example",
    "yourname",
    "your-name",
    "your_name",
    "yourusername",
    "your-username",
    "your_username",
    "myuser",
    "someone",
    "runneradmin",
    "containeradministrator",
    "xxx",
    "xxxx",
    "foo",
    "bar",
    "home",
    "test",
    "testuser",
    "postgres",
    "nobody",
    "pi",
    "steam",
    "work",
    "workspace",
    "model",
];
/// Names in code that end like a private host.
const CODE: &[&str] = &[
    "self",
    "this",
    "threading",
    "config",
    "settings",
    "env",
    "module",
    "package",
    "crate",
    "app",
    "std",
    "utils",
    "docker-compose",
    "index",
    "main",
    "build",
    "data",
    "state",
    "cls",
    "super",
    "gevent",
    "asgiref",
    "werkzeug",
    "contextvars",
    "process",
    "window",
    "storage",
    "chrome",
    "browser",
    "is",
    "var",
    "opt",
    "usr",
    "type",
    "scope",
    "import",
    "export",
    "vars",
    "kind",
    "spec",
    "com",
    "org",
    "net",
    "io",
    "dev",
    "pkg",
    "src",
    "lib",
    "core",
    "rc",
    "makefile",
    "compose",
    "values",
    "application",
    "tsconfig",
    "claude",
    "local",
    "internal",
    "private",
    "public",
];
/// Hosts that every machine of a kind has.
const WELL_KNOWN: &[&str] =
    &["host.docker.internal", "gateway.docker.internal", "metadata.google.internal", "kubernetes.docker.internal"];
/// Endings of private names that nothing else has.
const SURE_ENDINGS: &[&str] = &["corp", "lan", "intranet", "localdomain", "home.arpa", "intra"];

static PHONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{1,5}(?:[ .-]?[0-9]{1,5}){1,5}",
        r"|\([2-9][0-9]{2}\)[ .-]?[2-9][0-9]{2}[ .-][0-9]{4}",
        r"|(?:1[ .-])?[2-9][0-9]{2}([ .-])[2-9][0-9]{2}[ .-][0-9]{4}",
    ))
    .ok()
});

/// Phone numbers: international ones with a plus sign, and North American ones with separators.
pub(super) fn phones(text: &str, mut found: impl FnMut(Range<usize>)) {
    let Some(phone) = PHONE.as_ref() else { return };
    for number in phone.find_iter(text) {
        let digits = number.as_str().bytes().filter(u8::is_ascii_digit).count();
        let plain = number.as_str().starts_with('+') && !number.as_str().contains([' ', '.', '-', '(']);
        let enough = if plain { 10..=15 } else { 8..=15 };
        let cobbled = number.as_str().contains('.') && number.as_str().contains(' ');
        if enough.contains(&digits) && !cobbled && stands_alone(text, &number.range(), plain) {
            found(number.range());
        }
    }
}

/// Whether a number is no part of a longer one, of a sum, a version, a date or a difference of two files.
fn stands_alone(text: &str, number: &Range<usize>, plain: bool) -> bool {
    let before = text[..number.start].chars().next_back();
    let starts = match before {
        None => true,
        Some('\n') if plain => false,
        Some(c) if c.is_alphanumeric() => starts_word(text, number.start),
        Some(c) => !"_/$%#+-.@".contains(c),
    };
    let mut after = text[number.end..].chars();
    let ends = match (after.next(), after.next()) {
        (None, _) => true,
        (Some('\n'), Some(_)) if plain && before.is_none() => false,
        (Some(c), _) if c.is_alphanumeric() || "_%@/".contains(c) => false,
        (Some('.' | '-' | ':' | ',' | '+'), Some(c)) => !c.is_ascii_digit(),
        _ => true,
    };
    starts && ends
}

/// The e-mail address around the `@` at `at`.
pub(super) fn email(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let local = |byte: u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(&byte);
    let low = at.saturating_sub(64);
    let mut start = at;
    while start > low && local(bytes[start - 1]) {
        start -= 1;
    }
    // The letter of an escaped line end belongs to the escape.
    if start > 0 && bytes[start - 1] == b'\\' && b"nrtbf".contains(&bytes[start]) {
        start += 1;
    }
    while start < at && b".-%+".contains(&bytes[start]) {
        start += 1;
    }
    let mut end = at + 1;
    while end < bytes.len() && end - at < 255 && (bytes[end].is_ascii_alphanumeric() || b".-".contains(&bytes[end])) {
        end += 1;
    }
    while end > at + 1 && b".-".contains(&bytes[end - 1]) {
        end -= 1;
    }
    // What is put behind an address with a dash, as ids have it, is not of its last label.
    let dot = text[at..end].rfind('.').map_or(at, |dot| at + dot);
    end = text[dot..end].find('-').map_or(end, |dash| dot + dash);
    let (name, domain) = (&text[start..at], text[at + 1..end].to_ascii_lowercase());
    let last = domain.rsplit('.').next()?;
    let is_domain = domain.contains('.')
        && !domain.contains("..")
        && (2..=24).contains(&last.len())
        && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_person = !name.is_empty()
        && !name.ends_with('.')
        && !NOBODY.contains(&name.to_ascii_lowercase().as_str())
        && !is_under(&domain, RESERVED)
        && !FILE_ENDINGS.contains(&last);
    // What follows makes it a path of a package or an address with a port, as `git@host:path`.
    (is_domain && is_person && !holds_one(name) && bytes.get(end) != Some(&b'@')).then_some(start..end)
}

fn is_under(domain: &str, names: &[&str]) -> bool {
    names.iter().any(|name| domain.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The user name behind a folder of home folders that ends at `end`, such as `/home/`, and begins at `start`.
pub(super) fn home(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let anchor = &text[start..end];
    let windows = anchor.contains('\\') || start > 0 && bytes[start - 1] == b':';
    // Users with a small letter are resources of a web service.
    if anchor.starts_with("/users/") && !windows || !at_root(text, start) {
        return None;
    }
    let mut from = end;
    // Separators are doubled in escaped text.
    while bytes.get(from) == Some(&b'\\') {
        from += 1;
    }
    let limit = floor(text, from + 64);
    let stops: &[char] = &[
        '/', '\\', '"', '\'', '`', '<', '>', '|', ':', '*', '?', '\n', '\r', '\t', '$', '{', '}', '(', ')', '[', ']',
        ',', ';', '&', '=',
    ];
    let rest = text.get(from..limit)?;
    let mut name = &rest[..rest.find(stops).unwrap_or(rest.len())];
    // A name with blanks is one only where a separator shows its end.
    let closed = rest[name.len()..].starts_with('\\') && windows;
    if !closed && let Some(blank) = name.find(char::is_whitespace) {
        name = &name[..blank];
    }
    if name.len() == rest.len() && limit < text.len() {
        return None;
    }
    let name = name.trim_end_matches(['.', '!', '\u{2026}']);
    let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let known = MACHINE_USERS.contains(&name.to_ascii_lowercase().as_str()) || holds_one(name);
    (begins && !known && name.len() >= 2 && !is_file(name)).then(|| from..from + name.len())
}

/// Whether a folder at `start` is one of the root, of a drive, or of a mounted drive.
fn at_root(text: &str, start: usize) -> bool {
    if starts_word(text, start) && !text[..start].ends_with(['.', '-', '~', '}', ')', ']']) {
        return true;
    }
    let before = &text[floor(text, start.saturating_sub(8))..start];
    let drive = before.strip_suffix(|c: char| c.is_ascii_alphabetic()).and_then(|rest| rest.strip_suffix('/'));
    let drive = drive.is_some_and(|rest| {
        rest.is_empty() || rest.ends_with("/mnt") || !rest.ends_with(|c: char| c.is_alphanumeric())
    });
    drive
        || before.ends_with(':')
        || before.ends_with("/System/Volumes/Data")
        || before.ends_with("/Data")
        || before.ends_with("/host")
        || before.ends_with("/mnt")
}

/// A page or script in a folder of the name, not a person.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        [
            "html", "htm", "js", "ts", "tsx", "jsx", "vue", "py", "php", "json", "md", "css", "svg", "png", "txt",
            "go", "rs", "rb",
        ]
        .contains(&ending)
    })
}

/// The user name in a path written as one name, such as `-Users-ann-project`; the anchor ends at `end`.
pub(super) fn home_slug(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || "-_.".contains(c)) {
        return None;
    }
    let limit = floor(text, end + 64);
    let rest = &text[end..limit];
    let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
    let known = MACHINE_USERS.contains(&name.to_ascii_lowercase().as_str());
    let goes_on = rest[name.len()..].starts_with('-');
    (goes_on && !known && name.len() >= 2 && name.starts_with(|c: char| c.is_ascii_alphabetic()))
        .then(|| end..end + name.len())
}

/// The name of a private host whose ending stands at `start..end`.
pub(super) fn host(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let mut after = bytes[end..].iter().copied();
    let (next, then) = (after.next(), after.next());
    // The ending is a label of its own, at the end of the name, and not called, indexed or set.
    let goes_on = match (next, then) {
        (Some(b'.'), Some(byte)) => label(byte),
        (Some(b' '), Some(b'=')) => true,
        (Some(byte), _) => label(byte) || b"([={".contains(&byte),
        (None, _) => false,
    };
    let low = start.saturating_sub(REACH);
    let mut from = start;
    while from > low && (label(bytes[from - 1]) || bytes[from - 1] == b'.') {
        from -= 1;
    }
    if from > 0 && bytes[from - 1] == b'\\' && b"nrt".contains(&bytes[from]) {
        from += 1;
    }
    let before = &text[..from];
    // A path, a variable or a file is none.
    let in_path = before.ends_with(['$', '~', '%']) || before.ends_with('/') && !before.ends_with("//");
    if goes_on || in_path || from >= start {
        return None;
    }
    let port = next == Some(b':') && then.is_some_and(|byte| byte.is_ascii_digit());
    let addressed = before.ends_with("//") || before.ends_with('@') || port;
    is_private_host(&text[from..end], addressed).then_some(from..end)
}

/// Whether `name`, which ends like a private host, is one: names in code end so too, where nothing says
/// that it is an address.
fn is_private_host(name: &str, addressed: bool) -> bool {
    let lower = name.to_ascii_lowercase();
    let labels: Vec<&str> = lower.split('.').collect();
    let broken = labels.iter().any(|label| label.is_empty() || label.starts_with('-'));
    if broken || WELL_KNOWN.contains(&lower.as_str()) || lower.ends_with(".svc.cluster.local") {
        return false;
    }
    if addressed {
        return true;
    }
    let sure = SURE_ENDINGS.iter().any(|ending| lower.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.')));
    let code = labels.iter().any(|label| label.contains('_')) || CODE.contains(&labels[0]);
    let numbered = labels[0].bytes().any(|byte| byte.is_ascii_digit() || byte == b'-');
    if sure {
        return labels.len() > 2 || !code;
    }
    // Types and fields have capitals.
    let spelled = labels.len() > 2 || name == lower;
    spelled && !code && (numbered || !CODE.contains(&labels[labels.len() - 2]))
}

#[cfg(test)]
mod tests {
    use super::{email, home, host, phones};

    fn around(text: &str, anchor: &str, find: impl Fn(&str, usize, usize) -> Option<std::ops::Range<usize>>) -> String {
        let start = text.to_ascii_lowercase().find(anchor).expect("the anchor");
        find(text, start, start + anchor.len()).map_or_else(String::new, |range| text[range].to_owned())
    }

    #[test]
    fn addresses() {
        for (text, wanted) in [
            ("write to a.b+c@mail.acme.co.uk.", "a.b+c@mail.acme.co.uk"),
            ("\\nbob@acme.io\\n", "bob@acme.io"),
            ("<bob@acme.io>", "bob@acme.io"),
            ("git@github.com:a/b", ""),
            ("bob@example.com", ""),
            ("icon@2x.png", ""),
            ("react@18.2.0", ""),
            ("@app.route", ""),
            ("user@host", ""),
        ] {
            assert_eq!(around(text, "@", |text, at, _| email(text, at)), wanted, "{text}");
        }
    }

    #[test]
    fn users_in_paths() {
        for (text, anchor, wanted) in [
            ("/home/ann/x", "/home/", "ann"),
            ("path=/home/ann", "/home/", "ann"),
            ("C:\\Users\\Ann Lee\\x", "\\users\\", "Ann Lee"),
            ("C:\\\\Users\\\\ann\\\\x", "\\users\\", "ann"),
            ("C:/Users/ann/x", "/users/", "ann"),
            ("/mnt/c/Users/ann/x", "/users/", "ann"),
            ("in /Users/ann, there", "/users/", "ann"),
            ("/home/user/x", "/home/", ""),
            ("/api/users/123", "/users/", ""),
            ("https://x.org/home/news", "/home/", ""),
            ("/home/index.html", "/home/", ""),
            ("/home/$USER/x", "/home/", ""),
        ] {
            assert_eq!(around(text, anchor, home), wanted, "{text}");
        }
    }

    #[test]
    fn private_hosts() {
        for (text, anchor, wanted) in [
            ("ssh db01.acme.internal", ".internal", "db01.acme.internal"),
            ("https://wiki.corp/x", ".corp", "wiki.corp"),
            ("git.acme.corp:22", ".corp", "git.acme.corp"),
            ("anns-mac.local", ".local", "anns-mac.local"),
            ("settings.local.json", ".local", ""),
            (".env.local", ".local", ""),
            ("threading.local()", ".local", ""),
            ("x.default.svc.cluster.local", ".local", ""),
            ("host.docker.internal:80", ".internal", ""),
            ("com.sun.internal.misc", ".internal", ""),
            ("~/.local", ".local", ""),
        ] {
            assert_eq!(around(text, anchor, host), wanted, "{text}");
        }
    }

    #[test]
    fn phone_numbers() {
        for (text, wanted) in [
            ("call +1 (415) 555-0132.", "+1 (415) 555-0132"),
            ("+49 30 901820 or", "+49 30 901820"),
            ("+33 1 23 45 67 89", "+33 1 23 45 67 89"),
            ("tel:+442079460958", "+442079460958"),
            ("415-555-0132", "415-555-0132"),
            ("(415) 555-0132", "(415) 555-0132"),
            ("order 114-2345678-1234567", ""),
            ("@@ -10,7 +10,8 @@", ""),
            ("2026-01-10 10:00:00 +0100", ""),
            ("a\n+1234567890\n-1", ""),
            ("1234-567-8901", ""),
        ] {
            let mut found = String::new();
            phones(text, |range| found.push_str(&text[range]));
            assert_eq!(found, wanted, "{text}");
        }
    }
}
