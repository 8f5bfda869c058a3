//! Episodes of a stream, by correlation id.

mod index;
mod unpacked;

use std::mem;
use std::ops::Deref;

use omen_fsm::{Machine, Node, NodeSet, PackedMachine};
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::{Diagnostic, Instant};

use index::{Index, Tag};
use prefetch_index::prefetch_index;
use unpacked::{Slot, UnpackedEpisodes};

/// Episodes of a stream, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    all: Vec<Episode>,
    /// Indices into `all`. The ids are stored only there, so each id is stored once.
    by_id: Index,
    unpacked: UnpackedEpisodes,
    /// Number of episodes that have begun, including those that have ended.
    begun: u64,
    /// Number of ended episodes in `all`.
    ended: usize,
}

/// Episode in two words, packed or not.
#[derive(Debug)]
enum Episode {
    /// Slot of the unpacked machine; `None` once the episode has ended.
    Unpacked(Option<u32>),
    Packed(PackedMachine),
}

/// Machine of an episode, unpacked if necessary.
pub(super) enum EpisodeMachine<'e> {
    Borrowed(&'e Machine),
    Owned(Box<Machine>),
}

/// Late directives of an episode.
pub(super) struct Late<'e> {
    pub(super) correlation_id: &'e str,
    /// Possible states of the episode.
    pub(super) nodes: NodeSet,
    /// Findings, each with the packet id of the directive.
    pub(super) directives: Vec<(String, Diagnostic)>,
}

impl Deref for EpisodeMachine<'_> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        match self {
            Self::Borrowed(machine) => machine,
            Self::Owned(machine) => machine,
        }
    }
}

impl Episodes {
    /// Writes the open episodes to a snapshot, in order.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.begun);
        writer.number((self.all.len() - self.ended) as u64);
        let mut machine = Vec::new();
        for episode in &self.all {
            machine.clear();
            let id = match episode {
                Episode::Unpacked(Some(slot)) => {
                    let slot = self.unpacked.slot(*slot);
                    slot.machine.write(&mut machine);
                    &*slot.id
                }
                Episode::Packed(packed) => {
                    packed.unpack().write(&mut machine);
                    packed.correlation_id()
                }
                Episode::Unpacked(None) => continue,
            };
            writer.text(id);
            writer.bytes(&machine);
        }
    }

    /// Reads the episodes from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self::default().filled(reader)
    }

    /// Reduces the number of unpacked machines to a share of `1 / parts`.
    pub(super) fn share(&mut self, parts: usize) {
        let mut bytes = Vec::new();
        self.write(&mut Writer(&mut bytes));
        *self = Self::one_of(parts).filled(&mut Reader(&bytes));
    }

    fn filled(self, reader: &mut Reader<'_>) -> Self {
        let mut episodes = self;
        let begun = reader.number();
        for _ in 0..reader.count() {
            let id = reader.text();
            *episodes.get_or_start(None, id) = Machine::read(reader.bytes());
        }
        Self { begun, ..episodes }
    }

    /// Creates one of `parts` instances that together keep as many machines unpacked as a single instance would.
    pub(super) fn one_of(parts: usize) -> Self {
        Self { unpacked: UnpackedEpisodes::with_room(UnpackedEpisodes::MOST / parts.max(1)), ..Self::default() }
    }

    /// Returns the number of indices, including those of ended episodes that were not removed yet.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of episodes that have begun, including those that have ended.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Returns the possible states of an episode, or the initial states if it has not begun.
    pub(super) fn nodes(&self, id: &str) -> NodeSet {
        match self.place(id).and_then(|at| self.all.get(at as usize)) {
            Some(Episode::Unpacked(Some(slot))) => self.unpacked.slot(*slot).machine.nodes(),
            Some(Episode::Packed(packed)) => packed.nodes(),
            Some(Episode::Unpacked(None)) | None => NodeSet::of(Node::INITIAL),
        }
    }

    /// Returns the machine of an episode that has begun.
    pub(super) fn get(&self, id: &str) -> Option<EpisodeMachine<'_>> {
        self.at(self.place(id)? as usize).map(|(_, found)| found)
    }

    /// Returns the index of an episode that has begun. The index is valid until any episode ends.
    fn place(&self, id: &str) -> Option<u32> {
        self.find(self.by_id.tag(id), id)
    }

    /// Returns the indices of a group of episodes. Looking up the group costs little more than looking up one episode,
    /// because most of the time is spent waiting for memory: each round prefetches what the next round needs for the
    /// whole group. The last round prefetches what is needed to judge their packets.
    pub(super) fn places<'i>(&self, ids: impl Iterator<Item = Option<&'i str>>) -> [Option<u32>; GROUP] {
        let mut group = [const { None }; GROUP];
        for (one, id) in group.iter_mut().zip(ids) {
            *one = id.and_then(|id| {
                let tag = self.by_id.tag(id);
                // The first candidate is almost always the right one.
                let place = self.by_id.find(tag, |_| true)?;
                prefetch_index(&self.all, place as usize);
                Some((id, tag, place))
            });
        }
        let slots = group.map(|one| match self.all.get(one?.2 as usize)? {
            Episode::Unpacked(slot) => slot.inspect(|slot| self.unpacked.prefetch(*slot)),
            Episode::Packed(_) => None,
        });
        for slot in slots.iter().flatten() {
            self.unpacked.prefetch_lists(*slot);
        }
        group.map(|one| {
            let (id, tag, place) = one?;
            if self.is_of(place, id) { Some(place) } else { self.find(tag, id) }
        })
    }

    /// Returns the machine of an episode, and begins the episode if necessary. The index is looked up unless it is given.
    #[expect(clippy::indexing_slicing, reason = "the position was just found")]
    pub(super) fn get_or_start(&mut self, place: Option<u32>, id: &str) -> &mut Machine {
        let slot = match place.or_else(|| self.place(id)) {
            None => self.start(id, self.by_id.tag(id)),
            Some(at) => match &self.all[at as usize] {
                Episode::Unpacked(Some(slot)) => *slot,
                Episode::Packed(packed) => {
                    let machine = packed.unpack();
                    let slot = self.wake(id, at, machine);
                    self.all[at as usize] = Episode::Unpacked(Some(slot));
                    slot
                }
                // INVARIANT: an ended episode cannot be found.
                Episode::Unpacked(None) => self.start(id, self.by_id.tag(id)),
            },
        };
        self.unpacked.machine(slot)
    }

    /// Ends an episode, forgets it, and returns its machine if the episode had begun.
    #[expect(clippy::indexing_slicing, reason = "the position was just found")]
    pub(super) fn end(&mut self, id: &str) -> Option<Box<Machine>> {
        let tag = self.by_id.tag(id);
        let at = self.find(tag, id)?;
        self.by_id.remove(tag, at);
        let machine = match mem::replace(&mut self.all[at as usize], Episode::Unpacked(None)) {
            Episode::Unpacked(slot) => self.unpacked.end(slot?),
            Episode::Packed(packed) => packed.unpack(),
        };
        self.ended += 1;
        if self.ended > self.all.len() / 2 {
            self.close_ranks();
        }
        Some(Box::new(machine))
    }

    /// Removes ended episodes. This is done when they make up half of all, so it takes amortized constant time for each.
    fn close_ranks(&mut self) {
        let mut new = Vec::with_capacity(self.all.len());
        let mut next = 0;
        for episode in &self.all {
            new.push(next);
            next += u32::from(!matches!(episode, Episode::Unpacked(None)));
        }
        self.by_id.renumber(|at| new.get(at as usize).copied().unwrap_or(at));
        self.all.retain(|episode| !matches!(episode, Episode::Unpacked(None)));
        self.all.shrink_to(2 * self.all.len());
        self.ended = 0;
        for (at, episode) in (0..).zip(&self.all) {
            if let Episode::Unpacked(Some(slot)) = episode {
                self.unpacked.slot_mut(*slot).at = Some(at);
            }
        }
    }

    /// Returns the episodes in order, each with its id.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (&str, EpisodeMachine<'_>)> {
        (0..self.len()).filter_map(|at| self.at(at))
    }

    pub(super) fn at(&self, at: usize) -> Option<(&str, EpisodeMachine<'_>)> {
        Some(match self.all.get(at)? {
            Episode::Unpacked(slot) => {
                let slot = self.unpacked.slot((*slot)?);
                (&*slot.id, EpisodeMachine::Borrowed(&slot.machine))
            }
            Episode::Packed(packed) => (packed.correlation_id(), EpisodeMachine::Owned(Box::new(packed.unpack()))),
        })
    }

    /// Returns the directives of an episode that are late at a given time (see [`Machine::tick`]); `None` if none are late.
    pub(super) fn tick(&mut self, at: usize, now: Instant) -> Option<Late<'_>> {
        match self.all.get_mut(at)? {
            Episode::Unpacked(slot) => {
                let slot = self.unpacked.slot_mut((*slot)?);
                let directives = slot.machine.tick(now);
                Some(Late { correlation_id: &slot.id, nodes: slot.machine.nodes(), directives })
            }
            Episode::Packed(packed) if packed.has_open() => {
                let mut machine = packed.unpack();
                let directives = machine.tick(now);
                // A machine that was packed can be packed again, because lateness is only a flag.
                if !directives.is_empty()
                    && let Some(ticked) = machine.pack(packed.correlation_id(), &mut Vec::new())
                {
                    *packed = ticked;
                }
                Some(Late { correlation_id: packed.correlation_id(), nodes: packed.nodes(), directives })
            }
            Episode::Packed(_) => None,
        }
    }

    fn find(&self, tag: Tag, id: &str) -> Option<u32> {
        self.by_id.find(tag, |at| self.is_of(at, id))
    }

    /// Returns whether the episode at an index has the given id.
    fn is_of(&self, at: u32, id: &str) -> bool {
        match self.all.get(at as usize) {
            Some(Episode::Unpacked(Some(slot))) => *self.unpacked.slot(*slot).id == *id,
            Some(Episode::Packed(packed)) => packed.is_of(id),
            Some(Episode::Unpacked(None)) | None => false,
        }
    }

    /// Begins an episode and returns its slot.
    fn start(&mut self, id: &str, tag: Tag) -> u32 {
        // Four billion open episodes would need more than half a terabyte of memory.
        let at = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let slot = self.wake(id, at, Machine::default());
        self.all.push(Episode::Unpacked(Some(slot)));
        self.begun += 1;
        self.by_id.insert(tag, at);
        slot
    }

    /// Puts a machine into a slot, and packs another machine if no slot is free.
    #[expect(clippy::indexing_slicing, reason = "an unpacked machine has a position")]
    fn wake(&mut self, id: &str, at: u32, machine: Machine) -> u32 {
        let (slot, packed) = self.unpacked.add(Slot::new(id, machine, at));
        if let Some((at, packed)) = packed {
            self.all[at as usize] = Episode::Packed(packed);
        }
        slot
    }
}

/// Number of packets whose episodes are looked up together.
pub(super) const GROUP: usize = 16;

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;
    use crate::finding::Finding;
    use crate::validator::{JudgedPacket, Sink, Validator, ValidatorOptions};

    impl Episodes {
        /// Creates an instance that keeps at most the given number of machines unpacked.
        fn with_room(most: usize) -> Self {
            Self { unpacked: UnpackedEpisodes::with_room(most), ..Self::default() }
        }
    }

    /// Sink that collects everything that a validator reports.
    #[derive(Default)]
    struct All(Vec<String>);

    impl Sink for All {
        type Error = Infallible;

        fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
            self.0.push(format!("{finding:?}"));
            Ok(())
        }

        fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Infallible> {
            self.0.push(format!("{packet:?}"));
            Ok(())
        }
    }

    /// Returns the report on a log, with at most `most` unpacked machines and a tick after every `tick` lines.
    fn said(log: &[String], most: usize, tick: usize) -> Vec<String> {
        let mut validator = Validator::new(ValidatorOptions::default());
        validator.judge.episodes = Episodes::with_room(most);
        let mut all = All::default();
        for (at, line) in log.iter().enumerate() {
            let Ok(()) = validator.feed(line.as_bytes(), &mut all);
            if (at + 1) % tick == 0 {
                let Ok(()) = validator.tick("2026-03-01T10:05:00Z".parse().expect("a time"), &mut all);
            }
        }
        let Ok(summary) = validator.finish(&mut all);
        all.0.push(format!("{summary:?}"));
        all.0
    }

    /// Returns all examples with distinct ids, interleaved line by line.
    fn interleaved() -> Vec<String> {
        let mut lines = BTreeMap::new();
        for (file, (_, log)) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).enumerate() {
            for (number, line) in log.lines().enumerate() {
                lines.insert((number, file), format!("{}\n", line.replace("\"corr_", &format!("\"corr_{file}_"))));
            }
        }
        lines.into_values().collect()
    }

    #[test]
    fn how_many_machines_are_awake_makes_no_difference() {
        let log = interleaved();
        for tick in [usize::MAX, 50] {
            let expected = said(&log, usize::MAX, tick);
            assert!(expected.len() > log.len() + 100, "{} lines, {} said", log.len(), expected.len());
            for most in [1, 2, 7, 64] {
                assert_eq!(said(&log, most, tick), expected, "{most} awake");
            }
        }
    }

    #[test]
    fn an_episode_takes_two_words() {
        assert_eq!(size_of::<Episode>(), 2 * size_of::<usize>());
    }

    #[test]
    fn as_many_are_awake_as_there_is_room_for() {
        let mut episodes = Episodes::with_room(3);
        for round in 0..3 {
            for number in 0..10 {
                episodes.get_or_start(None, &format!("corr_{number}"));
                let awake = episodes.all.iter().filter(|episode| matches!(episode, Episode::Unpacked(_))).count();
                assert_eq!(awake, if round == 0 { 3.min(number + 1) } else { 3 });
            }
        }
        assert_eq!(episodes.len(), 10);
        let ids: Vec<String> = episodes.in_order().map(|(id, _)| id.to_owned()).collect();
        assert_eq!(ids, (0..10).map(|number| format!("corr_{number}")).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_packed_stays_awake() {
        let mut episodes = Episodes::with_room(2);
        let long = |number: usize| format!("corr_{number}_{}", "x".repeat(5_000));
        for number in 0..10 {
            episodes.get_or_start(None, &long(number));
            episodes.get_or_start(None, &format!("corr_{number}"));
        }
        for number in 0..10 {
            assert_eq!(episodes.nodes(&long(number)), NodeSet::of(Node::INITIAL));
            episodes.get_or_start(None, &long(number));
        }
        let awake = |episode: &&Episode| matches!(episode, Episode::Unpacked(_));
        assert!((10..=12).contains(&episodes.all.iter().filter(awake).count()));
        assert_eq!(episodes.len(), 20);
    }

    #[test]
    fn the_machine_that_had_a_packet_lately_stays_awake() {
        let mut episodes = Episodes::with_room(4);
        episodes.get_or_start(None, "busy");
        for number in 0..100 {
            episodes.get_or_start(None, &format!("corr_{number}"));
            episodes.get_or_start(None, "busy");
            let busy = episodes.all.first();
            assert!(matches!(busy, Some(Episode::Unpacked(_))), "after {number}");
        }
    }

    #[test]
    fn an_episode_that_has_ended_begins_anew() {
        let mut episodes = Episodes::with_room(2);
        let id = |number: usize| format!("corr_{number}");
        for number in 0..6 {
            episodes.get_or_start(None, &id(number));
        }
        assert!(episodes.end("corr_none").is_none());
        for number in [0, 5, 3] {
            assert!(episodes.end(&id(number)).is_some());
            assert!(episodes.end(&id(number)).is_none(), "{number}: it has ended");
        }
        let ids = |episodes: &Episodes| episodes.in_order().map(|(id, _)| id.to_owned()).collect::<Vec<_>>();
        assert_eq!(ids(&episodes), [1, 2, 4].map(id));
        episodes.get_or_start(None, &id(0));
        assert_eq!(ids(&episodes), [1, 2, 4, 0].map(id), "after those that began before");
        assert_eq!(episodes.begun(), 7);
        assert!((0..6).all(|number| episodes.nodes(&id(number)) == NodeSet::of(Node::INITIAL)));
    }

    #[test]
    fn episodes_that_have_ended_take_no_place() {
        let mut episodes = Episodes::with_room(3);
        for number in 0..1_000 {
            // Some machines are too large to be packed.
            let id = format!("corr_{number}_{}", if number % 7 == 0 { "x".repeat(5_000) } else { String::new() });
            episodes.get_or_start(None, "corr_first");
            episodes.get_or_start(None, &id);
            episodes.get_or_start(None, &format!("corr_{}", number / 100));
            assert!(episodes.end(&id).is_some());
        }
        let ids: Vec<_> = episodes.in_order().map(|(id, _)| id.to_owned()).collect();
        let expected = std::iter::once("corr_first".to_owned()).chain((0..10).map(|number| format!("corr_{number}")));
        assert_eq!(ids, expected.collect::<Vec<_>>());
        assert_eq!((episodes.begun(), episodes.by_id.len()), (1_011, 11));
        assert!(episodes.all.len() <= 22, "{} places", episodes.all.len());
        assert!(episodes.unpacked.slots() <= 6, "{} slots", episodes.unpacked.slots());
        for id in ids {
            assert!(episodes.end(&id).is_some(), "{id}");
        }
        assert_eq!((episodes.in_order().count(), episodes.by_id.len()), (0, 0));
    }
}
