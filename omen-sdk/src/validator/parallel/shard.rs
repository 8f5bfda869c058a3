//! Shards: the episodes, distributed by correlation id, so that several threads judge packets at a time.

use omen_types::Instant;

use super::super::ValidatorOptions;
use super::super::episodes::{Episodes, Found, Late};
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

    /// What is late in an episode.
    pub(super) fn tick(&mut self, at: usize, now: Instant) -> Option<Late<'_>> {
        self.episodes.tick(at, now)
    }

    pub(super) fn len(&self) -> usize {
        self.episodes.len()
    }
}

/// The episodes of all shards in the order in which they began, each by its shard and its place in there.
pub(super) fn order(shards: &[Shard]) -> Vec<(usize, usize)> {
    let places = |(at, shard): (usize, &Shard)| {
        shard.begun.iter().copied().zip((0..).map(move |place| (at, place))).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = shards.iter().enumerate().flat_map(places).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, place)| place).collect()
}

/// The episodes of all shards in the order in which they began.
pub(super) fn in_order(shards: &[Shard]) -> impl Iterator<Item = (&str, Found<'_>)> {
    order(shards).into_iter().filter_map(|(shard, at)| shards.get(shard)?.episodes.at(at))
}
