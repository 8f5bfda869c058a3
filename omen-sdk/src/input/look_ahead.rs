//! Help texts that consider later packets, for a complete log.
//!
//! The validator judges each packet by those before it, so that it can follow a stream in bounded memory, and its help texts do
//! the same. In a complete log, the packet that a help asks for may be on the next line, so adding another one would be wrong. So
//! for some findings, small changes to the log are tried: moving a packet, removing a repeated one, using an id that later
//! packets name. A change becomes the help if it removes the finding and causes no new one. Verdicts, findings and their order
//! stay the same.

mod change;
mod episode;
mod log_packet;
#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests;
mod whole_log;

use std::num::NonZeroUsize;

use omen_types::Code;

use super::any_validator::AnyValidator;
use super::archive::Source;
use super::layout::Layout;
use crate::finding::{Finding, Stage};
use crate::lines::ReadError;
use crate::validator::{Depth, Sink, Summary, ValidatorOptions};

use whole_log::{Beginning, WholeLog};

/// Checks a log that is not being written, such as a file, and does not wait for more of it: the helps of its findings look ahead.
/// Findings and verdicts are those of [`judge`](super::judge).
///
/// Helps look ahead in logs of up to 4 MiB. From the first finding on whose help may change, findings are held until the end, up
/// to 1000 of them. A sink that [wants packets](Sink::wants_packets) gets the helps of [`judge`](super::judge).
///
/// # Errors
/// If the reader or the sink fails, with the counts of what was checked before.
pub fn judge_whole<E>(
    reader: Source,
    layout: Layout,
    options: ValidatorOptions,
    jobs: NonZeroUsize,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Summary, (ReadError<E>, Summary)> {
    if sink.wants_packets() || options.depth != Depth::InEpisode {
        return super::judge(reader, layout, AnyValidator::new(options, jobs), sink);
    }
    let log = match Beginning::read(reader, MOST_BYTES) {
        Beginning::Whole(log) => log,
        Beginning::Longer(reader) => return super::judge(reader, layout, AnyValidator::new(options, jobs), sink),
    };
    let mut held = HeldFindings { sink, held: Vec::new(), bytes: 0, is_full: false };
    let summary = super::judge(log.reader(), layout, AnyValidator::new(options.clone(), jobs), &mut held)?;
    let HeldFindings { sink, mut held, .. } = held;
    if !held.is_empty() {
        let mut log = WholeLog::new(&log, layout, options);
        held.iter_mut().filter(|(finding, _)| may_change(finding)).for_each(|(finding, _)| log.look_ahead(finding));
    }
    let passed = held.into_iter().try_for_each(|(finding, line)| sink.finding(finding, line.as_deref()));
    passed.map_err(|error| (ReadError::Sink(error), summary))?;
    Ok(summary)
}

/// Returns whether the help for a finding depends on later packets.
fn may_change(finding: &Finding) -> bool {
    let diagnostic = &finding.diagnostic;
    finding.follows_from.is_none()
        // An edit is the one that the help describes.
        && diagnostic.edit.is_none()
        && finding.packet_index.is_some()
        && finding.correlation_id.is_some()
        && match finding.stage {
            Stage::Fsm => true,
            Stage::Invariant => [Code::Chain, Code::Inv011].contains(&diagnostic.code),
            Stage::Schema => diagnostic.code == Code::Id || change::is_identity(diagnostic),
            _ => false,
        }
}

/// Holds findings from the first one on whose help may change.
struct HeldFindings<'s, E> {
    sink: &'s mut dyn Sink<Error = E>,
    held: Vec<(Finding, Option<String>)>,
    /// Bytes of the lines that are held.
    bytes: usize,
    /// Whether there were too many, so that no more are held.
    is_full: bool,
}

impl<E> Sink for HeldFindings<'_, E> {
    type Error = E;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), E> {
        if self.is_full || (self.held.is_empty() && !may_change(&finding)) {
            return self.sink.finding(finding, line);
        }
        self.bytes += line.map_or(0, str::len);
        self.held.push((finding, line.map(str::to_owned)));
        if self.held.len() < MOST_FINDINGS && self.bytes < MOST_BYTES {
            return Ok(());
        }
        self.is_full = true;
        std::mem::take(&mut self.held)
            .into_iter()
            .try_for_each(|(finding, line)| self.sink.finding(finding, line.as_deref()))
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> Result<(), E> {
        self.sink.caught_up()
    }
}

/// Maximum size of a log in which helps look ahead, and of the lines of held findings, in bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of held findings.
const MOST_FINDINGS: usize = 1000;
