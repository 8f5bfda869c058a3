//! Detection of an episode that is open at the end of one file and continues in the next: the files may be parts of one log.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use omen::finding::{Finding, Severity, Stage};
use omen::validator::{Node, NodeSet};

use crate::input;

/// Finds the first episode that is split between two consecutively checked files.
#[derive(Debug, Default)]
pub(super) struct ContinuedEpisodes<'r> {
    /// Number of the current file, from 1.
    files: usize,
    /// Last file with the beginning (`true`) or the rest (`false`) of an episode: its number and path.
    halves: HashMap<(String, bool), (usize, &'r Path)>,
    found: Option<Cut<'r>>,
}

/// An episode that is split between two files.
#[derive(Clone, Debug)]
pub(super) struct Cut<'r> {
    episode: String,
    files: [&'r Path; 2],
}

impl<'r> ContinuedEpisodes<'r> {
    pub(super) fn next_file(&mut self) {
        self.files += 1;
    }

    pub(super) fn add(&mut self, file: &'r Path, finding: &Finding) {
        let Some(episode) = finding.correlation_id.as_ref().filter(|_| self.found.is_none()) else { return };
        let is_begin = finding.stage == Stage::End;
        let is_rest =
            finding.diagnostic.severity == Severity::Error && finding.state.as_deref().is_some_and(is_initial);
        if !is_begin && !is_rest {
            return;
        }
        let other = self.halves.get(&(episode.clone(), !is_begin)).filter(|(number, _)| number + 1 == self.files);
        if let Some((_, other)) = other {
            let files = if is_begin { [file, *other] } else { [*other, file] };
            self.found = Some(Cut { episode: episode.clone(), files });
        } else if self.halves.len() < MOST {
            self.halves.insert((episode.clone(), is_begin), (self.files, file));
        }
    }

    pub(super) fn found(&self) -> Option<Cut<'r>> {
        self.found.clone()
    }
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [begin, rest] = self.files.map(input::name);
        let episode = &self.episode;
        write!(
            f,
            "the episode {episode} is open at the end of {begin} and continues in {rest}; `--join` checks the files \
             of one log together"
        )
    }
}

/// Returns whether these states mean that the episode has not begun.
fn is_initial(states: &[&str]) -> bool {
    states.iter().copied().eq(NodeSet::of(Node::INITIAL).states().into_iter().map(|state| state.as_str()))
}

/// Maximum number of recorded halves.
const MOST: usize = 10_000;
