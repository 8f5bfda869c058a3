//! Index of episodes by correlation id.
//!
//! A `HashTable` instead of a `HashMap`, which would store every id twice: as a key and with the episode.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Hash table that maps ids to indices of episodes.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: HashTable<IndexEntry>,
    /// Seeded for each validator, so that no one can write a log whose ids collide. Order and verdicts do not depend on the seed.
    hasher: RandomState,
}

/// Some bits of the hash of an id. Different ids rarely have the same tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u32);

#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    place: u32,
    /// Stored so that the table can grow without reading ids, and most lookups do not read the ids of other episodes.
    tag: Tag,
}

impl Tag {
    /// Returns the hash for the table, which uses its lowest and highest bits.
    fn hash(self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Index {
    pub(super) fn tag(&self, id: &str) -> Tag {
        Tag((self.hasher.hash_one(id) >> 32) as u32)
    }

    /// Returns the index for a tag. `is` is called for each index with that tag until it returns `true`.
    pub(super) fn find(&self, tag: Tag, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.entries.find(tag.hash(), |entry| entry.tag == tag && is(entry.place)).map(|entry| entry.place)
    }

    /// Adds an id that is not in the table.
    pub(super) fn insert(&mut self, tag: Tag, place: u32) {
        self.entries.insert_unique(tag.hash(), IndexEntry { place, tag }, |entry| entry.tag.hash());
    }

    pub(super) fn remove(&mut self, tag: Tag, place: u32) {
        if let Ok(entry) = self.entries.find_entry(tag.hash(), |entry| entry.place == place) {
            entry.remove();
        }
    }

    /// Replaces all indices.
    pub(super) fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        for entry in self.entries.iter_mut() {
            entry.place = new(entry.place);
        }
        self.entries.shrink_to(2 * self.entries.len(), |entry| entry.tag.hash());
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_the_same_tag_are_told_apart() {
        let (mut index, tag) = (Index::default(), Tag(7));
        (0..100).for_each(|place| index.insert(tag, place));
        for place in 0..100 {
            assert_eq!(index.find(tag, |other| other == place), Some(place));
            assert_eq!(index.find(Tag(8), |_| true), None);
        }
        index.remove(tag, 50);
        index.renumber(|place| if place > 50 { place - 1 } else { place });
        let found = |place| index.find(tag, |other| other == place);
        assert_eq!((0..100).filter_map(found).collect::<Vec<_>>(), (0..99).collect::<Vec<_>>());
    }
}
