//! Map with fingerprints as keys.

use std::collections::HashMap;

use super::fingerprint::{Fingerprint, PassThrough};

/// Map with fingerprints as keys. Most episodes have few ids, but some have a million.
#[derive(Clone, Debug)]
pub(super) enum Table<V> {
    /// A list without spare capacity, with linear search.
    Few(Vec<(Fingerprint, V)>),
    #[expect(clippy::box_collection, reason = "few tables grow so large, and all pay for the larger variant")]
    Many(Box<HashMap<Fingerprint, V, PassThrough>>),
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl<V> Table<V> {
    /// Maximum length of a list.
    pub(super) const FEW: usize = 24;

    /// Returns whether the map is a list.
    pub(super) fn is_few(&self) -> bool {
        matches!(self, Self::Few(_))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(map) => map.len(),
        }
    }

    pub(super) fn get(&self, id: Fingerprint) -> Option<&V> {
        match self {
            Self::Few(list) => list.iter().find(|(other, _)| *other == id).map(|(_, value)| value),
            Self::Many(map) => map.get(&id),
        }
    }

    pub(super) fn get_mut(&mut self, id: Fingerprint) -> Option<&mut V> {
        match self {
            Self::Few(list) => list.iter_mut().find(|(other, _)| *other == id).map(|(_, value)| value),
            Self::Many(map) => map.get_mut(&id),
        }
    }

    /// Changes a value, starting from the default value if there is none.
    pub(super) fn update(&mut self, id: Fingerprint, change: impl FnOnce(&mut V))
    where
        V: Default,
    {
        if let Some(known) = self.get_mut(id) {
            return change(known);
        }
        let mut value = V::default();
        change(&mut value);
        self.add(id, value);
    }

    /// Inserts or replaces a value.
    pub(super) fn insert(&mut self, id: Fingerprint, value: V) {
        match self.get_mut(id) {
            Some(known) => *known = value,
            None => self.add(id, value),
        }
    }

    fn add(&mut self, id: Fingerprint, value: V) {
        match self {
            Self::Few(list) if list.len() < Self::FEW => {
                if list.len() == list.capacity() {
                    // Doubling would waste more space than most episodes use.
                    list.reserve_exact(list.len().clamp(1, 2));
                }
                list.push((id, value));
            }
            Self::Few(list) => *self = Self::Many(Box::new(list.drain(..).chain([(id, value)]).collect())),
            Self::Many(map) => drop(map.insert(id, value)),
        }
    }

    pub(super) fn remove(&mut self, id: Fingerprint) -> Option<V> {
        match self {
            Self::Few(list) => {
                let at = list.iter().position(|(other, _)| *other == id)?;
                Some(list.swap_remove(at).1)
            }
            Self::Many(map) => map.remove(&id),
        }
    }

    /// Removes the first value in a list that matches; does nothing for a hash map.
    pub(super) fn remove_first(&mut self, test: impl Fn(&V) -> bool) -> Option<V> {
        let Self::Few(list) = self else { return None };
        let at = list.iter().position(|(_, value)| test(value))?;
        Some(list.swap_remove(at).1)
    }

    pub(super) fn for_each(&mut self, each: impl FnMut(&mut V)) {
        match self {
            Self::Few(list) => list.iter_mut().map(|(_, value)| value).for_each(each),
            Self::Many(map) => map.values_mut().for_each(each),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Fingerprint, &V)> {
        let (list, map) = match self {
            Self::Few(list) => (Some(list), None),
            Self::Many(map) => (None, Some(&**map)),
        };
        let few = list.into_iter().flatten().map(|(id, value)| (*id, value));
        few.chain(map.into_iter().flatten().map(|(id, value)| (*id, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fingerprint::Kind;
    use super::*;

    #[test]
    fn few_and_many_are_the_same_map() {
        let id = |number: usize| Fingerprint::new(Kind::Packet, &number.to_string());
        let mut table = Table::default();
        for number in 0..3 * Table::<usize>::FEW {
            assert_eq!(table.get(id(number)), None);
            table.insert(id(number), number);
            table.insert(id(number), number + 1000);
            assert_eq!(table.len(), number + 1);
            let mut values: Vec<_> = table.iter().map(|(_, value)| *value).collect();
            values.sort_unstable();
            assert_eq!(values, (1000..=1000 + number).collect::<Vec<_>>());
            assert!((0..=number).all(|number| table.get(id(number)) == Some(&(number + 1000))));
        }
        for number in 0..3 * Table::<usize>::FEW {
            assert_eq!(table.remove(id(number)), Some(number + 1000));
            assert_eq!(table.remove(id(number)), None);
        }
        assert_eq!(table.len(), 0);
    }
}
