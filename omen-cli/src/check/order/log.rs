//! Reader for the entries of an audit log, across all its files: verified with the log's key, or unverified.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use omen_gate::audit::store::numbered;
use omen_gate::audit::{Key, MAX_LINE_BYTES, read_log};
use omen_gate::order::LogEntry;
use omen_gate::regular_file;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::audit::reason;

pub(super) struct EntryReader<'r> {
    pub(super) log: &'r Path,
    pub(super) key: Option<&'r Key>,
}

/// Reason why a log was not read to its end.
pub(super) enum ReadFault {
    /// The log is unreadable or not sound; the text says why.
    Input(String),
    Output(io::Error),
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Consumer of entries; it receives the file, the entry, and the text of its line.
type EntryConsumer<'s> = dyn FnMut(&Path, &LogEntry<'_>, &str) -> Result<(), ReadFault> + 's;

/// An entry whose MAC is not verified.
#[derive(Deserialize)]
struct UnverifiedEntry {
    sequence: u64,
    time: String,
    kind: String,
    turn: Option<String>,
    data: Map<String, Value>,
}

impl EntryReader<'_> {
    pub(super) fn read(&self, seen: &mut EntryConsumer<'_>) -> Result<(), ReadFault> {
        match self.key {
            Some(key) => self.verified(key, seen),
            None => self.unverified(seen),
        }
    }

    fn verified(&self, key: &Key, seen: &mut EntryConsumer<'_>) -> Result<(), ReadFault> {
        let (mut number, mut file, mut result) = (1, self.log.to_owned(), Ok(()));
        let found = read_log(self.log, key, None, &mut |entry| {
            let kind = entry.kind();
            if kind == "continued" {
                number += 1;
                file = numbered(self.log, number);
            }
            if result.is_ok() {
                result = seen(&file, &LogEntry::new(entry, &kind), &entry.line());
            }
        });
        result?;
        let found = found.map_err(|error| ReadFault::Input(format!("{error}; {}", error.help())))?;
        match found.is_sound() {
            true => Ok(()),
            false => Err(ReadFault::Input(format!("the log is {}", reason(self.log, &found)))),
        }
    }

    fn unverified(&self, seen: &mut EntryConsumer<'_>) -> Result<(), ReadFault> {
        for number in 1.. {
            let path = numbered(self.log, number);
            if number > 1 && !path.exists() {
                break;
            }
            file(&path, seen)?;
        }
        Ok(())
    }
}

fn file(path: &PathBuf, seen: &mut EntryConsumer<'_>) -> Result<(), ReadFault> {
    let bad = |error: io::Error| ReadFault::Input(error.to_string());
    let mut lines = BufReader::new(regular_file::open(path).map_err(bad)?);
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let most = MAX_LINE_BYTES as u64 + 1;
        lines.by_ref().take(most).read_until(b'\n', &mut line).map_err(bad)?;
        // A line without a line feed is still being written, or was left by a crash.
        let Some(text) = line.strip_suffix(b"\n") else {
            return match line.len() as u64 >= most {
                true => Err(ReadFault::Input(format!("line {number} exceeds {MAX_LINE_BYTES} bytes"))),
                false => Ok(()),
            };
        };
        let not_entry = |why: String| ReadFault::Input(format!("line {number} is not an entry of an audit log: {why}"));
        let text = std::str::from_utf8(text).map_err(|error| not_entry(error.to_string()))?;
        let entry: UnverifiedEntry = serde_json::from_str(text).map_err(|error| not_entry(error.to_string()))?;
        let UnverifiedEntry { sequence, time, kind, turn, data } = &entry;
        let entry = LogEntry { sequence: *sequence, time, kind, turn: turn.as_deref(), data };
        seen(path, &entry, text)?;
    }
    Ok(())
}
