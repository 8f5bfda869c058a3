//! Collection of mistakes.

use super::kind::MistakeKind;
use super::node::Node;
use crate::mistake::Mistake;

/// Mistakes found so far.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Mistake>);

impl Report {
    pub(super) fn add(
        &mut self,
        kind: MistakeKind,
        at: &Node<'_>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.0.push(Mistake {
            place: None,
            file: at.file.to_owned(),
            pointer: at.pointer.clone(),
            kind: kind.slug(),
            problem: problem.into(),
            help: help.into(),
        });
    }

    pub(super) fn add_missing_file(&mut self, file: &str, holds: &str) {
        self.0.push(Mistake {
            place: None,
            file: file.to_owned(),
            pointer: String::new(),
            kind: MistakeKind::MissingFile.slug(),
            problem: format!("missing file; it holds {holds}"),
            help: format!("add `{file}`"),
        });
    }

    /// Returns the number of mistakes. If the number grows during a check, the check has found some.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        self.0
    }
}
