//! Schedule of the threads.
//!
//! Any thread may parse a block. Its packets are judged shard by shard, each shard in block order. When all shards have
//! judged a block, the thread that has the sink reports its outcomes. There are no phases in which threads wait for
//! each other: a few blocks are in flight at a time, in different stages, and their facts stay in the cache.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::root_cause::LostLine;
use super::block::{Block, Items, ParsedBlock};
use super::report::{Outcome, Report};
use super::shard::{BlockPosition, Shard};

/// Blocks in flight, and the shards.
#[derive(Debug)]
pub(super) struct Schedule<'t> {
    blocks: &'t [Block<'t>],
    /// Index of the first block that has not been reported yet; it is in the first slot.
    front: usize,
    /// Number of lines before that block.
    front_line: u64,
    /// Blocks that are being parsed, judged or reported, in stream order.
    slots: VecDeque<BlockSlot<'t>>,
    lanes: Vec<Lane>,
    /// Maximum number of blocks in flight.
    window: usize,
    /// Number of errors in broken lines of the blocks in flight.
    errors: usize,
    /// Memory of reported blocks, for reuse.
    spare: Vec<Items<'t>>,
    /// Number of threads that wait for a task.
    pub(super) waiting: usize,
    /// Whether a thread has failed, or everything is reported.
    is_stopped: bool,
}

/// Block in flight.
#[derive(Debug, Default)]
struct BlockSlot<'t> {
    at: u64,
    is_parsed: bool,
    /// Parsed lines, which several shards judge in parallel.
    items: Arc<Items<'t>>,
    /// Number of shards that have judged the block.
    judged: usize,
    outcomes: Vec<Outcome<'t>>,
    lines: u64,
    packets: u64,
    errors: usize,
    lost: Vec<LostLine>,
    /// Part that is parsed after the previous part was reported.
    rest: Option<Block<'t>>,
}

/// Shard with its progress.
#[derive(Debug)]
struct Lane {
    /// `None` while a thread uses the shard.
    shard: Option<Shard>,
    /// Index of the next block for the shard to judge.
    next: usize,
}

/// Next task of a thread.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one task for each thread")]
pub(super) enum Task<'t> {
    Parse {
        index: usize,
        block: Block<'t>,
        items: Items<'t>,
    },
    /// Judge the packets of one shard in a block.
    Judge {
        lane: usize,
        shard: Shard,
        place: BlockPosition,
        items: Arc<Items<'t>>,
    },
    /// Report the outcomes of the first block.
    Report(Report<'t>),
    /// Wait until another thread has finished a task.
    Wait,
    /// Stop, because no tasks are left.
    End,
}

impl<'t> Schedule<'t> {
    /// Creates the schedule of a batch. `front_line` is the number of lines in the stream before the blocks.
    pub(super) fn new(blocks: &'t [Block<'t>], shards: Vec<Shard>, threads: usize, front_line: u64) -> Self {
        Self {
            blocks,
            front: 0,
            front_line,
            slots: VecDeque::new(),
            lanes: shards.into_iter().map(|shard| Lane { shard: Some(shard), next: 0 }).collect(),
            window: threads.saturating_mul(WINDOW),
            errors: 0,
            spare: Vec::new(),
            waiting: 0,
            is_stopped: false,
        }
    }

    /// Returns the next task. Only the thread that has the sink passes `may_report`.
    ///
    /// Tasks of the blocks that are closest to completion come first, to keep few blocks in flight.
    pub(super) fn next(&mut self, may_report: bool) -> Task<'t> {
        if self.is_stopped {
            return Task::End;
        }
        if may_report {
            if self.front == self.blocks.len() {
                return Task::End;
            }
            if let Some(report) = self.report() {
                return Task::Report(report);
            }
        }
        if let Some(task) = self.judge() {
            return task;
        }
        self.parse().unwrap_or(Task::Wait)
    }

    fn report(&mut self) -> Option<Report<'t>> {
        let slot = self.slots.front_mut().filter(|slot| slot.is_parsed && slot.judged == self.lanes.len())?;
        let outcomes = std::mem::take(&mut slot.outcomes);
        Some(Report { outcomes, lines: slot.lines, packets: slot.packets })
    }

    fn judge(&mut self) -> Option<Task<'t>> {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if lane.shard.is_none() || !is_open(&self.slots, self.front, lane.next) {
                continue;
            }
            let place = place(&self.slots, self.front_line, lane.next - self.front);
            let slot = self.slots.get_mut(lane.next - self.front)?;
            let items = Arc::clone(&slot.items);
            return Some(Task::Judge { lane: index, shard: lane.shard.take()?, place, items });
        }
        None
    }

    fn parse(&mut self) -> Option<Task<'t>> {
        // The first block is parsed regardless of the limits, so there is always a task.
        let rest = self.slots.front_mut().filter(|slot| !slot.is_parsed).and_then(|slot| slot.rest.take());
        let (index, block) = match rest {
            Some(block) => (self.front, block),
            None => {
                let index = self.front + self.slots.len();
                let is_full = self.slots.len() >= self.window || self.errors >= MAX_WAITING_ERRORS;
                let block = *self.blocks.get(index)?;
                if is_full && !self.slots.is_empty() {
                    return None;
                }
                self.slots.push_back(BlockSlot::default());
                (index, block)
            }
        };
        let items = self.spare.pop().unwrap_or_default();
        Some(Task::Parse { index, block, items })
    }

    /// Adds the result of parsing a block.
    pub(super) fn parsed(&mut self, index: usize, block: ParsedBlock<'t>) {
        let ParsedBlock { at, items, lines, packets, errors, lost, rest } = block;
        if let Some(slot) = index.checked_sub(self.front).and_then(|at| self.slots.get_mut(at)) {
            self.errors += errors;
            let (items, outcomes) = (Arc::new(items), Vec::new());
            *slot = BlockSlot { at, is_parsed: true, items, judged: 0, outcomes, lines, packets, errors, lost, rest };
        }
        for lane in 0..self.lanes.len() {
            self.advance(lane);
        }
    }

    /// Puts back a shard that has judged its packets of a block.
    pub(super) fn judged(&mut self, lane: usize, shard: Shard, outcomes: Vec<Outcome<'t>>) {
        let Some(this) = self.lanes.get_mut(lane) else { return };
        this.shard = Some(shard);
        if let Some(slot) = this.next.checked_sub(self.front).and_then(|at| self.slots.get_mut(at)) {
            slot.outcomes.extend(outcomes);
            slot.judged += 1;
            this.next += 1;
        }
        self.advance(lane);
    }

    /// Advances a shard past the blocks in which it has nothing left to judge.
    fn advance(&mut self, lane: usize) {
        let Some(this) = self.lanes.get_mut(lane).filter(|lane| lane.shard.is_some()) else { return };
        while is_open(&self.slots, self.front, this.next)
            && let Some(slot) = self.slots.get(this.next - self.front)
            && slot.items.of_shard(lane).len() == 0
        {
            if !slot.lost.is_empty()
                && let Some(shard) = &mut this.shard
            {
                shard.pass(place(&self.slots, self.front_line, this.next - self.front).lost);
            }
            let Some(slot) = self.slots.get_mut(this.next - self.front) else { return };
            slot.judged += 1;
            this.next += 1;
        }
    }

    /// Removes the first block after it was reported, or continues with the rest of it.
    pub(super) fn reported(&mut self) {
        let Some(slot) = self.slots.front_mut() else { return };
        self.spare.extend(Arc::into_inner(std::mem::take(&mut slot.items)));
        self.errors -= slot.errors;
        self.front_line += slot.lines;
        if slot.rest.is_some() {
            slot.is_parsed = false;
            slot.errors = 0;
            for lane in &mut self.lanes {
                lane.next = self.front;
            }
        } else {
            self.slots.pop_front();
            self.front += 1;
        }
    }

    /// Returns the number of shards.
    pub(super) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    pub(super) fn into_shards(self) -> Vec<Shard> {
        self.lanes.into_iter().filter_map(|lane| lane.shard).collect()
    }
}

/// Returns the position of a block if those before it have been parsed.
fn place(slots: &VecDeque<BlockSlot<'_>>, front_line: u64, index: usize) -> BlockPosition {
    let line = front_line + slots.iter().take(index).map(|slot| slot.lines).sum::<u64>();
    let (at, lost) = slots.get(index).map_or((0, &[][..]), |slot| (slot.at, slot.lost.as_slice()));
    BlockPosition { at, line, lost: lost.iter().map(|lost| LostLine { line: line + lost.line + 1, ..*lost }).collect() }
}

/// Returns whether the packets of a block can be judged: it is parsed, and the block before it is completely parsed.
fn is_open(slots: &VecDeque<BlockSlot<'_>>, front: usize, index: usize) -> bool {
    let Some(at) = index.checked_sub(front) else { return false };
    let before = at.checked_sub(1).and_then(|before| slots.get(before));
    slots.get(at).is_some_and(|slot| slot.is_parsed) && before.is_none_or(|slot| slot.is_parsed && slot.rest.is_none())
}

/// Maximum number of blocks in flight per thread. Without delays, there are two or three.
pub(super) const WINDOW: usize = 8;

/// Maximum number of unreported errors in broken lines; no further block is parsed until some are reported.
const MAX_WAITING_ERRORS: usize = 8192;
