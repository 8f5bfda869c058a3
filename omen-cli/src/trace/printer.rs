//! Interface of the trace formats.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;
use omen::validator::JudgedPacket;
use omen_fsm::NodeSet;

use crate::output::Output;

/// Printer of a trace in one format.
pub(super) trait TracePrinter {
    /// Begins a log.
    fn file(&mut self, out: &mut Output, path: &Path) -> io::Result<()>;

    /// Writes a packet and its findings.
    fn packet(&mut self, out: &mut Output, path: &Path, packet: &JudgedPacket<'_>, found: &[Finding])
    -> io::Result<()>;

    /// Ends a log with the state of each episode, and the findings about the end of the log.
    fn end(&mut self, out: &mut Output, path: &Path, states: &States, findings: &[Finding]) -> io::Result<()>;

    /// Writes the totals after all logs.
    fn totals(&mut self, out: &mut Output, files: u64, total: &Summary) -> io::Result<()>;
}

/// States of all episodes, in the order of their first packets.
#[derive(Default)]
pub(super) struct States {
    pub(super) all: Vec<(String, NodeSet)>,
    pub(super) at: HashMap<String, usize>,
}

impl States {
    pub(super) fn set(&mut self, episode: &str, state: NodeSet) {
        match self.at.get(episode).and_then(|at| self.all.get_mut(*at)) {
            Some((_, old)) => *old = state,
            None => {
                self.at.insert(episode.to_owned(), self.all.len());
                self.all.push((episode.to_owned(), state));
            }
        }
    }
}
