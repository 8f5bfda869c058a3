//! Parser for the text of a configuration file; reports all mistakes with their positions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use omen::validator::Level;
use omen_types::suggest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::content::{Config, LevelTarget};
use super::keys::{IGNORE, KEYS, Key, Means, TABLE};
use crate::input::find::Excludes;

/// A mistake in a configuration, and how to fix it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Line, counted from 1.
    pub(crate) line: usize,
    /// Column in characters, counted from 1.
    pub(crate) column: usize,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// Parses the text of a configuration file in the directory `root`. `check` is `omen check` with its options.
pub(super) fn read(text: &str, root: &Path, check: &clap::Command) -> Result<Config, Vec<Mistake>> {
    let mut reader = Reader { text, options: check, mistakes: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = format!("invalid TOML: {}", error.message());
        reader.mistake(error.span().unwrap_or_default(), message, "see https://toml.io for the syntax".to_owned());
    }
    if reader.mistakes.is_empty() {
        let config = reader.root(table.get_ref(), root);
        if reader.mistakes.is_empty() {
            return Ok(config);
        }
    }
    reader.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    reader.mistakes.truncate(MOST_MISTAKES);
    Err(reader.mistakes)
}

pub(super) struct Reader<'t> {
    text: &'t str,
    /// `omen check`, whose options the values must be valid for.
    options: &'t clap::Command,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    pub(super) fn mistake(&mut self, span: Range<usize>, message: String, help: String) {
        let (line, column) = self.place(span.start);
        self.mistakes.push(Mistake { line, column, message, help });
    }

    /// Returns the line and column of a byte offset, both counted from 1.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or_default();
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        (before.matches('\n').count() + 1, column)
    }

    fn root(&mut self, table: &DeTable<'_>, root: &Path) -> Config {
        let mut config = Config { root: root.to_owned(), ..Config::default() };
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (TABLE, DeValue::Table(table)) => self.check(table, &mut config),
                (TABLE, other) => {
                    let message = format!("expected a table for `{TABLE}`, found {}", found(other));
                    self.mistake(key.span(), message, format!("write `[{TABLE}]`"));
                }
                (IGNORE, _) => config.ignores = self.ignores(key.span(), value, root),
                (name, _) => {
                    let is_known = KEYS.iter().any(|key| key.name == name);
                    let help = match nearest(name, [TABLE, IGNORE]) {
                        _ if is_known => format!("write it below `[{TABLE}]`"),
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("expected `[{TABLE}]` or `[[{IGNORE}]]`"),
                    };
                    self.mistake(key.span(), format!("unknown key `{name}`"), help);
                }
            }
        }
        config
    }

    fn check(&mut self, table: &DeTable<'_>, config: &mut Config) {
        let mut levels = Vec::new();
        for (name, value) in table {
            let Some(key) = KEYS.iter().find(|key| key.name == name.get_ref().as_ref()) else {
                let known = || KEYS.iter().map(|key| key.name);
                let help = match nearest(name.get_ref(), known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("expected one of `{}`", known().collect::<Vec<_>>().join("`, `")),
                };
                self.mistake(name.span(), format!("unknown key `{TABLE}.{}`", name.get_ref()), help);
                continue;
            };
            match key.means {
                Means::Inputs => config.inputs = texts(self.list(key, value)).map(PathBuf::from).collect(),
                Means::Exclude => {
                    config.exclude = texts(self.list(key, value)).collect();
                    let mut excludes = Excludes::default();
                    if let Err(error) = excludes.add(&config.root, &config.exclude) {
                        self.mistake(value.span(), error.to_string(), "use the syntax of .gitignore".to_owned());
                    }
                }
                Means::Outputs => {
                    let outputs: Vec<String> = self
                        .list(key, value)
                        .into_iter()
                        .filter_map(|item| self.output(key, item, &config.root))
                        .collect();
                    config.defaults.push((OUTPUTS, outputs));
                }
                Means::GitIgnore => match value.get_ref() {
                    DeValue::Boolean(respected) => config.no_ignore = !respected,
                    _ => self.expected("a boolean", key, value),
                },
                Means::Level(level) => levels.extend(self.levels(key, level, value)),
                Means::Text(id) => match value.get_ref() {
                    DeValue::String(text) => self.option(id, key, text.to_string(), value.span(), config),
                    DeValue::Datetime(time) => self.option(id, key, time.to_string(), value.span(), config),
                    _ => self.expected("a string", key, value),
                },
                Means::File(id) => match value.get_ref() {
                    DeValue::String(text) => {
                        config.defaults.push((id, vec![config.root.join(text.as_ref()).display().to_string()]));
                    }
                    _ => self.expected("a string", key, value),
                },
                Means::Number(id) => match value.get_ref() {
                    DeValue::Integer(number) => {
                        let decimal = i64::from_str_radix(number.as_str(), number.radix());
                        let text = decimal.map_or_else(|_| number.as_str().to_owned(), |number| number.to_string());
                        self.option(id, key, text, value.span(), config);
                    }
                    _ => self.expected("an integer", key, value),
                },
            }
        }
        config.levels = self.in_order(levels);
    }

    fn expected(&mut self, what: &str, key: &Key, value: &Spanned<DeValue<'_>>) {
        let message = format!("expected {what} for `{TABLE}.{}`, found {}", key.name, found(value.get_ref()));
        self.mistake(value.span(), message, lowered(key.about));
    }

    /// Returns the strings of an array, each with its span.
    fn list(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) -> Vec<(String, Range<usize>)> {
        let DeValue::Array(items) = value.get_ref() else {
            self.expected("an array of strings", key, value);
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => all.push((text.to_string(), item.span())),
                _ => self.expected("strings", key, item),
            }
        }
        all
    }

    fn levels(
        &mut self,
        key: &Key,
        level: Level,
        value: &Spanned<DeValue<'_>>,
    ) -> Vec<(LevelTarget, Level, Range<usize>)> {
        let mut all = Vec::new();
        for (text, span) in self.list(key, value) {
            match LevelTarget::parse(&text) {
                Ok(target) => all.push((target, level, span)),
                Err(why) => {
                    let all = "`omen rules` lists the codes; those of the stage `invariant` can be adjusted";
                    let (why, help) = why.split_once("; ").unwrap_or((&why, all));
                    self.mistake(span, format!("invalid code in `{TABLE}.{}`: {why}", key.name), help.to_owned());
                }
            }
        }
        all
    }

    /// Sorts severity levels. TOML keys are unordered, so no code may have two levels, and the level of all warnings is first.
    fn in_order(&mut self, mut levels: Vec<(LevelTarget, Level, Range<usize>)>) -> Vec<(LevelTarget, Level)> {
        levels.sort_by_key(|(.., span)| span.start);
        for (at, (target, level, span)) in levels.iter().enumerate() {
            let before = levels.iter().take(at).find(|(other, other_level, _)| other == target && other_level != level);
            if before.is_some() {
                let text = self.text.get(span.clone()).unwrap_or_default();
                let message = format!("{text} has two severities");
                self.mistake(span.clone(), message, "list it once".to_owned());
            }
        }
        levels.sort_by_key(|(target, ..)| *target != LevelTarget::Warnings);
        levels.into_iter().map(|(target, level, _)| (target, level)).collect()
    }

    /// Returns a `FORMAT=FILE` report with the file's path resolved against `root`.
    fn output(&mut self, key: &Key, (text, span): (String, Range<usize>), root: &Path) -> Option<String> {
        let why = self
            .refused(OUTPUTS, &text)
            .or_else(|| text.ends_with("=-").then(|| "expected a file; use `format` for standard output".to_owned()));
        if let Some(help) = why {
            self.mistake(span, format!("invalid value `{text}` for `{TABLE}.{}`", key.name), help);
            return None;
        }
        let (format, file) = text.split_once('=')?;
        Some(format!("{format}={}", root.join(file).display()))
    }

    /// Sets the value of an option after validating it as on the command line.
    fn option(&mut self, id: &'static str, key: &Key, text: String, span: Range<usize>, config: &mut Config) {
        match self.refused(id, &text) {
            None => config.defaults.push((id, vec![text])),
            Some(help) => self.mistake(span, format!("invalid value `{text}` for `{TABLE}.{}`", key.name), help),
        }
    }

    /// Returns the reason why an option of `omen check` does not accept a value.
    fn refused(&self, id: &str, value: &str) -> Option<String> {
        let arg = self.options.get_arguments().find(|arg| arg.get_id() == id)?.clone();
        let option = format!("--{}={value}", arg.get_long()?);
        let error = clap::Command::new("check").no_binary_name(true).arg(arg).try_get_matches_from([option]).err()?;
        Some(match (error.get(ContextKind::SuggestedValue), error.get(ContextKind::ValidValue)) {
            (Some(ContextValue::String(near)), _) => format!("did you mean `{near}`?"),
            (_, Some(ContextValue::Strings(valid))) => format!("expected one of `{}`", valid.join("`, `")),
            _ => std::error::Error::source(&error)
                .map_or_else(|| "see `omen check --help`".to_owned(), ToString::to_string),
        })
    }
}

fn texts(list: Vec<(String, Range<usize>)>) -> impl Iterator<Item = String> {
    list.into_iter().map(|(text, _)| text)
}

/// Lowercases the first letter and removes the full stop, so that the text can follow a semicolon.
pub(super) fn lowered(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// Describes the TOML type of a value.
pub(super) fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Id of the `--output` option.
const OUTPUTS: &str = "outputs";

/// Maximum number of mistakes that are reported at once.
const MOST_MISTAKES: usize = 20;
