//! Shards: disjoint sets of episodes, divided by correlation id, so that several threads can judge packets in parallel.

use std::panic;
use std::thread::{self, Builder};

use omen_types::Instant;

use super::super::episodes::{EpisodeMachine, Episodes, GROUP, Late};
use super::super::judge::judge;
use super::super::options::ValidatorOptions;
use super::super::options::at_end;
use super::super::root_cause::{LostLine, RootCauses};
use super::block::{Item, Items};
use super::report::Outcome;

/// Position of a block in the stream.
#[derive(Debug, Default)]
pub(super) struct BlockPosition {
    /// Sort key among the blocks (see [`Block::at`](super::block::Block::at)).
    pub(super) at: u64,
    /// Number of lines before the block.
    pub(super) line: u64,
    /// Lines in the block that may be packets of any episode.
    pub(super) lost: Vec<LostLine>,
}

/// Some of the episodes of a stream. Their packets are judged by one thread at a time, in stream order.
#[derive(Debug, Default)]
pub(super) struct Shard {
    episodes: Episodes,
    root_causes: RootCauses,
    /// Position at which each episode began; the episodes are reported in that order at the end of the stream.
    begun: Vec<u64>,
}

impl Shard {
    /// Creates one of the given number of shards.
    pub(super) fn one_of(shards: usize) -> Self {
        Self { episodes: Episodes::one_of(shards), root_causes: RootCauses::one_of(shards), begun: Vec::new() }
    }

    /// Judges this shard's packets in a block. A packet without findings has no outcome, unless `all` is set.
    pub(super) fn judge<'t>(
        &mut self,
        place: &BlockPosition,
        shard: usize,
        items: &Items<'t>,
        options: &ValidatorOptions,
        all: bool,
    ) -> Vec<Outcome<'t>> {
        let mut outcomes = Vec::new();
        let mut lost = place.lost.iter().copied().peekable();
        let mut items = items.of_shard(shard).peekable();
        while items.peek().is_some() {
            let mut group: [Option<&Item<'t>>; GROUP] = [None; GROUP];
            group.iter_mut().zip(&mut items).for_each(|(place, item)| *place = Some(item));
            let places = self.episodes.places(group.iter().flatten().map(|item| item.parsed.correlation_id()));
            for (Item { line, packet, parsed }, episode) in group.iter().flatten().zip(places) {
                let episodes = self.episodes.len();
                let number = place.line + *line + 1;
                while let Some(lost) = lost.next_if(|lost| lost.line < number) {
                    self.root_causes.lost(lost);
                }
                let judges = (&mut self.episodes, &mut self.root_causes);
                let judged = judge(parsed, number, episode, judges, options, all);
                if self.episodes.len() > episodes {
                    self.begun.push(place.at + *line);
                }
                if let Some(judged) = judged {
                    outcomes.push(Outcome { line: *line, packet: *packet, judged });
                }
            }
        }
        self.pass(lost);
        outcomes
    }

    /// Records lines that may be packets of any episode.
    pub(super) fn pass(&mut self, lost: impl IntoIterator<Item = LostLine>) {
        lost.into_iter().for_each(|line| self.root_causes.lost(line));
    }

    /// Returns the late directives of an episode, and the root causes of the shard.
    pub(super) fn tick(&mut self, at: usize, now: Instant) -> (Option<Late<'_>>, &mut RootCauses) {
        (self.episodes.tick(at, now), &mut self.root_causes)
    }

    /// Returns the episodes with findings at the end of the stream, each as its start position and its index.
    fn open(&self, options: &ValidatorOptions) -> Vec<(u64, usize)> {
        let is_open =
            |place: &usize| self.episodes.at(*place).is_some_and(|(_, machine)| !at_end(&machine, options).is_empty());
        self.begun.iter().copied().zip(0..).filter(|(_, place)| is_open(place)).collect()
    }

    /// Returns an episode, and the root causes of the shard.
    pub(super) fn episode(&mut self, place: usize) -> Option<((&str, EpisodeMachine<'_>), &mut RootCauses)> {
        Some((self.episodes.at(place)?, &mut self.root_causes))
    }

    pub(super) fn len(&self) -> usize {
        self.episodes.len()
    }
}

/// Returns the episodes of all shards in the order in which they began, each as shard and index.
pub(super) fn order(shards: &[Shard]) -> Vec<(usize, usize)> {
    let places = shards.iter().map(|shard| shard.begun.iter().copied().zip(0..).collect());
    merged(places.collect())
}

/// Returns the episodes with findings at the end of the stream. Several threads search for them, because that takes
/// longer than reporting them: in most logs, most episodes have ended.
pub(super) fn open(shards: &[Shard], options: &ValidatorOptions, threads: usize) -> Vec<(usize, usize)> {
    let open = |shards: &[Shard]| shards.iter().map(|shard| shard.open(options)).collect::<Vec<_>>();
    let (mine, others) = shards.split_at(shards.len().div_ceil(threads.max(1)));
    let found = thread::scope(|scope| {
        let others: Vec<_> = others
            .chunks(mine.len().max(1))
            .map(|shards| (shards, Builder::new().name("omen".to_owned()).spawn_scoped(scope, move || open(shards))))
            .collect();
        let mut found = open(mine);
        for (shards, thread) in others {
            found.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
                // The system refuses to start that many threads.
                Err(_) => open(shards),
            });
        }
        found
    });
    merged(found)
}

/// Merges the episodes of all shards in the order in which they began.
fn merged(shards: Vec<Vec<(u64, usize)>>) -> Vec<(usize, usize)> {
    let with_shard =
        |(shard, places): (usize, Vec<_>)| places.into_iter().map(move |(begun, place)| (begun, shard, place));
    let mut all: Vec<_> = shards.into_iter().enumerate().flat_map(with_shard).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, shard, place)| (shard, place)).collect()
}
