//! The `--baseline` file: known findings, so that only new ones are reported.
//!
//! Findings are matched by fingerprint, and counted per fingerprint so that an additional one is new. The other fields of an
//! entry are for people, except `file`, which determines the entries that a run covers.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use omen::finding::Finding;
use omen_gate::regular_file;
use serde::{Deserialize, Serialize};

use crate::args::BaselineArgs;
use crate::exit::Failure;
use crate::formats::{self, FINGERPRINT_BYTES};
use crate::output::{Color, Output};

/// Known findings, and how often this run has found each.
#[derive(Debug)]
pub(super) struct Baseline {
    path: PathBuf,
    /// Whether this run's findings are written to the file.
    pub(super) is_written: bool,
    /// Known findings by fingerprint.
    entries: BTreeMap<BaselineFingerprint, BaselineFinding>,
    /// Names of the logs that were read to their end.
    read: HashSet<String>,
    /// Whether there are more different findings than a file may list.
    is_full: bool,
}

/// Findings with the same fingerprint.
#[derive(Debug)]
struct BaselineFinding {
    entry: BaselineEntry,
    found: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    #[serde(rename = "version")]
    _version: Version,
    findings: Vec<BaselineEntry>,
}

/// An entry of the file. Entries are sorted by their fields in this order.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    file: String,
    code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packet_id: Option<String>,
    fingerprint: BaselineFingerprint,
    count: NonZeroU64,
}

/// A hexadecimal fingerprint.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
struct BaselineFingerprint(String);

impl TryFrom<String> for BaselineFingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_hash =
            text.len() == 2 * FINGERPRINT_BYTES && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
        if is_hash {
            Ok(Self(text))
        } else {
            Err(format!("invalid fingerprint `{text}`; expected {} hexadecimal digits", 2 * FINGERPRINT_BYTES))
        }
    }
}

/// Version of the file.
#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Version;

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        if version == VERSION { Ok(Self) } else { Err(format!("found version {version}; expected version {VERSION}")) }
    }
}

impl Baseline {
    /// Reads the file, which need not exist if it is to be written.
    fn open(path: &Path, is_written: bool) -> Result<Self, Failure> {
        let name = path.display();
        let entries = match regular_file::read(path, MOST_BYTES) {
            Ok(bytes) => parse(&bytes).map_err(|error| {
                Failure::Usage(format!(
                    "invalid baseline {name}: {error}; fix it, or delete it and write a new one with `--write-baseline`"
                ))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_written => BTreeMap::new(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let help = "write it with `--write-baseline`";
                return Err(Failure::Usage(format!("cannot read the baseline {name}: {error}; {help}")));
            }
            Err(error) => return Err(Failure::Usage(format!("cannot read the baseline {name}: {error}"))),
        };
        Ok(Self { path: path.to_owned(), is_written, entries, read: HashSet::new(), is_full: false })
    }

    /// Reads the baseline file that the arguments name, if any.
    pub(super) fn from_args(args: &BaselineArgs) -> Result<Option<Self>, Failure> {
        let is_written = args.write_baseline;
        match &args.baseline {
            Some(path) => Self::open(path, is_written).map(Some),
            None if is_written => {
                let message =
                    "`--write-baseline` needs a file to write; add `--baseline FILE`, or `baseline` in omen.toml";
                Err(Failure::Usage(message.to_owned()))
            }
            None => Ok(None),
        }
    }

    /// Resets the counts of this run.
    pub(super) fn restarted(mut self) -> Self {
        self.entries.values_mut().for_each(|known| known.found = 0);
        self.read.clear();
        self
    }

    /// Counts a finding, and returns whether it is known. When writing, every finding becomes known.
    pub(super) fn knows(&mut self, log: &Path, finding: &Finding, line: Option<&str>) -> bool {
        let file = self.name(log);
        let fingerprint = BaselineFingerprint(formats::fingerprint(&file, finding, line));
        if let Some(known) = self.entries.get_mut(&fingerprint) {
            known.found += 1;
            return self.is_written || known.found <= known.entry.count.get();
        }
        if self.is_written && !self.is_full {
            self.is_full = self.entries.len() == MOST_ENTRIES;
            let entry = BaselineEntry {
                file,
                code: finding.diagnostic.code.as_str().to_owned(),
                correlation_id: finding.correlation_id.as_deref().map(short),
                packet_id: finding.packet_id.as_deref().map(short),
                fingerprint: fingerprint.clone(),
                count: NonZeroU64::MIN,
            };
            self.entries.insert(fingerprint, BaselineFinding { entry, found: 1 });
        }
        self.is_written
    }

    /// Records that a log was read to its end.
    pub(super) fn end(&mut self, log: &Path) {
        let name = self.name(log);
        self.read.insert(name);
    }

    /// Returns whether a path refers to the baseline file.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        crate::input::find::absolute(path) == crate::input::find::absolute(&self.path)
    }

    /// Returns the number of known findings that have disappeared, in logs that were read or that no longer exist.
    pub(super) fn gone(&self) -> u64 {
        let missed = |known: &BaselineFinding| known.entry.count.get().saturating_sub(known.found);
        let missed = self.entries.values().filter(|known| self.covers(known)).map(missed);
        missed.fold(0, u64::saturating_add)
    }

    /// Writes this run's findings, and keeps the entries of logs it has not read. Returns the number of findings written.
    pub(super) fn write(self) -> Result<u64, Failure> {
        if self.is_full {
            let message = format!("there are more than {MOST_ENTRIES} different findings, too many for a baseline");
            return Err(Failure::Usage(format!("{message}; omit logs, or allow codes with `-A` or `[[ignore]]`")));
        }
        let kept = |known: &BaselineFinding| match NonZeroU64::new(known.found) {
            Some(count) => Some(BaselineEntry { count, ..known.entry.clone() }),
            None => (!self.covers(known)).then(|| known.entry.clone()),
        };
        let mut entries: Vec<BaselineEntry> = self.entries.values().filter_map(kept).collect();
        entries.sort_unstable();
        let mut out = Output::to_file(&self.path, false, Color::Never)?;
        write!(out, "{{\"version\":{VERSION},\"findings\":[")?;
        for (at, entry) in entries.iter().enumerate() {
            out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut out, entry).map_err(io::Error::from)?;
        }
        out.write_all(b"\n]}\n")?;
        out.finish()?;
        Ok(entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.count.get())))
    }

    /// Returns whether this run would have found the findings of an entry again.
    fn covers(&self, known: &BaselineFinding) -> bool {
        let file = &known.entry.file;
        self.read.contains(file) || (file != "-" && !self.folder().join(file).exists())
    }

    fn name(&self, log: &Path) -> String {
        formats::name_from(self.folder(), log)
    }

    /// Returns the folder that log names are relative to, so that they do not depend on the working directory.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Shows the path of the baseline file.
impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<BaselineFingerprint, BaselineFinding>, String> {
    let content: BaselineFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut entries = BTreeMap::new();
    for entry in content.findings {
        let before = entries.insert(entry.fingerprint.clone(), BaselineFinding { entry, found: 0 });
        if let Some(BaselineFinding { entry, .. }) = before {
            return Err(format!("two entries have the fingerprint `{}`", entry.fingerprint.0));
        }
    }
    Ok(entries)
}

/// Truncates an id to the length that people need to recognize a packet.
fn short(id: &str) -> String {
    formats::cut(id, MOST_CHARACTERS).into_owned()
}

const VERSION: u64 = 1;

/// Maximum number of entries in a file; nobody reviews a longer list.
const MOST_ENTRIES: usize = 100_000;

/// Maximum size of a file in bytes; enough for the maximum number of entries.
const MOST_BYTES: u64 = 128 << 20;

/// Maximum length of an id in characters.
const MOST_CHARACTERS: usize = 200;
