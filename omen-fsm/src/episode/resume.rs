//! Taking an episode up again from its log.

use std::fmt;

use omen_types::{Code, Diagnostic, Packet};

use super::ending::OnDrop;
use super::refused::Refusal;
use super::{AnyEpisode, Setup};

/// A log that cannot be taken up: the protocol has something against it.
#[derive(Debug)]
pub struct ResumeError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
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
    /// Takes an episode up where its log ends: with its state, envelope, budgets, tokens, open tasks and
    /// the progress of its loop. Lines that are blank, and packets of other episodes than the one that
    /// `setup` names, are passed over. The lines are not written again. A handle that wrote the log before writes nothing
    /// any more, also if the log cannot be taken up.
    ///
    /// # Errors
    /// If a validator would refuse one of the lines: what does not validate does not resume. A last line that was
    /// cut short as the log failed is such a one: cut it off first, for that step was not taken.
    pub fn resume<'l>(setup: Setup, log: impl IntoIterator<Item = &'l str>) -> Result<Self, ResumeError> {
        let mut core = setup.into_core();
        // Before its log is read to the end: from here on nobody else writes to it.
        core.claims.take_over(&core.origin.correlation_id, &core.leases);
        // If the log cannot be taken up, nothing is written behind it.
        let on_drop = std::mem::replace(&mut core.on_drop, OnDrop::Leave);
        core.is_over = false;
        for (number, text) in (1..).zip(log).filter(|(_, text)| !text.trim().is_empty()) {
            let failed = |why| ResumeError { line: number, why };
            let packet: Packet =
                text.parse().map_err(|rejected: Box<omen_types::Rejected>| failed(Refusal::Rules(rejected.errors)))?;
            if packet.header().correlation_id == core.origin.correlation_id {
                core.replay(packet, text).map_err(failed)?;
            }
        }
        core.on_drop = on_drop;
        Ok(Self::of(Box::new(core)))
    }
}

/// What is wrong when a step needs what the episode does not have.
pub(super) fn missing(code: Code, problem: impl Into<String>) -> Refusal {
    Refusal::rule(Diagnostic::error(code, problem).help(code.info().help))
}
