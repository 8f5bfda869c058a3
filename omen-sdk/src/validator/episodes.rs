//! The episodes of a stream, found by correlation id.
//!
//! A `HashTable` instead of a `HashMap`, which would keep every id twice: as a key, and for the order.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use omen_fsm::{Machine, Node, NodeSet};

/// The episodes, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    all: Vec<Episode>,
    /// Positions in `all`, which has the ids, so that they are stored once.
    by_id: HashTable<u32>,
    /// Seeded for each validator, so that no log can be made whose ids collide. Order and verdicts do not depend on it.
    hasher: RandomState,
}

#[derive(Debug)]
struct Episode {
    id: Box<str>,
    machine: Machine,
}

impl Episodes {
    /// The number of episodes.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The possible states of an episode; the initial ones if it has not begun.
    pub(super) fn nodes(&self, id: &str) -> NodeSet {
        let found = self.by_id.find(self.hasher.hash_one(id), |at| self.is(*at, id));
        found.and_then(|at| self.all.get(*at as usize)).map_or(NodeSet::of(Node::INITIAL), |e| e.machine.nodes())
    }

    /// The episode with an id, which begins if there is none.
    #[expect(clippy::indexing_slicing, reason = "the position was just found or added")]
    pub(super) fn get_or_start(&mut self, id: &str) -> &mut Machine {
        let hash = self.hasher.hash_one(id);
        let at = match self.by_id.find(hash, |at| self.is(*at, id)) {
            Some(at) => *at as usize,
            None => self.start(id, hash),
        };
        &mut self.all[at].machine
    }

    pub(super) fn in_order(&self) -> impl Iterator<Item = (&str, &Machine)> {
        self.all.iter().map(|episode| (episode.id.as_ref(), &episode.machine))
    }

    pub(super) fn in_order_mut(&mut self) -> impl Iterator<Item = (&str, &mut Machine)> {
        self.all.iter_mut().map(|episode| (&*episode.id, &mut episode.machine))
    }

    fn is(&self, at: u32, id: &str) -> bool {
        self.all.get(at as usize).is_some_and(|episode| *episode.id == *id)
    }

    fn start(&mut self, id: &str, hash: u64) -> usize {
        let at = self.all.len();
        self.all.push(Episode { id: id.into(), machine: Machine::default() });
        // Four billion episodes need more than a terabyte of memory.
        let position = u32::try_from(at).unwrap_or(u32::MAX);
        let (all, hasher) = (&self.all, &self.hasher);
        let rehash = |at: &u32| all.get(*at as usize).map_or(0, |episode| hasher.hash_one(&*episode.id));
        self.by_id.insert_unique(hash, position, rehash);
        at
    }
}
