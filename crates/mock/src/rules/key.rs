//! The rules about a request's head: who asks, in which version, for which account.

use crate::profile::{Dialect, Profile, Version};
use crate::route::Route;
use crate::violation::{GOOGLE_KEY, Violation};

/// The headers that the rules look at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Credentials<'a> {
    pub(crate) authorization: Option<&'a str>,
    /// `api-key`, Azure's.
    pub(crate) api_key: Option<&'a str>,
    /// `x-api-key`, Anthropic's.
    pub(crate) x_api_key: Option<&'a str>,
    /// `x-goog-api-key`.
    pub(crate) goog_api_key: Option<&'a str>,
    /// `anthropic-version`.
    pub(crate) version: Option<&'a str>,
    /// `chatgpt-account-id`.
    pub(crate) account: Option<&'a str>,
}

impl<'a> Credentials<'a> {
    fn bearer(&self) -> Option<&'a str> {
        self.authorization.and_then(|value| value.strip_prefix("Bearer ")).filter(|key| !key.is_empty())
    }
}

/// Checks who asks; `expected` is the key that the script takes. What comes back is the dialect with the version
/// that the request names.
pub(crate) fn check(given: &Credentials<'_>, expected: &str, dialect: Dialect) -> Result<Dialect, Violation> {
    if dialect.profile.wants_key() {
        known(given, expected, dialect.route)?;
    }
    match dialect.route {
        Route::Codex if given.account.is_none_or(str::is_empty) => {
            Err(Violation::new(401, "account_header", "missing account"))
        }
        Route::Anthropic => match given.version.and_then(Version::of) {
            Some(version) => Ok(dated(dialect, version)),
            None => Err(Violation::new(400, "version", "anthropic-version: header is required")),
        },
        _ => Ok(dialect),
    }
}

/// The new version serves no model that goes on from an assistant turn.
fn dated(dialect: Dialect, version: Version) -> Dialect {
    let profile = match dialect.profile {
        Profile::AnthropicPrefill if version == Version::V2026 => Profile::Anthropic,
        profile => profile,
    };
    Dialect { profile, version, ..dialect }
}

fn known(given: &Credentials<'_>, expected: &str, route: Route) -> Result<(), Violation> {
    let key = match route {
        Route::Chat | Route::Responses | Route::Codex => given.bearer(),
        Route::Azure => given.api_key.filter(|key| !key.is_empty()).or_else(|| given.bearer()),
        Route::Anthropic => given.x_api_key.filter(|key| !key.is_empty()).or_else(|| given.bearer()),
        Route::Gemini => given.goog_api_key.filter(|key| !key.is_empty()).or_else(|| given.bearer()),
        // A signature is taken as it comes: it does not hold the key that it was made with.
        Route::Converse if given.authorization.is_some_and(is_signature) => return Ok(()),
        Route::Converse => given.bearer(),
    };
    match key {
        Some(key) if key == expected => Ok(()),
        key => Err(refusal(route, key)),
    }
}

fn is_signature(authorization: &str) -> bool {
    authorization.starts_with("AWS4-HMAC-SHA256 ")
        && ["Credential=", "SignedHeaders=", "Signature="].iter().all(|part| authorization.contains(part))
}

/// What is said to a request without a key, or with a wrong one.
fn refusal(route: Route, key: Option<&str>) -> Violation {
    let wrong = key.is_some();
    match route {
        Route::Gemini if wrong => {
            Violation::new(400, "auth_bad_key", "API key not valid. Please pass a valid API key.").code(GOOGLE_KEY)
        }
        Route::Gemini => Violation::new(403, "auth", "Method doesn't allow unregistered callers"),
        Route::Anthropic if wrong => Violation::new(401, "auth", "invalid x-api-key"),
        Route::Anthropic => Violation::new(401, "auth", "x-api-key header is required"),
        Route::Converse if wrong => {
            Violation::new(403, "auth", "The security token included in the request is invalid.")
        }
        Route::Converse => Violation::new(401, "auth", "missing credentials"),
        _ if wrong => Violation::new(401, "auth", "Incorrect API key provided.").code("invalid_api_key"),
        _ => Violation::new(401, "auth", "missing credentials"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Credentials, check};
    use crate::profile::{Dialect, Profile, Version};
    use crate::route::Route;

    fn refused(given: Credentials<'_>, route: Route) -> Option<(u16, &'static str)> {
        let given = Credentials { version: Some("2023-06-01"), account: Some("a"), ..given };
        check(&given, "k", Dialect::new(route, Profile::OpenAi))
            .err()
            .map(|violation| (violation.status, violation.rule))
    }

    #[test]
    fn each_route_takes_its_key_where_its_provider_does() {
        let bearer = Credentials { authorization: Some("Bearer k"), ..Credentials::default() };
        for route in Route::ALL {
            assert_eq!(refused(bearer, *route), None, "{}", route.name());
            let none = refused(Credentials::default(), *route);
            assert_eq!(none, Some((if *route == Route::Gemini { 403 } else { 401 }, "auth")), "{}", route.name());
            let basic = Credentials { authorization: Some("Basic k"), ..Credentials::default() };
            assert!(refused(basic, *route).is_some());
        }
        for (route, given) in [
            (Route::Azure, Credentials { api_key: Some("k"), ..Credentials::default() }),
            (Route::Anthropic, Credentials { x_api_key: Some("k"), ..Credentials::default() }),
            (Route::Gemini, Credentials { goog_api_key: Some("k"), ..Credentials::default() }),
        ] {
            for other in Route::ALL {
                assert_eq!(refused(given, *other).is_none(), *other == route, "{}", other.name());
            }
        }
    }

    #[test]
    fn a_wrong_key_is_told_apart_and_the_provider_s_own_header_wins() {
        let wrong = Credentials { authorization: Some("Bearer other"), ..Credentials::default() };
        let expected = |route| match route {
            Route::Gemini => (400, "auth_bad_key"),
            Route::Converse => (403, "auth"),
            _ => (401, "auth"),
        };
        for route in Route::ALL {
            assert_eq!(refused(wrong, *route), Some(expected(*route)), "{}", route.name());
        }
        let both = Credentials { x_api_key: Some("other"), authorization: Some("Bearer k"), ..Credentials::default() };
        assert!(refused(both, Route::Anthropic).is_some());
        let local = Dialect::new(Route::Chat, Profile::Vllm);
        assert!(check(&Credentials::default(), "k", local).is_ok());
    }

    #[test]
    fn a_signature_is_taken_for_a_key_on_bedrock_alone() {
        let signed = "AWS4-HMAC-SHA256 Credential=A/20260101/r/bedrock/aws4_request, SignedHeaders=host, Signature=0f";
        let given = Credentials { authorization: Some(signed), ..Credentials::default() };
        assert_eq!(refused(given, Route::Converse), None);
        assert!(refused(given, Route::Chat).is_some());
    }

    #[test]
    fn the_header_decides_the_version_and_with_it_what_is_served() {
        let ask = |version, profile| {
            let given = Credentials { x_api_key: Some("k"), version, ..Credentials::default() };
            check(&given, "k", Dialect::new(Route::Anthropic, profile))
        };
        assert_eq!(ask(None, Profile::Anthropic).unwrap_err().rule, "version");
        assert_eq!(ask(Some("2024-01-01"), Profile::Anthropic).unwrap_err().rule, "version");
        let new = ask(Some("2026-10-21"), Profile::AnthropicPrefill).unwrap();
        assert_eq!((new.version, new.profile), (Version::V2026, Profile::Anthropic));
        assert_eq!(ask(Some("2023-06-01"), Profile::AnthropicPrefill).unwrap().profile, Profile::AnthropicPrefill);
    }
}
