//! A model that is named outside a file, by the words of a command line: read as a file would have it, so that
//! the same is known, checked and told.

use laundromat_provider::Model;
use laundromat_session::fault::Fault;
use laundromat_session::fields::Document;
use serde_json::Value;

use crate::model_table::{Part, model};

/// What is said of a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoneModel<'a> {
    /// Its name.
    pub model: &'a str,
    /// The base of its server's address.
    pub base_url: Option<&'a str>,
    /// What its server is.
    pub profile: Option<&'a str>,
    /// The variable that holds the key.
    pub key_env: Option<&'a str>,
}

impl LoneModel<'_> {
    /// The model.
    ///
    /// # Errors
    /// Every fault, its place the key that an experiment would have.
    pub fn read(&self) -> Result<Model, Vec<Fault>> {
        let said = [
            ("model", Some(self.model)),
            ("base-url", self.base_url),
            ("profile", self.profile),
            ("key-env", self.key_env),
        ];
        let lines = said.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", Value::from(value?))));
        let text: String = lines.collect();
        let read = || -> Result<Model, Vec<Fault>> {
            let (mut document, mut root) = Document::parse(&text).map_err(|fault| vec![fault])?;
            let name = root.required_at::<String>(&mut document, "model");
            let model = name.and_then(|name| model(&mut document, &mut root, name, Part::Summarizer, Model::BUILTIN));
            root.finish(&mut document);
            document.finish(model)
        };
        // There is no file whose line and column could be meant.
        read().map_err(|faults| {
            let placeless = faults.into_iter().map(|mut fault| {
                fault.place.line_column = None;
                fault
            });
            placeless.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LoneModel;

    #[test]
    fn words_are_read_as_a_file_would_have_them() {
        let said = LoneModel { model: "a/\"b\"", base_url: Some("http://h/v1"), ..LoneModel::default() };
        let model = said.read().expect("a model");
        assert_eq!((model.name(), model.endpoint()), ("a/\"b\"", "http://h/v1/chat/completions"));
        let known = LoneModel { model: "m", profile: Some("mistral"), ..LoneModel::default() }.read().expect("a model");
        assert_eq!(known.endpoint(), "https://api.mistral.ai/v1/chat/completions");
    }

    #[test]
    fn faults_have_no_line() {
        let told = |said: LoneModel<'_>| said.read().expect_err("a fault")[0].to_string();
        let odd = LoneModel { model: "m", base_url: Some("localhost:80"), ..LoneModel::default() };
        assert!(told(odd).starts_with("base-url: this is not the base of an API"), "{}", told(odd));
        let secret = LoneModel { model: "m", base_url: Some("http://u:hunter2@h/v1"), ..LoneModel::default() };
        assert!(!told(secret).contains("hunter2"), "{}", told(secret));
        let unknown = LoneModel { model: "m", profile: Some("mistrl"), ..LoneModel::default() };
        assert!(told(unknown).ends_with("did you mean \"mistral\"?"), "{}", told(unknown));
    }
}
