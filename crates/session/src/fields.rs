//! Reading a TOML data file so that *every* fault is named with its place, not only the first:
//! each key is read on its own, and what is left over at the end is an unknown key.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::canonical::is_id;
use crate::fault::{Fault, Place, choose_remedy};

/// The name of pooled rows in tables, which nothing else may have.
pub const ALL: &str = "all";

/// A parsed TOML file and the faults found so far.
#[derive(Debug)]
pub struct Document<'i> {
    text: &'i str,
    faults: Vec<Fault>,
}

/// One table of a [`Document`]; keys are taken out as they are read.
#[derive(Debug)]
pub struct Fields<'i> {
    table: DeTable<'i>,
    span: Range<usize>,
    path: String,
    known: Vec<&'static str>,
}

impl<'i> Document<'i> {
    /// Parses `text`.
    ///
    /// # Errors
    /// The syntax fault, where `text` is not TOML.
    pub fn parse(text: &'i str) -> Result<(Self, Fields<'i>), Fault> {
        match DeTable::parse(text) {
            Ok(table) => {
                let span = table.span();
                let root = Fields { table: table.into_inner(), span, path: String::new(), known: Vec::new() };
                Ok((Self { text, faults: Vec::new() }, root))
            }
            Err(error) => Err(Fault::new(
                Place::of_byte(text, error.span().map_or(0, |span| span.start), ""),
                format!("not valid TOML: {}", error.message()),
                "mend the syntax at this place",
            )),
        }
    }

    /// Records a fault at a byte of the file.
    pub fn fault(&mut self, span: &Range<usize>, path: &str, problem: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(Fault::new(Place::of_byte(self.text, span.start, path), problem, remedy));
    }

    /// The value, if nothing was wrong with the file.
    ///
    /// # Errors
    /// All faults, in file order, when there are any.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<Fault>> {
        self.faults.sort_by_key(|fault| fault.place.line_column);
        match value {
            Some(value) if self.faults.is_empty() => Ok(value),
            _ => Err(self.faults),
        }
    }
}

impl<'i> Fields<'i> {
    /// Byte range of the table in the file.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The dotted path of `key` in this table.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Takes an optional key with the byte range of its value.
    pub fn optional_at<T: DeserializeOwned>(
        &mut self,
        document: &mut Document<'i>,
        key: &'static str,
    ) -> Option<(T, Range<usize>)> {
        let value = self.take(key)?;
        let span = value.span();
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(read) => Some((read, span)),
            Err(error) => {
                let at = error.span().unwrap_or(span);
                document.fault(
                    &at,
                    &self.path_of(key),
                    error.message().trim().to_owned(),
                    "write a value of the right type",
                );
                None
            }
        }
    }

    /// Takes an optional key.
    pub fn optional<T: DeserializeOwned>(&mut self, document: &mut Document<'i>, key: &'static str) -> Option<T> {
        self.optional_at(document, key).map(|(value, _)| value)
    }

    /// Takes a key that must be there.
    pub fn required<T: DeserializeOwned>(&mut self, document: &mut Document<'i>, key: &'static str) -> Option<T> {
        self.required_at(document, key).map(|(value, _)| value)
    }

    /// Takes a key that must be there, with the byte range of its value.
    pub fn required_at<T: DeserializeOwned>(
        &mut self,
        document: &mut Document<'i>,
        key: &'static str,
    ) -> Option<(T, Range<usize>)> {
        if !self.has(key) {
            self.known.push(key);
            self.missing(document, key);
            return None;
        }
        self.optional_at(document, key)
    }

    /// Takes the key `schema`, which must say `known`.
    pub fn schema(&mut self, document: &mut Document<'i>, known: &str) {
        if let Some((schema, span)) = self.required_at::<String>(document, "schema")
            && schema != known
        {
            document.fault(
                &span,
                "schema",
                format!("unknown schema \"{schema}\""),
                format!("this version reads \"{known}\""),
            );
        }
    }

    /// Takes the key `name`, which becomes part of file names and table rows. `what` says whose it is.
    pub fn name(&mut self, document: &mut Document<'i>, what: &str) -> Option<String> {
        let (name, span) = self.required_at::<String>(document, "name")?;
        if !is_id(&name) || name == ALL {
            document.fault(
                &span,
                &self.path_of("name"),
                format!("\"{}\" cannot name {what}", name.escape_debug()),
                format!("use 1 to 100 letters, digits, '-', '_' or '.', not starting with '.', and not \"{ALL}\""),
            );
        }
        Some(name)
    }

    /// Takes an optional sub-table.
    pub fn table(&mut self, document: &mut Document<'i>, key: &'static str) -> Option<Self> {
        let path = self.path_of(key);
        let value = self.take(key)?;
        Self::of_value(document, value, path)
    }

    /// Takes a sub-table that must be there.
    pub fn required_table(&mut self, document: &mut Document<'i>, key: &'static str) -> Option<Self> {
        if !self.has(key) {
            self.known.push(key);
            self.missing(document, key);
            return None;
        }
        self.table(document, key)
    }

    /// Takes an array of tables; absent is empty.
    pub fn tables(&mut self, document: &mut Document<'i>, key: &'static str) -> Vec<Self> {
        let path = self.path_of(key);
        let Some(value) = self.take(key) else { return Vec::new() };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(items) => items
                .into_iter()
                .enumerate()
                .filter_map(|(index, item)| Self::of_value(document, item, format!("{path}[{index}]")))
                .collect(),
            other => {
                document.fault(
                    &span,
                    &path,
                    format!("a list of tables is needed, not a {}", other.type_str()),
                    format!("write [[{path}]]"),
                );
                Vec::new()
            }
        }
    }

    /// Whether the key is there and not yet taken.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Records each key that nobody asked for.
    pub fn finish(self, document: &mut Document<'i>) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            let path = self.path_of(name);
            document.fault(&key.span(), &path, format!("unknown key \"{name}\""), choose_remedy(name, &self.known));
        }
    }

    fn missing(&self, document: &mut Document<'i>, key: &str) {
        document.fault(
            &self.span,
            &self.path_of(key),
            format!("the key \"{key}\" is missing"),
            format!("add {key} = ..."),
        );
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'i>>> {
        self.known.push(key);
        self.table.remove(key)
    }

    fn of_value(document: &mut Document<'i>, value: Spanned<DeValue<'i>>, path: String) -> Option<Self> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Some(Self { table, span, path, known: Vec::new() }),
            other => {
                document.fault(
                    &span,
                    &path,
                    format!("a table is needed, not a {}", other.type_str()),
                    format!("write [{path}] with its keys below"),
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Document;

    fn read(text: &str) -> Result<(String, u64), Vec<String>> {
        let (mut document, mut root) = Document::parse(text).map_err(|fault| vec![fault.to_string()])?;
        let name = root.required::<String>(&mut document, "name");
        let limits = root.table(&mut document, "limits");
        let most = limits.and_then(|mut limits| {
            let most = limits.required::<u64>(&mut document, "most");
            limits.finish(&mut document);
            most
        });
        root.finish(&mut document);
        document.finish(name.zip(most)).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        assert_eq!(read("name = \"a\"\n[limits]\nmost = 3\n"), Ok(("a".to_owned(), 3)));
        assert_eq!(
            read("nam = 1\n[limits]\nmost = \"x\"\nleast = 1\n"),
            Err(vec![
                "1:1: name: the key \"name\" is missing; add name = ...".to_owned(),
                "1:1: nam: unknown key \"nam\"; did you mean \"name\"?".to_owned(),
                "3:8: limits.most: invalid type: string \"x\", expected u64; write a value of the right type"
                    .to_owned(),
                "4:1: limits.least: unknown key \"least\"; known: most".to_owned(),
            ])
        );
    }

    #[test]
    fn a_syntax_fault_has_its_place() {
        let faults = read("name = \n").expect_err("no value");
        assert!(faults[0].starts_with("1:8: not valid TOML"), "{faults:?}");
    }
}
