//! Shards: the episodes, distributed by correlation id, so that several threads judge packets at a time.

use omen_fsm::Machine;

use super::super::ValidatorOptions;
use super::super::episodes::Episodes;
use super::super::judge::judge;
use super::block::Item;
use super::report::Outcome;

/// Some of the episodes of a stream. One thread at a time judges their packets, in the order of the stream.
#[derive(Debug, Default)]
pub(super) struct Shard {
    episodes: Episodes,
    /// Where each episode began, to report them in the order of the whole stream at its end.
    begun: Vec<u64>,
}

impl Shard {
    /// Judges a packet in the block at `at`. Nothing is returned for a packet without findings, unless `all` are wanted.
    pub(super) fn judge<'t>(
        &mut self,
        at: u64,
        item: Item<'t>,
        options: &ValidatorOptions,
        all: bool,
    ) -> Option<Outcome<'t>> {
        let Item { line, packet, parsed } = item;
        let episodes = self.episodes.len();
        let judged = judge(parsed, &mut self.episodes, options);
        if self.episodes.len() > episodes {
            self.begun.push(at + line);
        }
        (all || !judged.findings.is_empty()).then_some(Outcome { line, packet, judged })
    }

    pub(super) fn len(&self) -> usize {
        self.episodes.len()
    }
}

/// The episodes of all shards, in the order in which they began.
pub(super) fn in_order(shards: &[Shard]) -> impl Iterator<Item = (&str, &Machine)> {
    let mut all: Vec<_> = shards.iter().flat_map(|shard| shard.begun.iter().zip(shard.episodes.in_order())).collect();
    all.sort_unstable_by_key(|(begun, _)| **begun);
    all.into_iter().map(|(_, episode)| episode)
}

/// As [`in_order`].
pub(super) fn in_order_mut(shards: &mut [Shard]) -> impl Iterator<Item = (&str, &mut Machine)> {
    let mut all: Vec<_> =
        shards.iter_mut().flat_map(|Shard { episodes, begun }| begun.iter().zip(episodes.in_order_mut())).collect();
    all.sort_unstable_by_key(|(begun, _)| **begun);
    all.into_iter().map(|(_, episode)| episode)
}
