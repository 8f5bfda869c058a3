//! A valid packet with a few changes, determined by a seed and a number.

use fastrand::Rng;

use super::form;
use super::json::Json;
use super::mutate::{Kind, Pool};

/// A change, with the seed of its random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) kind: Kind,
    seed: u64,
}

/// A packet before and after its changes.
pub(super) struct Mutant {
    base: Json,
    pub(super) changes: Vec<Change>,
    pub(super) tree: Json,
    pub(super) text: String,
}

impl Mutant {
    pub(super) fn new(pool: &Pool<'_>, seed: u64, number: u64) -> Self {
        let mut rng = Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let base = pool.packet(&mut rng).cloned().unwrap_or(Json::Null);
        let count = *rng.choice(&[1, 1, 1, 2, 2, 3]).unwrap_or(&1);
        let mut changes = Vec::new();
        let mut tree = base.clone();
        while changes.len() < count {
            let change = Change { kind: *rng.choice(Kind::ALL).unwrap_or(&Kind::Null), seed: rng.u64(..) };
            if pool.apply(change.kind, &mut tree, &mut Rng::with_seed(change.seed)) {
                changes.push(change);
            }
        }
        let text = spell(&tree, &changes);
        Self { base, changes, tree, text }
    }

    /// Returns the same base with fewer changes.
    pub(super) fn with(&self, pool: &Pool<'_>, changes: Vec<Change>) -> Self {
        let mut tree = self.base.clone();
        for change in &changes {
            pool.apply(change.kind, &mut tree, &mut Rng::with_seed(change.seed));
        }
        let text = spell(&tree, &changes);
        Self { base: self.base.clone(), changes, tree, text }
    }
}

/// Returns the text of a tree, with the changes that affect only the text.
pub(super) fn spell(tree: &Json, changes: &[Change]) -> String {
    let spelling = changes.iter().find(|change| change.kind == Kind::Spelling);
    let mut text = tree.write(&mut spelling.map(|change| Rng::with_seed(change.seed)));
    for change in changes {
        form::apply(change.kind, &mut text, &mut Rng::with_seed(change.seed));
    }
    text
}
