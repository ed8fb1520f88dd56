//! Secrets without a shape of their own, known by what stands before them: `password = ...`,
//! `"api_key": "..."`, `--token ...`, `Authorization: Basic ...`, `https://user:password@host`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::boundary::floor;
use super::value::{is_basic_credentials, is_key, is_password, is_placeholder};

/// How far behind its name a value may end.
const REACH: usize = 4400;

/// What a name says about the value behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A password: it may be short, and need not be random.
    Password,
    /// A key, token or secret.
    Key,
    /// A vendor, whose keys may have any shape.
    Vendor,
    /// `Bearer ` in a header.
    Bearer,
    /// `Basic ` in a header.
    Basic,
    /// `://` of an address, which may hold a password.
    Address,
}

/// Names in lower case, and what they say.
pub(super) const NAMES: &[(Named, &[&str])] = &[
    (Named::Password, &["password", "passwd", "passphrase", "pwd", "passcode"]),
    (
        Named::Key,
        &[
            "secret",
            "token",
            "apikey",
            "api_key",
            "api-key",
            "api key",
            "accesskey",
            "access_key",
            "access-key",
            "private_key",
            "privatekey",
            "auth_key",
            "authkey",
            "encryption_key",
            "signing_key",
            "account_key",
            "credential",
            "webhook_key",
            "master_key",
            "license_key",
            "app_key",
            "appkey",
            "service_key",
        ],
    ),
    (
        Named::Vendor,
        &[
            "adafruit",
            "airtable",
            "algolia",
            "asana",
            "atlassian",
            "aws_",
            "azure",
            "beamer",
            "bitbucket",
            "bittrex",
            "cloudflare",
            "codecov",
            "cohere",
            "coinbase",
            "confluent",
            "contentful",
            "databricks",
            "datadog",
            "dd_",
            "deepseek",
            "discord",
            "droneci",
            "dropbox",
            "etsy",
            "facebook",
            "fastly",
            "finicity",
            "finnhub",
            "flickr",
            "freshbooks",
            "gitter",
            "gocardless",
            "heroku",
            "hubspot",
            "intercom",
            "jira",
            "kraken",
            "kucoin",
            "launchdarkly",
            "linkedin",
            "looker",
            "mapbox",
            "mattermost",
            "mistral",
            "netlify",
            "nytimes",
            "okta",
            "pagerduty",
            "plaid",
            "rapidapi",
            "segment",
            "sendbird",
            "sentry",
            "shodan",
            "snyk",
            "sonar",
            "squarespace",
            "sumologic",
            "telegram",
            "together",
            "travis",
            "trello",
            "twilio",
            "twitch",
            "twitter",
            "vercel",
            "wandb",
            "weights",
            "yandex",
            "zendesk",
        ],
    ),
    (Named::Bearer, &["bearer "]),
    (Named::Basic, &["basic "]),
    (Named::Address, &["://"]),
];

/// Endings of names whose value is about a secret, and none.
const ABOUT: &[&str] = &[
    "hash",
    "sha",
    "digest",
    "checksum",
    "fingerprint",
    "name",
    "path",
    "file",
    "url",
    "uri",
    "type",
    "arn",
    "version",
    "image",
];

struct Patterns {
    set: Regex,
    flag: Regex,
    vendor: Regex,
    bearer: Regex,
    basic: Regex,
    address: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    // A test holds that all of them compile.
    const VALUE: &str = r#"([^\s"'`\\,;<>(){}\[\]|]{8,4000})"#;
    const SIGN: &str = r#"["'`\\\])]{0,6}[ \t]{0,4}(?:=>|:=|={1,3}|:|,|>|[ \t](?:is|was)[ \t:])[ \t]{0,4}["'`\\(]{0,4}(?:(?i:Bearer|Basic|Token) )?"#;
    let pattern = |text: String| Regex::new(&text).ok();
    Some(Patterns {
        set: pattern(format!(r"\A([A-Za-z0-9_.-]{{0,40}}){SIGN}{VALUE}"))?,
        flag: pattern(format!(r#"\A([A-Za-z0-9_-]{{0,20}})[ \t]["']?{VALUE}"#))?,
        vendor: pattern(format!(
            r"\A([A-Za-z0-9_.-]{{0,30}}(?i:key|pat|auth|cred|sid|pass)[A-Za-z0-9_]{{0,8}}){SIGN}{VALUE}"
        ))?,
        bearer: pattern(r"\A()([A-Za-z0-9._~+/=-]{16,4000})".to_owned())?,
        basic: pattern(r"\A()([A-Za-z0-9+/]{8,400}={0,2})".to_owned())?,
        address: pattern(r#"\A([^\s/:@"'<>\\?#]{0,64}):([^\s/@"'<>\\]{3,256})@"#.to_owned())?,
    })
});

/// The secret behind the name that stands at `name`.
pub(super) fn find(text: &str, name: Range<usize>, named: Named) -> Option<Range<usize>> {
    let patterns = PATTERNS.as_ref()?;
    let window = &text[name.end..floor(text, name.end + REACH)];
    let (pattern, flag) = match named {
        Named::Password | Named::Key => (&patterns.set, is_flag(text, name.start).then_some(&patterns.flag)),
        Named::Vendor => (&patterns.vendor, None),
        Named::Bearer => (&patterns.bearer, None),
        Named::Basic => (&patterns.basic, None),
        Named::Address => (&patterns.address, None),
    };
    let groups = pattern.captures(window).or_else(|| flag.and_then(|flag| flag.captures(window)))?;
    let (before, value) = (groups.get(1)?.as_str(), groups.get(2)?);
    let ending = before.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    if ABOUT.iter().any(|about| ending.ends_with(about)) && named != Named::Address {
        return None;
    }
    let text = trimmed(value.as_str(), named);
    let is_secret = match named {
        Named::Password => is_password(text) || is_key(text),
        Named::Key | Named::Vendor | Named::Bearer => is_key(text),
        Named::Basic => is_basic_credentials(text),
        Named::Address => {
            !is_placeholder(text) && text != before && !["password", "pass", "pw", "secret", "pwd"].contains(&text)
        }
    };
    let start = name.end + value.start();
    is_secret.then(|| start..start + text.len())
}

/// Whether the name is part of an option of a command, as in `--api-token`.
fn is_flag(text: &str, start: usize) -> bool {
    let before = &text[floor(text, start.saturating_sub(24))..start];
    before
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-')
        .len()
        < before.len()
        && before.rsplit([' ', '\t', '\n', '"', '\'']).next().is_some_and(|word| word.starts_with('-'))
}

/// The value without what ends the sentence or the query around it.
fn trimmed(value: &str, named: Named) -> &str {
    let value = match named {
        Named::Key | Named::Vendor => {
            let foreign = |c: char| !(c.is_ascii_alphanumeric() || "+/=_.~%-".contains(c));
            &value[..value.find(foreign).unwrap_or(value.len())]
        }
        Named::Password => match value.split_once('&') {
            Some((first, rest)) if rest.contains('=') => first,
            _ => value,
        },
        Named::Bearer | Named::Basic | Named::Address => value,
    };
    match named {
        Named::Address | Named::Basic => value,
        Named::Password => value.trim_end_matches(['.', ':']),
        _ => value.trim_end_matches(['.', ':', '?', '!']),
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, PATTERNS, find};

    /// What the first name in `text` leads to.
    fn first(text: &str) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        NAMES.iter().flat_map(|(named, names)| names.iter().map(move |name| (*named, *name))).find_map(
            |(named, name)| {
                let start = lower.find(name)?;
                find(text, start..start + name.len(), named).map(|range| &text[range])
            },
        )
    }

    #[test]
    fn the_patterns_compile() {
        assert!(PATTERNS.is_some());
    }

    #[test]
    fn values_are_found_behind_their_names() {
        for (text, wanted) in [
            ("DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor&3"),
            ("\"password\": \"x9Kq2LmP\",", "x9Kq2LmP"),
            ("the password is hunter22!", "hunter22"),
            (
                "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzq9Tk3mVd2aB",
                "wJalrXUtnFEMIK7MDENGbPxRfiCYzq9Tk3mVd2aB",
            ),
            ("X-Api-Key: 9f86d081884c7d659a2feaa0c55ad015\n", "9f86d081884c7d659a2feaa0c55ad015"),
            ("curl --token a8Kd93jfQm2xLpZ7tR01 x", "a8Kd93jfQm2xLpZ7tR01"),
            ("Authorization: Bearer a8Kd93jfQm2xLpZ7tR01", "a8Kd93jfQm2xLpZ7tR01"),
            ("Authorization: Basic dXNlcjpwYXNzMQ==", "dXNlcjpwYXNzMQ=="),
            ("postgres://bob:s3cr3t@db/x", "s3cr3t"),
            ("DATADOG_KEY: 9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
            ("<password>x9Kq2LmP</password>", "x9Kq2LmP"),
        ] {
            assert_eq!(first(text).map(|it| it.trim_end_matches('!')), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_is_left() {
        for text in [
            "password: string",
            "max_tokens: 16384",
            "token = getToken()",
            "api_key=os.environ[\"API_KEY\"]",
            "secretName: db-credentials-v2",
            "\"token_sha256\": \"9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015\"",
            "https://user:password@example.com/",
            "http://localhost:8080/a@b",
            "tokenizer = \"cl100k_base\"",
            "basic knowledge of things",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }
}
