//! Used ids of an episode, as fingerprints.

use hashbrown::HashTable;
use prefetch_index::prefetch_index;

use super::bytes::{Reader, Size, Writer};
use super::fingerprint::Fingerprint;

/// Set of fingerprints, each with its marks. Most episodes have few ids, but some have a million.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// A list with linear search.
    Few(Vec<Fingerprint>),
    /// A hash table. Boxed because it is rare and would enlarge every set.
    Many(Box<HashTable<Fingerprint>>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Ids {
    /// Maximum length of a list.
    const FEW: usize = 24;

    /// Maximum number of ids to pack: more would take longer to unpack than judging a packet.
    const MOST_PACKED: usize = 128;

    /// Prefetches the ids; see [`Ledger::prefetch`](super::Ledger::prefetch).
    pub(super) fn prefetch(&self) {
        if let Self::Few(list) = self {
            // One element per cache line, and the position of the next element.
            for at in (0..=list.len()).step_by(4) {
                prefetch_index(list, at);
            }
        }
    }

    /// Returns the stored fingerprint, with the marks with which it was added.
    pub(super) fn get(&self, id: Fingerprint) -> Option<Fingerprint> {
        let is = |other: &Fingerprint| other.is_same(id);
        match self {
            Self::Few(list) => list.iter().copied().find(is),
            Self::Many(table) => table.find(id.hash(), is).copied(),
        }
    }

    /// Adds a fingerprint; an existing one keeps its marks.
    pub(super) fn insert(&mut self, id: Fingerprint) {
        if self.get(id).is_none() {
            self.add(id);
        }
    }

    /// Adds a new fingerprint. If it already exists, the first one counts.
    pub(super) fn add(&mut self, id: Fingerprint) {
        match self {
            Self::Few(list) if list.len() < Self::FEW => {
                if list.capacity() == 0 {
                    list.reserve(FIRST);
                }
                list.push(id);
            }
            Self::Few(list) => *self = Self::many(list.drain(..).chain([id]), Self::FEW + 1),
            Self::Many(table) => drop(table.insert_unique(id.hash(), id, |id| id.hash())),
        }
    }

    /// Creates a table with capacity for `count` distinct fingerprints.
    fn many(ids: impl Iterator<Item = Fingerprint>, count: usize) -> Self {
        let mut table = HashTable::with_capacity(count);
        for id in ids {
            table.insert_unique(id.hash(), id, |id| id.hash());
        }
        Self::Many(Box::new(table))
    }

    /// Writes the ids unless there are too many, and returns whether they were written. Ids in `known` are
    /// omitted. With `Size::Any`, the ids are sorted.
    pub(super) fn pack(&self, known: &[Fingerprint], size: Size, writer: &mut Writer<'_>) -> bool {
        let (list, table) = match self {
            Self::Few(list) => (Some(list), None),
            Self::Many(table) => (None, Some(table)),
        };
        let all = || list.into_iter().flatten().chain(table.into_iter().flat_map(|table| table.iter()));
        let is_known = |id: &Fingerprint| match size {
            Size::Small => known.contains(id),
            Size::Any => known.binary_search(id).is_ok(),
        };
        let others = || all().filter(|id| !is_known(id));
        let count = others().count();
        if size == Size::Small && count > Self::MOST_PACKED {
            return false;
        }
        writer.number(count as u64);
        match size {
            Size::Small => others().for_each(|id| writer.fingerprint(*id)),
            Size::Any => {
                let mut sorted: Vec<_> = others().collect();
                sorted.sort_unstable();
                sorted.into_iter().for_each(|id| writer.fingerprint(*id));
            }
        }
        true
    }

    /// Reads the ids that [`pack`](Self::pack) wrote, and adds the `known` ones.
    pub(super) fn unpack(known: &[Fingerprint], reader: &mut Reader<'_>) -> Self {
        let written = reader.count();
        let count = written + known.len();
        let ids = (0..written).map(|_| reader.fingerprint()).chain(known.iter().copied());
        match count {
            0 => Self::default(),
            // Reserves space for the packets that will probably follow.
            1..=Self::FEW => {
                let mut list = Vec::with_capacity(count.next_multiple_of(FIRST));
                list.extend(ids);
                Self::Few(list)
            }
            _ => Self::many(ids, count),
        }
    }
}

/// Initial capacity of a list; holds the ids of a short episode.
const FIRST: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::fingerprint::Kind;
    use super::*;

    #[test]
    fn few_and_many_are_the_same_set() {
        let id = |number: usize| Fingerprint::new(Kind::Packet, &number.to_string());
        let mut ids = Ids::default();
        for number in 0..4 * Ids::FEW {
            assert_eq!(ids.get(id(number)), None);
            let added = if number % 3 == 0 { id(number).marked() } else { id(number) };
            ids.insert(added);
            ids.insert(id(number));
            assert_eq!(ids.get(id(number)), Some(added), "the mark stays");
            assert_eq!(ids.get(id(number).marked()), Some(added), "a mark makes no other id");
            assert_eq!(matches!(ids, Ids::Many(_)), number >= Ids::FEW);
        }
        assert!(
            (0..4 * Ids::FEW).all(|number| ids.get(id(number)).is_some_and(|id| id.is_marked() == (number % 3 == 0)))
        );
    }

    #[test]
    fn ids_are_packed_unless_they_are_too_many() {
        let id = |number: usize| Fingerprint::new(Kind::Task, &number.to_string());
        let mut ids = Ids::default();
        for number in 0..=Ids::MOST_PACKED {
            let mut bytes = Vec::new();
            assert!(ids.pack(&[], Size::Small, &mut Writer(&mut bytes)));
            let unpacked = Ids::unpack(&[], &mut Reader(&bytes));
            assert_eq!(matches!(unpacked, Ids::Many(_)), number > Ids::FEW);
            assert!((0..number).all(|number| unpacked.get(id(number)) == Some(id(number))));
            assert_eq!(unpacked.get(id(number)), None);
            ids.insert(id(number));
        }
        assert!(!ids.pack(&[], Size::Small, &mut Writer(&mut Vec::new())));
    }

    #[test]
    fn what_is_known_is_not_packed() {
        let id = |number: usize| Fingerprint::new(Kind::Task, &number.to_string());
        let mut ids = Ids::default();
        (0..10).for_each(|number| ids.insert(id(number)));
        let (known, mut bytes) = ([id(3), id(8)], Vec::new());
        assert!(ids.pack(&known, Size::Small, &mut Writer(&mut bytes)));
        assert_eq!(bytes.len(), 1 + 8 * 16);
        let unpacked = Ids::unpack(&known, &mut Reader(&bytes));
        assert!((0..20).all(|number| unpacked.get(id(number)) == ids.get(id(number))));
    }
}
