//! The smallest text on which the sides still disagree in the same way.

use super::cases::{Case, Cases, Origin};
use super::judge::{Complaint, Fault, judge};
use super::mutant::{Mutant, spell};
use super::mutate::Kind;

/// A text on which the sides disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// How to reproduce it.
    pub origin: Origin,
    /// Kind of disagreement.
    pub fault: Fault,
    /// The changes needed to cause it.
    pub kinds: Vec<Kind>,
    /// Both verdicts on the smallest text found.
    pub details: String,
    /// The smallest text found with this disagreement.
    pub text: String,
}

/// Undoes changes and drops values as long as the sides disagree in the same way.
pub(super) fn shrink(cases: &Cases, case: &Case<'_>, complaint: Complaint) -> Disagreement {
    let (origin, fault) = (case.origin, complaint.fault);
    let Origin::Mutant { seed, number } = origin else {
        let text = String::from_utf8_lossy(case.bytes).into_owned();
        return Disagreement { origin, fault, kinds: Vec::new(), details: complaint.details, text };
    };
    let pool = cases.pool();
    let mut best = (Mutant::new(&pool, seed, number), complaint);
    let fails = |text: &str| judge(&cases.schemas, text).err().filter(|complaint| complaint.fault == fault);
    let mut at = 0;
    while at < best.0.changes.len() {
        let mut fewer = best.0.changes.clone();
        fewer.remove(at);
        let smaller = best.0.with(&pool, fewer);
        match fails(&smaller.text) {
            Some(complaint) => best = (smaller, complaint),
            None => at += 1,
        }
    }
    let (Mutant { mut tree, mut text, changes, .. }, mut complaint) = best;
    // Parents come before children, so large parts are dropped first.
    let mut index = 1;
    while let Some(path) = tree.paths(|_| true).get(index) {
        let mut smaller = tree.clone();
        smaller.remove(path);
        let spelled = spell(&smaller, &changes);
        match fails(&spelled) {
            Some(found) => (tree, text, complaint) = (smaller, spelled, found),
            None => index += 1,
        }
    }
    let kinds = changes.iter().map(|change| change.kind).collect();
    Disagreement { origin, fault, kinds, details: complaint.details, text }
}
