//! Ownership of partitions.
//!
//! All workers compute the same owner for each partition from the same list of live workers (rendezvous hashing). For a moment two
//! workers may both consider themselves the owner; then the commits of one are refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::names;

/// Returns the partitions of a worker. Each goes to the member with the highest hash that has room: shares differ by at most one.
pub(crate) fn owned(id: &str, members: &BTreeSet<String>, partitions: u16) -> BTreeSet<u16> {
    let share = usize::from(partitions) / members.len().max(1);
    let mut larger_shares = usize::from(partitions) % members.len().max(1);
    let mut shares: BTreeMap<&str, usize> = members.iter().map(|member| (&**member, 0)).collect();
    let mut owned = BTreeSet::new();
    for partition in 0..partitions {
        let has_room = |count: usize| count < share || count == share && larger_shares > 0;
        let rank = |member: &str| names::hash(format!("{partition} {member}"));
        let owner = shares.iter_mut().filter(|(_, count)| has_room(**count)).max_by_key(|(member, _)| rank(member));
        let Some((owner, count)) = owner else { continue };
        larger_shares -= usize::from(*count == share);
        *count += 1;
        if *owner == id {
            owned.insert(partition);
        }
    }
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_one_owner_and_nobody_is_idle() {
        for partitions in [1, 4, 8, 64] {
            for workers in 1..=10 {
                let members: BTreeSet<String> = (0..workers).map(|number| format!("worker-{number}")).collect();
                let shares: Vec<_> = members.iter().map(|id| owned(id, &members, partitions)).collect();
                let mut all: Vec<u16> = shares.iter().flatten().copied().collect();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..partitions), "{all:?}");
                let (least, most) = (shares.iter().map(BTreeSet::len).min(), shares.iter().map(BTreeSet::len).max());
                assert!(most <= least.map(|least| least + 1), "{shares:?}");
            }
        }
    }

    #[test]
    fn most_partitions_stay_where_they_are() {
        let members = |count| (0..count).map(|number| format!("worker-{number}")).collect::<BTreeSet<String>>();
        let (before, after) = (members(7), members(8));
        let moved: usize =
            before.iter().map(|id| owned(id, &after, 64).difference(&owned(id, &before, 64)).count()).sum();
        assert!(moved < 12, "{moved} of 64 moved between workers that stayed");
    }
}
