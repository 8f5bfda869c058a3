//! The audit log: whether it is sound, and the entries that are.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use omen::render::human::clean;
use omen_gate::audit::LogVerdict;
use omen_gate::audit::{Key, Verification, Verifier};
use omen_gate::regular;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::ReportAuditArgs;
use crate::audit::{self, Unreadable};
use crate::exit::complain;

/// An audit log.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) name: String,
    pub(super) found: Verification,
    /// The number of entries when the anchor was taken.
    pub(super) anchor: Option<u64>,
    /// The sound entries, up to a limit.
    pub(super) entries: Vec<Entry>,
    /// Sound entries beyond the limit.
    pub(super) left: u64,
}

/// An entry of the log, as it stands there without its seal.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Entry {
    sequence: u64,
    time: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packet_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    /// As text: the page shows it as it was written.
    #[serde(serialize_with = "text")]
    data: Box<RawValue>,
}

impl Calls {
    /// Verifies an audit log, and reads the entries that are sound. What cannot be read is reported.
    pub(super) fn read(log: &Path, args: &ReportAuditArgs) -> Result<Self, Unreadable> {
        let key = audit::key_at(args.key.key_file.as_deref(), args.key.key_env.as_deref()).ok_or(Unreadable)?;
        let anchor = args.anchor.as_deref().map(|path| audit::anchor(path, &key)).transpose()?;
        let found = audit::found(log, &key, anchor.as_ref()).ok_or(Unreadable)?;
        let (entries, left) = entries(log, &key, &found).map_err(|error| {
            complain(format_args!("cannot read {}: {}", log.display(), clean(&error.to_string())));
            Unreadable
        })?;
        let name = log.to_string_lossy().into_owned();
        Ok(Self { name, found, anchor: anchor.map(|anchor| anchor.count()), entries, left })
    }

    /// The verdict in words.
    pub(super) fn state(&self) -> String {
        clean(&self.found.verdict.to_string()).into_owned()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.found.verdict == LogVerdict::Sound
    }
}

/// The entries that were found sound. Their seals are compared once more: the file may have changed in between.
fn entries(log: &Path, key: &Key, found: &Verification) -> std::io::Result<(Vec<Entry>, u64)> {
    if found.entries == 0 {
        return Ok((Vec::new(), 0));
    }
    let mut lines = BufReader::new(regular::open(log)?).take(found.bytes);
    let mut verifier = Verifier::new(None, key, None);
    let (mut entries, mut left) = (Vec::new(), 0);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        verifier.feed(&line);
        if entries.len() < MOST_ENTRIES {
            entries.push(serde_json::from_slice(&line)?);
        } else {
            left += 1;
        }
        line.clear();
    }
    let again = verifier.finish();
    if (again.entries, again.last) != (found.entries, found.last) {
        return Err(std::io::Error::other("the log was changed while it was read"));
    }
    Ok((entries, left))
}

fn text<S: serde::Serializer>(data: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(data.get())
}

/// Entries that are shown.
const MOST_ENTRIES: usize = 20_000;
