//! Resumption of an episode from its log.

use std::fmt;

use omen_types::{Code, Diagnostic, Packet};

use super::drop_policy::OnDrop;
use super::errors::Refusal;
use super::{AnyEpisode, Setup};

/// Log that cannot be resumed, because a validator would reject one of its lines.
#[derive(Debug)]
pub struct ResumeError {
    /// Line number, starting at 1.
    pub line: usize,
    /// Error in the line.
    pub why: Refusal,
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the log: {}", self.line, self.why)
    }
}

impl std::error::Error for ResumeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}

impl AnyEpisode {
    /// Resumes an episode at the end of its log, with its state, envelope, budgets, tokens, open tasks and the progress
    /// of its loop. Blank lines and packets of episodes other than that of `setup` are skipped. The lines are not
    /// written again. From then on, the earlier handle to the episode cannot write, even if the log cannot be resumed.
    ///
    /// # Errors
    /// A line that a validator would reject, or packets of the episode in the log of `setup` after the last one of
    /// `log` ([`Refusal::Stale`]). An incomplete last line, which a failed log may leave behind, is also rejected:
    /// remove it first, because its move was not completed.
    pub fn resume<'l>(setup: Setup, log: impl IntoIterator<Item = &'l str>) -> Result<Self, ResumeError> {
        let mut core = setup.into_core();
        // Done before the log is read: from here on, no other handle can write to it.
        core.claims.take_over(&core.origin.correlation_id, &core.leases);
        // If the log cannot be resumed, nothing is appended to it.
        let on_drop = std::mem::replace(&mut core.on_drop, OnDrop::Leave);
        core.is_over = false;
        let mut end = 0;
        for (number, text) in (1..).zip(log).filter(|(_, text)| !text.trim().is_empty()) {
            end = number;
            let failed = |why| ResumeError { line: number, why };
            let packet: Packet =
                text.parse().map_err(|rejected: Box<omen_types::Rejected>| failed(Refusal::Rules(rejected.errors)))?;
            if packet.header().correlation_id == core.origin.correlation_id {
                core.replay(packet, text).map_err(failed)?;
            }
        }
        if !core.log.ends_with(&core.origin.correlation_id, core.last.as_ref()) {
            return Err(ResumeError { line: end, why: Refusal::Stale });
        }
        core.on_drop = on_drop;
        Ok(Self::from_core(Box::new(core)))
    }
}

/// Returns the refusal of a move that requires something the episode does not have.
pub(super) fn missing(code: Code, problem: impl Into<String>) -> Refusal {
    Refusal::rule(Diagnostic::error(code, problem).help(code.info().help))
}
