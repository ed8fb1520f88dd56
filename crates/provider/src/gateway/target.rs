//! What a path asks for.

use crate::route::Route;

laundromat_session::ids! {
    /// The wire shape in which a client speaks to the gateway.
    Shape {
        /// OpenAI Chat Completions.
        Chat = "chat-completions",
        /// OpenAI Responses.
        Responses = "responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
    }
}

impl Shape {
    /// The provider route whose replies have this shape.
    pub fn route(self) -> Route {
        match self {
            Self::Chat => Route::ChatCompletions,
            Self::Responses => Route::Responses,
            Self::Anthropic => Route::Anthropic,
            Self::Gemini => Route::Gemini,
        }
    }
}

/// What a request asks for, by method and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// An answer.
    Generate(Shape),
    /// A Gemini answer, which has its model and its delivery in the path.
    Gemini {
        /// The model.
        model: &'a str,
        /// Whether it is asked for as a stream.
        stream: bool,
    },
    /// Which models there are.
    Models(Listing),
    /// Nothing that is answered here.
    Nothing,
}

/// How a list of models is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    /// As OpenAI and Anthropic do.
    Data,
    /// As Gemini does.
    Gemini,
}

/// What `path`, behind the door's own part, asks for. Clients disagree on whether the version is part of
/// a base URL, so both spellings are taken.
pub(crate) fn target<'a>(method: &str, path: &'a str) -> Target<'a> {
    let path = path.trim_matches('/');
    let (rest, is_beta) = match path.split_once('/') {
        Some(("v1", rest)) => (rest, false),
        Some(("v1beta" | "v1alpha", rest)) => (rest, true),
        _ => (path, false),
    };
    match (method, rest) {
        ("POST", "chat/completions") => Target::Generate(Shape::Chat),
        ("POST", "responses") => Target::Generate(Shape::Responses),
        ("POST", "messages") => Target::Generate(Shape::Anthropic),
        ("POST", _) => match rest.strip_prefix("models/").and_then(|rest| rest.rsplit_once(':')) {
            Some((model, "generateContent")) => Target::Gemini { model, stream: false },
            Some((model, "streamGenerateContent")) => Target::Gemini { model, stream: true },
            _ => Target::Nothing,
        },
        ("GET" | "HEAD", "models") if is_beta => Target::Models(Listing::Gemini),
        ("GET" | "HEAD", "models") => Target::Models(Listing::Data),
        _ => Target::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::{Listing, Shape, Target, target};

    #[test]
    fn every_shape_is_known_by_its_path_with_and_without_a_version() {
        for (path, shape) in
            [("chat/completions", Shape::Chat), ("responses", Shape::Responses), ("messages", Shape::Anthropic)]
        {
            assert_eq!(target("POST", &format!("/v1/{path}")), Target::Generate(shape));
            assert_eq!(target("POST", &format!("/{path}")), Target::Generate(shape));
            assert_eq!(target("GET", &format!("/v1/{path}")), Target::Nothing);
        }
        assert_eq!(
            target("POST", "/v1beta/models/a/b:generateContent"),
            Target::Gemini { model: "a/b", stream: false }
        );
        assert_eq!(target("POST", "/v1/models/m:streamGenerateContent"), Target::Gemini { model: "m", stream: true });
        assert_eq!(target("GET", "/v1/models"), Target::Models(Listing::Data));
        assert_eq!(target("GET", "/v1beta/models"), Target::Models(Listing::Gemini));
        for path in ["/", "", "/v1", "/v1/models/m:countTokens", "/v1/embeddings", "/../v1/responses"] {
            assert_eq!(target("POST", path), Target::Nothing, "{path}");
        }
    }
}
