//! The audit log in a report: its verdict and its sound entries.

use std::path::Path;

use omen::render::human::clean;
use omen_gate::audit::read_log;
use omen_gate::audit::store::log_of;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::ReportAuditArgs;
use crate::audit::{self, LogCounts, Standing, Tally, VerificationReport};
use crate::exit::{Failure, unreadable};

use super::texts::grouped;

/// An audit log, as the report shows it.
#[derive(Debug)]
pub(super) struct Calls {
    /// Report of the verification, as from `omen audit verify`.
    pub(super) verdict: VerificationReport,
    /// Sound entries, up to a limit.
    pub(super) entries: Vec<LogEntry>,
    /// Number of sound entries beyond the limit.
    pub(super) left: u64,
    /// Counts over all sound entries.
    pub(super) counts: LogCounts,
}

/// An entry of the log without its MAC.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LogEntry {
    sequence: u64,
    time: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packet_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    /// Status of the call according to this entry.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
    /// Raw text, so that the page shows the data as written.
    #[serde(serialize_with = "text")]
    data: Box<RawValue>,
}

impl Calls {
    /// Verifies an audit log with all its files, and keeps its sound entries. Reports a log that cannot be read.
    pub(super) fn read(log: &Path, args: &ReportAuditArgs) -> Result<Self, Failure> {
        let key = audit::key_at(args.key.key_file.as_deref(), args.key.key_env.as_deref())?;
        let anchor = args.anchor.as_deref().map(|path| audit::anchor(path, &key)).transpose()?;
        let (mut entries, mut left, mut tally) = (Vec::new(), 0, Tally::default());
        let mut wrong = None;
        let found = read_log(log_of(log), &key, anchor.as_ref(), &mut |entry| {
            let standing = tally.add(entry);
            if entries.len() == MOST_ENTRIES {
                left += 1;
                return;
            }
            match serde_json::from_str(&entry.line()) {
                Ok(entry) => entries.push(LogEntry { standing, ..entry }),
                Err(error) => wrong = Some(error.to_string()),
            }
        });
        let found = found.map_err(|error| format!("{error}; {}", error.help()));
        match (found, wrong) {
            (Ok(found), None) => {
                let counts = tally.end(&found);
                for entry in &mut entries {
                    if counts.in_doubt.binary_search(&entry.sequence).is_ok() {
                        entry.standing = Some(Standing::InDoubt);
                    }
                }
                Ok(Self { verdict: VerificationReport::new(log, &found, anchor.as_ref()), entries, left, counts })
            }
            (Err(why), _) | (_, Some(why)) => Err(unreadable(clean(&why))),
        }
    }

    /// Returns the message without the verdict at its start, which the page shows separately.
    pub(super) fn message(&self) -> &str {
        let message = self.verdict.message.as_str();
        let rest = message.strip_prefix(self.verdict.verdict).unwrap_or(message);
        rest.trim_start_matches([':', ';', ',', ' '])
    }

    /// Returns the entry numbers of intents of calls in doubt, up to a limit.
    pub(super) fn doubts(&self) -> String {
        let all = &self.counts.in_doubt;
        let shown: Vec<_> = all.iter().take(MOST_DOUBTS).map(|number| grouped(*number)).collect();
        let more = all.len() - shown.len();
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }

    /// Returns what an auditor has to look into, such as refused calls, and calls that may or may not have run.
    pub(super) fn concerns(&self) -> Vec<String> {
        let LogCounts { in_doubt, waiting, unconfirmed, order, .. } = &self.counts;
        let counts = [
            (self.counts.bypasses, "call that ran despite the gate"),
            (self.counts.refusals(), "refused call"),
            (in_doubt.len() as u64, "call in doubt"),
            (*waiting as u64, "call waiting for a confirmation"),
            (*unconfirmed as u64, "call that was never confirmed"),
            (order.owed, "call that is owed"),
        ];
        counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| noted(number, noun)).collect()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.verdict.verdict == "sound"
    }
}

/// Formats a count with its noun, in which "call" takes the plural.
fn noted(number: u64, noun: &str) -> String {
    match noun.split_once("call") {
        Some((before, after)) if number != 1 => {
            let after = after.replace(" waits ", " wait ").replace(" was ", " were ").replace(" is ", " are ");
            format!("{} {before}calls{after}", grouped(number))
        }
        _ => format!("{} {noun}", grouped(number)),
    }
}

fn text<S: serde::Serializer>(data: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(data.get())
}

/// Maximum number of calls in doubt listed in the summary.
const MOST_DOUBTS: usize = 20;

/// Maximum number of entries shown.
const MOST_ENTRIES: usize = 20_000;
