//! Parser for `[[ignore]]` tables.

use std::ops::Range;
use std::path::Path;

use omen_types::Code;
use omen_types::code::UnknownCode;
use omen_types::suggest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::content::Ignore;
use super::file::{Reader, found, lowered};
use super::keys::{IGNORE, IGNORE_KEYS};
use crate::input::find::Excludes;

impl Reader<'_> {
    /// Parses all tables.
    pub(super) fn ignores(&mut self, key: Range<usize>, value: &Spanned<DeValue<'_>>, root: &Path) -> Vec<Ignore> {
        let DeValue::Array(items) = value.get_ref() else {
            let message = format!("expected an array of tables for `{IGNORE}`, found {}", found(value.get_ref()));
            self.mistake(key, message, format!("write `[[{IGNORE}]]`"));
            return Vec::new();
        };
        let mut ignores = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => ignores.push(self.ignore(item.span(), table, root)),
                other => {
                    let message = format!("expected a table in `{IGNORE}`, found {}", found(other));
                    self.mistake(item.span(), message, format!("write `[[{IGNORE}]]`"));
                }
            }
        }
        ignores
    }

    fn ignore(&mut self, span: Range<usize>, table: &DeTable<'_>, root: &Path) -> Ignore {
        let (line, column) = self.place(span.start);
        let (mut code, mut path, mut reason, mut until) = (None, None, String::new(), None);
        let (mut episode, mut tool) = (None, None);
        for (name, value) in table {
            match name.get_ref().as_ref() {
                "code" => code = self.text(name, value).and_then(|text| self.code(&text, value.span())),
                "path" => path = self.text(name, value).and_then(|text| self.pattern(text, value.span(), root)),
                "episode" => episode = self.text(name, value),
                "tool" => tool = self.text(name, value),
                "reason" => reason = self.text(name, value).unwrap_or_default(),
                "until" => until = self.date(name, value),
                unknown => {
                    let known = || IGNORE_KEYS.iter().map(|(name, _)| *name);
                    let help = match nearest(unknown, known()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("expected one of `{}`", known().collect::<Vec<_>>().join("`, `")),
                    };
                    self.mistake(name.span(), format!("unknown key `{IGNORE}.{unknown}`"), help);
                }
            }
        }
        let has = |name: &str| table.keys().any(|key| key.get_ref() == name);
        if !has("reason") {
            let help = "add why these findings are accepted, such as `reason = \"logs of 2025, before tokens\"`";
            self.mistake(span.clone(), format!("missing key `{IGNORE}.reason`"), help.to_owned());
        }
        if !["code", "path", "episode", "tool"].into_iter().any(has) {
            let help = "add `code`, `path`, `episode` or `tool`";
            self.mistake(span, format!("`[[{IGNORE}]]` would ignore every finding"), help.to_owned());
        }
        Ignore { line, column, code, path, episode, tool, reason, until }
    }

    /// Parses a non-empty string.
    fn text(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => return Some(text.to_string()),
            DeValue::String(_) => {
                let message = format!("expected a text for `{IGNORE}.{}`, found an empty string", name.get_ref());
                self.mistake(value.span(), message, about(name.get_ref()));
            }
            other => {
                let message = format!("expected a string for `{IGNORE}.{}`, found {}", name.get_ref(), found(other));
                self.mistake(value.span(), message, about(name.get_ref()));
            }
        }
        None
    }

    fn code(&mut self, text: &str, span: Range<usize>) -> Option<Code> {
        let code = text.parse::<Code>();
        code.map_err(|error: UnknownCode| {
            let message = format!("invalid code in `{IGNORE}.code`: {error}");
            self.mistake(span, message, "`omen rules` lists the codes".to_owned());
        })
        .ok()
    }

    fn pattern(&mut self, text: String, span: Range<usize>, root: &Path) -> Option<Excludes> {
        let mut path = Excludes::default();
        match path.add(root, &[text]) {
            Ok(()) => Some(path),
            Err(error) => {
                self.mistake(span, error.to_string(), "use the syntax of .gitignore".to_owned());
                None
            }
        }
    }

    /// Parses a TOML date without a time.
    fn date(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::Datetime(date) if date.date.is_some() && date.time.is_none() => Some(date.to_string()),
            DeValue::Datetime(_) => {
                let message = format!("expected a date without a time for `{IGNORE}.{}`", name.get_ref());
                self.mistake(value.span(), message, "such as `until = 2026-12-31`".to_owned());
                None
            }
            other => {
                let message = format!("expected a date for `{IGNORE}.{}`, found {}", name.get_ref(), found(other));
                self.mistake(value.span(), message, "such as `until = 2026-12-31`, without quotes".to_owned());
                None
            }
        }
    }
}

/// Returns the description of a key's value.
fn about(name: &str) -> String {
    IGNORE_KEYS.iter().find(|(key, _)| *key == name).map(|(_, about)| lowered(about)).unwrap_or_default()
}
