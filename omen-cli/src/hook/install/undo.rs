//! Record of an installation, from which it is undone byte for byte, even after changes elsewhere in the file.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use omen::render::human::clean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json;
use super::parts::Parts;
use super::settings_file::{SettingsFile, SettingsFormat, make_folders, read};
use crate::exit::{Exit, Failure};
use crate::fix;
use crate::output::Output;
use crate::text_edit::{self, Edit};

/// What an installation has put into a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Version of the format.
    v: u8,
    /// Whether the file was created.
    created: bool,
    /// Folders that were created for it, the outermost first.
    folders: Vec<PathBuf>,
    /// Texts that were inserted, and where they are now.
    inserts: Vec<(usize, String)>,
    parts: Parts,
    /// Pointers of the containers that were made.
    made: Vec<String>,
}

impl Record {
    /// Record of the edits that put parts into settings.
    pub(super) fn new(edits: &[Edit], settings: &Value, parts: Parts) -> Self {
        let made = parts.made_in(settings);
        let mut growth = 0;
        let inserts = edits.iter().map(|edit| {
            let at = edit.span.start + growth;
            growth += edit.text.len();
            (at, edit.text.clone())
        });
        Self { v: 1, inserts: inserts.collect(), parts, made, ..Self::default() }
    }

    /// Sets whether the file is created by the installation.
    pub(super) fn of_new_file(self, created: bool) -> Self {
        Self { created, ..self }
    }

    /// Writes the record and then the settings, unless these were changed since they were read.
    pub(super) fn write_with(mut self, target: &SettingsFile, old: Option<&str>, new: &str) -> Result<(), String> {
        let path = target.record();
        let cannot = |error: &dyn std::fmt::Display| format!("cannot install the hook: {error}");
        self.folders = make_folders(&target.path).map_err(|error| cannot(&error))?;
        let text = serde_json::to_string_pretty(&self).map_err(|error| cannot(&error))?;
        Output::write_file(&path, &format!("{text}\n")).map_err(|error| cannot(&error))?;
        let written = match read(&target.path) {
            Ok(now) if now.as_deref() == old => Output::write_file(&target.path, new).map_err(|error| cannot(&error)),
            _ => Err(format!("{} was changed by another program; run this again", target.path.display())),
        };
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written
    }

    /// The text without what was installed.
    fn restored(&self, text: &str, format: SettingsFormat) -> Result<String, String> {
        if format == SettingsFormat::Script {
            let rest = self.by_position(text).map(|edits| text_edit::apply(text, &edits));
            return rest.filter(String::is_empty).ok_or_else(|| "the plug-in was changed".to_owned());
        }
        let expected = self.parts.taken_from(&format.value(text)?, &self.made)?;
        let structural = || match format {
            SettingsFormat::Json => json::remove(text, &self.parts, &self.made).ok(),
            _ => None,
        };
        let ways = [self.by_position(text), self.by_text(text), structural()];
        let mut restored = ways.into_iter().flatten().map(|edits| text_edit::apply(text, &edits));
        let fits = |new: &String| format.value(new).is_ok_and(|value| value == expected);
        restored.find(fits).ok_or_else(|| "the installed hook was changed".to_owned())
    }

    /// Removes the texts where they were put.
    fn by_position(&self, text: &str) -> Option<Vec<Edit>> {
        let removal = |(at, inserted): &(usize, String)| {
            let span = *at..at.checked_add(inserted.len())?;
            (text.get(span.clone())? == inserted).then(|| Edit { span, text: String::new() })
        };
        self.inserts.iter().map(removal).collect()
    }

    /// Removes the texts where they are now, if they are there just as often as they were put in.
    fn by_text(&self, text: &str) -> Option<Vec<Edit>> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut texts: Vec<&str> = self.inserts.iter().map(|(_, inserted)| inserted.as_str()).collect();
        texts.sort_by_key(|inserted| std::cmp::Reverse(inserted.len()));
        let counts = texts.clone();
        texts.dedup();
        for inserted in texts {
            let spans = text.match_indices(inserted).map(|(at, found)| at..at + found.len());
            let free = |span: &std::ops::Range<usize>| {
                !edits.iter().any(|edit| edit.span.start < span.end && span.start < edit.span.end)
            };
            let spans: Vec<_> = spans.filter(free).collect();
            if spans.len() != counts.iter().filter(|one| **one == inserted).count() {
                return None;
            }
            edits.extend(spans.into_iter().map(|span| Edit { span, text: String::new() }));
        }
        edits.sort_by_key(|edit| edit.span.start);
        Some(edits)
    }
}

pub(super) fn undo(target: &SettingsFile, is_dry: bool, out: &mut Output) -> Result<Exit, Failure> {
    let path = target.path.to_string_lossy();
    let path = clean(&path);
    let record = target.record();
    let refused = |why: &str| {
        let place = record.display();
        Failure::Usage(format!(
            "cannot undo the installation in {path}: {why}; help: remove the hook by hand, and {place}"
        ))
    };
    let text = target.read().map_err(|why| refused(&why))?;
    let Some(written) = read(&record).map_err(|why| refused(&why))? else {
        return Err(Failure::Usage(format!("no hook is installed in {path}: {} does not exist", record.display())));
    };
    let read: Record = serde_json::from_str(&written).map_err(|error| refused(&format!("invalid record: {error}")))?;
    let text = text.ok_or_else(|| refused("the file does not exist"))?;
    let new = read.restored(&text, target.format).map_err(|why| refused(&why))?;
    let is_gone = read.created && (new.trim().is_empty() || target.format.value(&new) == Ok(Value::Object(Map::new())));
    if is_dry {
        write!(out, "{}", fix::diff_header(Some(&target.path), (!is_gone).then_some(target.path.as_path())))?;
        let all = [Edit { span: 0..text.len(), text: if is_gone { String::new() } else { new } }];
        text_edit::hunks(&text, &all, out)?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let done = match is_gone {
        true => fs::remove_file(&target.path),
        false => Output::write_file(&target.path, &new),
    };
    done.and_then(|()| fs::remove_file(&record)).map_err(|error| refused(&error.to_string()))?;
    // The record may come with a repository. A folder that is not empty belongs to others by now.
    let is_above = |folder: &&PathBuf| is_gone && target.path.starts_with(folder);
    for folder in read.folders.iter().rev().filter(is_above) {
        let _ = fs::remove_dir(folder);
    }
    let what = if is_gone { "removed" } else { "restored" };
    writeln!(out, "{what} {path}")?;
    out.flush()?;
    Ok(Exit::Clean)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use omen_hook::{Dialect, InstalledCommand};
    use serde_json::json;

    use super::super::toml;
    use super::*;

    /// Managed settings are where only an administrator writes, so this is tried without the command.
    #[test]
    fn settings_in_toml_get_back_every_byte() {
        let args = ["hook".to_owned()];
        let command = InstalledCommand { program: "o", args: &args, line: "o 'it'\\''s \"é\"'", timeout: 9 };
        let elements = Dialect::from_agent("codex").unwrap().hook_elements(&command);
        let parts =
            Parts { elements, members: [("allow_managed_hooks_only".to_owned(), json!(true))].into_iter().collect() };
        let starts =
            ["", "\n", "# why\n", "a = 1\n", "a = [\n  1, # one\n]\n", "'b c' = \"\"\"\n[[hooks.Stop]]\n\"\"\"\n"];
        let ends = [
            "",
            "[features]\nhooks = true",
            "[[hooks.PreToolUse]]\nmatcher = 'x'\n[[hooks.PreToolUse.hooks]]\ncommand = 'other'\n",
            "[hooks]\nmanaged_dir = '/x'\n\n\n",
            "[z.y]\ntime = 2026-01-01T00:00:00Z\nbig = 1e300\n# end",
        ];
        let mut count = 0;
        for (start, end) in starts.iter().flat_map(|start| ends.map(|end| (start, end))) {
            for (lines, mark) in [("\n", ""), ("\r\n", ""), ("\n", "\u{feff}"), ("\r\n", "\u{feff}")] {
                for elsewhere in [false, true] {
                    let source = format!("{mark}{start}{end}").replace('\n', lines);
                    let settings = SettingsFormat::Toml.value(&source).unwrap();
                    let edits = toml::insert(&source, &parts);
                    let installed = text_edit::apply(&source, &edits);
                    let value = SettingsFormat::Toml.value(&installed).unwrap();
                    assert_eq!(value, parts.added_to(&settings).unwrap(), "{installed}");
                    let record = Record::new(&edits, &settings, parts.clone());
                    let changed = |text: &str| match elsewhere {
                        true => text.replacen(mark, &format!("{mark}# new{lines}"), 1),
                        false => text.to_owned(),
                    };
                    assert_eq!(record.restored(&changed(&installed), SettingsFormat::Toml).unwrap(), changed(&source));
                    let broken = installed.replace("timeout = 9", "timeout = 1");
                    assert!(record.restored(&broken, SettingsFormat::Toml).is_err());
                    count += 1;
                }
            }
        }
        assert_eq!(count, 240);
    }
}
