//! `omen schema`: prints schema files and definitions, unchanged.

use std::collections::BTreeMap;
use std::io::Write as _;

use omen_types::suggest;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::config;
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(name: Option<&str>, out: &mut Output) -> Result<Exit, Failure> {
    if name.is_some_and(|name| name.eq_ignore_ascii_case(CONFIG)) {
        writeln!(out, "{:#}", config::json_schema())?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let files = omen_schema::FILES.iter().map(|(path, text)| File::read(path, text)).collect::<Result<Vec<_>, _>>()?;
    match name {
        None => list(&files, out)?,
        Some(name) => writeln!(out, "{}", find(&files, name)?)?,
    }
    out.flush()?;
    Ok(Exit::Clean)
}

fn list(files: &[File], out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "{:<24} {:<28} FILE", "NAME", "TITLE")?;
    for file in files {
        writeln!(out, "{:<24} {:<28} {}", file.stem, file.title, file.path)?;
    }
    writeln!(out, "{CONFIG:<24} {:<28} omen.toml", "settings of `omen check`")?;
    Ok(())
}

/// The text of a file, or of a definition in one of them.
fn find(files: &[File], name: &str) -> Result<String, Failure> {
    if let Some(file) = files.iter().find(|file| file.stem.eq_ignore_ascii_case(name)) {
        return Ok(file.text.trim_end().to_owned());
    }
    let mut definitions = files.iter().flat_map(|file| &file.definitions);
    if let Some((_, text)) = definitions.find(|(definition, _)| definition.eq_ignore_ascii_case(name)) {
        return Ok(outdent(text.get()));
    }
    let hint = match suggest::nearest(name, all_names(files)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`omen schema` lists the files".to_owned(),
    };
    Err(Failure::Usage(format!("unknown schema `{name}`; {hint}")))
}

/// The names of all files and definitions.
pub(crate) fn names() -> Vec<&'static str> {
    let files = omen_schema::FILES.iter().filter_map(|(path, text)| File::read(path, text).ok()).collect::<Vec<_>>();
    let mut names: Vec<_> = all_names(&files).collect();
    names.sort();
    names.dedup();
    names
}

fn all_names(files: &[File]) -> impl Iterator<Item = &'static str> {
    let of_file = |file: &File| std::iter::once(file.stem).chain(file.definitions.keys().copied()).collect::<Vec<_>>();
    [CONFIG].into_iter().chain(files.iter().flat_map(of_file))
}

/// Removes the indentation of a definition in its file, which is that of its last line.
fn outdent(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    let indent = last.len() - last.trim_start().len();
    let lines = text.lines().map(|line| {
        let (space, rest) = line.split_at_checked(indent).unwrap_or(("", line));
        if space.trim().is_empty() { rest } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The name of the schema of the configuration.
const CONFIG: &str = "config";

struct File {
    path: &'static str,
    /// The file's name up to the first dot.
    stem: &'static str,
    title: String,
    text: &'static str,
    definitions: BTreeMap<&'static str, &'static RawValue>,
}

impl File {
    fn read(path: &'static str, text: &'static str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default)]
            title: String,
            #[serde(rename = "$defs", default, borrow)]
            definitions: BTreeMap<&'static str, &'static RawValue>,
        }
        let fields: Fields =
            serde_json::from_str(text).map_err(|error| Failure::Internal(format!("{path}: {error}")))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        Ok(Self { path, stem, title: fields.title, text, definitions: fields.definitions })
    }
}

#[cfg(test)]
mod tests {
    use super::outdent;

    #[test]
    fn a_definition_is_moved_to_the_margin() {
        assert_eq!(outdent("{\n      \"a\": 1\n    }"), "{\n  \"a\": 1\n}");
        assert_eq!(outdent("{ \"a\": 1 }"), "{ \"a\": 1 }");
    }
}
