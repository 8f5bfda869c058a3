//! `omen schema`: prints schema files and definitions unchanged.

pub(crate) mod files;
mod finding;

use std::io::Write as _;

use omen_types::suggest;

use crate::config;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use files::{CONFIG, FINDING, SchemaFile, all_names};

/// Prints a file, a definition, or the list of files. `check` is `omen check` with its options.
pub(crate) fn run(name: Option<&str>, check: &clap::Command, out: &mut Output) -> Result<Exit, Failure> {
    let is = |made: &str| name.is_some_and(|name| name.eq_ignore_ascii_case(made));
    let made = if is(CONFIG) {
        Some(config::json_schema(check))
    } else if is(FINDING) {
        Some(finding::json_schema())
    } else {
        None
    };
    if let Some(made) = made {
        writeln!(out, "{made:#}")?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let files =
        omen_schema::FILES.iter().map(|(path, text)| SchemaFile::read(path, text)).collect::<Result<Vec<_>, _>>()?;
    match name {
        None => list(&files, out)?,
        Some(name) => writeln!(out, "{}", find(&files, name)?)?,
    }
    out.flush()?;
    Ok(Exit::Clean)
}

fn list(files: &[SchemaFile], out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "{:<24} {:<28} FILE", "NAME", "TITLE")?;
    for file in files {
        writeln!(out, "{:<24} {:<28} {}", file.stem, file.title, file.path)?;
    }
    writeln!(out, "{CONFIG:<24} {:<28} omen.toml", "settings of `omen check`")?;
    writeln!(out, "{FINDING:<24} {:<28} omen check --format json", "findings and totals")?;
    Ok(())
}

/// Returns the text of a schema file, or of a definition in one.
fn find(files: &[SchemaFile], name: &str) -> Result<String, Failure> {
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

/// Removes the indentation that a definition has in its file, which equals that of its last line.
fn outdent(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    let indent = last.len() - last.trim_start().len();
    let lines = text.lines().map(|line| {
        let (space, rest) = line.split_at_checked(indent).unwrap_or(("", line));
        if space.trim().is_empty() { rest } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
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
