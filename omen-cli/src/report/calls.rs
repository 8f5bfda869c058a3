//! The audit log: whether it is sound, and the entries that are.

use std::path::Path;

use omen::render::human::clean;
use omen_gate::audit::read_log;
use omen_gate::audit::store::log_of;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::ReportAuditArgs;
use crate::audit::{self, Report, Unreadable};
use crate::exit::complain;

/// An audit log.
#[derive(Debug)]
pub(super) struct Calls {
    /// What `omen audit verify` reports.
    pub(super) verdict: Report,
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
    /// Verifies an audit log in all its files, and keeps the entries that are sound. What cannot be read is reported.
    pub(super) fn read(log: &Path, args: &ReportAuditArgs) -> Result<Self, Unreadable> {
        let key = audit::key_at(args.key.key_file.as_deref(), args.key.key_env.as_deref()).ok_or(Unreadable)?;
        let anchor = args.anchor.as_deref().map(|path| audit::anchor(path, &key)).transpose()?;
        let (mut entries, mut left) = (Vec::new(), 0);
        let mut wrong = None;
        let found = read_log(log_of(log), &key, anchor.as_ref(), &mut |entry| {
            if entries.len() == MOST_ENTRIES {
                left += 1;
                return;
            }
            match serde_json::from_str(&entry.line()) {
                Ok(entry) => entries.push(entry),
                Err(error) => wrong = Some(error.to_string()),
            }
        });
        let found = found.map_err(|error| format!("{error}; {}", error.help()));
        match (found, wrong) {
            (Ok(found), None) => Ok(Self { verdict: Report::new(log, &found, anchor.as_ref()), entries, left }),
            (Err(why), _) | (_, Some(why)) => {
                complain(format_args!("{}", clean(&why)));
                Err(Unreadable)
            }
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.verdict.verdict == "sound"
    }
}

fn text<S: serde::Serializer>(data: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(data.get())
}

/// Entries that are shown.
const MOST_ENTRIES: usize = 20_000;
