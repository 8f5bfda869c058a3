//! The ids that an episode has used, as fingerprints.

use hashbrown::HashTable;
use prefetch_index::prefetch_index;

use super::bytes::{Reader, Writer};
use super::fingerprint::Fingerprint;
use super::pack::Size;

/// A set of fingerprints, each with its mark. Most episodes have few ids; one may have a million.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// A list, searched from end to end.
    Few(Vec<Fingerprint>),
    /// What would be slow to search. Boxed, since few sets grow so large, and all pay for the larger variant.
    Many(Box<HashTable<Fingerprint>>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Ids {
    /// The most that are kept in a list.
    const FEW: usize = 24;

    /// The most that are packed: more would take longer to unpack than to judge a packet.
    const MOST_PACKED: usize = 128;

    /// See [`Ledger::prefetch`](super::Ledger::prefetch).
    pub(super) fn prefetch(&self) {
        if let Self::Few(list) = self {
            // Of each cache line one, and the place of the next.
            for at in (0..=list.len()).step_by(4) {
                prefetch_index(list, at);
            }
        }
    }

    /// The fingerprint as it is kept: with the mark that it was added with.
    pub(super) fn get(&self, id: Fingerprint) -> Option<Fingerprint> {
        let is = |other: &Fingerprint| other.is_same(id);
        match self {
            Self::Few(list) => list.iter().copied().find(is),
            Self::Many(table) => table.find(id.hash(), is).copied(),
        }
    }

    /// Adds a fingerprint; one that is there already keeps its mark.
    pub(super) fn insert(&mut self, id: Fingerprint) {
        if self.get(id).is_none() {
            self.add(id);
        }
    }

    /// Adds a fingerprint that is not there. If it is, the first one counts.
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

    /// A table with room for so many fingerprints, all of them different.
    fn many(ids: impl Iterator<Item = Fingerprint>, count: usize) -> Self {
        let mut table = HashTable::with_capacity(count);
        for id in ids {
            table.insert_unique(id.hash(), id, |id| id.hash());
        }
        Self::Many(Box::new(table))
    }

    /// Writes the ids, unless they are too many. Returns whether it has. Those that are `known` from elsewhere are left out;
    /// unless few are packed, they are sorted.
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

    /// The ids that [`pack`](Self::pack) wrote, and the `known` ones.
    pub(super) fn unpack(known: &[Fingerprint], reader: &mut Reader<'_>) -> Self {
        let written = reader.count();
        let count = written + known.len();
        let ids = (0..written).map(|_| reader.fingerprint()).chain(known.iter().copied());
        match count {
            0 => Self::default(),
            // With room for the packets that are likely to follow.
            1..=Self::FEW => {
                let mut list = Vec::with_capacity(count.next_multiple_of(FIRST));
                list.extend(ids);
                Self::Few(list)
            }
            _ => Self::many(ids, count),
        }
    }
}

/// How many ids a list has room for at first: those of a short episode.
const FIRST: usize = 8;

#[cfg(test)]
mod tests {
    use super::super::fingerprint::Kind;
    use super::*;

    #[test]
    fn few_and_many_are_the_same_set() {
        let id = |number: usize| Fingerprint::of(Kind::Packet, &number.to_string());
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
        let id = |number: usize| Fingerprint::of(Kind::Task, &number.to_string());
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
        let id = |number: usize| Fingerprint::of(Kind::Task, &number.to_string());
        let mut ids = Ids::default();
        (0..10).for_each(|number| ids.insert(id(number)));
        let (known, mut bytes) = ([id(3), id(8)], Vec::new());
        assert!(ids.pack(&known, Size::Small, &mut Writer(&mut bytes)));
        assert_eq!(bytes.len(), 1 + 8 * 16);
        let unpacked = Ids::unpack(&known, &mut Reader(&bytes));
        assert!((0..20).all(|number| unpacked.get(id(number)) == ids.get(id(number))));
    }
}
