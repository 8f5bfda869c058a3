//! Which reader reads for which partition, and how far each reader is.
//!
//! One reader goes through the stream for all partitions. A partition that this worker takes over has to be judged from its
//! checkpoint on, which that reader has passed: a second one, behind it, reads for such partitions until it has reached the first.
//! There are never more than these two.

use std::collections::BTreeMap;

use crate::intake::Queue;

/// The readers: at most two, the one in front first.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    readers: Vec<Reader>,
    begun: u64,
}

#[derive(Debug)]
struct Reader {
    id: u64,
    /// Up to this message, its partitions have what is theirs.
    position: u64,
    state: State,
    members: BTreeMap<u16, Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for the partitions that are being loaded, and begins where the last of them needs it to.
    Waiting,
    Reading,
    /// A partition needs what it has passed.
    Rewinding,
}

/// A partition that is read for.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) queue: Queue,
    /// Up to this message it has everything.
    pub(crate) after: u64,
}

/// What a reader is to do with messages that it has read.
#[derive(Debug)]
pub(crate) enum Round {
    /// Give them to these partitions.
    Give(BTreeMap<u16, Member>),
    /// Drop them, and read again what comes after this message.
    Rewind(u64),
    /// End: nobody needs this reader.
    End,
}

impl Roster {
    /// Adds a partition that needs what comes after a message. Returns the reader that must be started for it, if one must.
    pub(crate) fn join(&mut self, partition: u16, after: u64, queue: Queue) -> Option<u64> {
        let member = Member { queue, after };
        let fits = |reader: &Reader| reader.state == State::Waiting || after >= reader.position;
        if let Some(front) = self.readers.first_mut().filter(|front| fits(front) && front.state != State::Rewinding) {
            front.add(partition, member);
            return None;
        }
        if let [_, behind] = &mut *self.readers {
            behind.add(partition, member);
            return None;
        }
        self.begun += 1;
        let members = BTreeMap::from([(partition, member)]);
        self.readers.push(Reader { id: self.begun, position: after, state: State::Waiting, members });
        Some(self.begun)
    }

    /// Where a reader begins that has waited; `None` if nobody needs it.
    pub(crate) fn begin(&mut self, id: u64) -> Option<u64> {
        let reader = self.readers.iter_mut().find(|reader| reader.id == id)?;
        reader.state = State::Reading;
        Some(reader.position)
    }

    /// To be asked when a reader has read on, up to a message.
    pub(crate) fn round(&mut self, id: u64, last: Option<u64>) -> Round {
        let Some(at) = self.readers.iter().position(|reader| reader.id == id) else { return Round::End };
        let Some(reader) = self.readers.get_mut(at) else { return Round::End };
        reader.members.retain(|_, member| !member.queue.is_closed());
        if reader.members.is_empty() {
            self.readers.remove(at);
            return Round::End;
        }
        if reader.state == State::Rewinding {
            reader.state = State::Reading;
            return Round::Rewind(reader.position);
        }
        let members = reader.members.clone();
        reader.position = reader.position.max(last.unwrap_or(0));
        for member in reader.members.values_mut() {
            member.after = member.after.max(reader.position);
        }
        Round::Give(members)
    }

    /// To be asked when a reader has given what it had. Returns whether it has reached the one in front, which has its partitions now.
    pub(crate) fn has_reached(&mut self, id: u64) -> bool {
        let [front, behind] = &mut *self.readers else { return false };
        let is_there = behind.id == id && behind.state == State::Reading && behind.position >= front.position;
        if is_there && front.state == State::Reading {
            // One whose partition was loaded again may be with the other reader meanwhile.
            behind.members.retain(|_, member| !member.queue.is_closed());
            front.members.append(&mut behind.members);
            self.readers.pop();
            return true;
        }
        false
    }

    /// Whether a reader is in front of another one, which is to reach it.
    pub(crate) fn is_followed(&self, id: u64) -> bool {
        matches!(&*self.readers, [front, _] if front.id == id)
    }

    /// Takes a partition away from the reader in front, which goes on with the others. Returns whether it did.
    pub(crate) fn expel(&mut self, id: u64, partition: u16) -> bool {
        let front = self.readers.first_mut().filter(|front| front.id == id && front.members.len() > 1);
        front.is_some_and(|front| front.members.remove(&partition).is_some())
    }

    /// Takes away from a reader the partitions that have not had everything up to a message, and returns them.
    pub(crate) fn lose(&mut self, id: u64, up_to: u64) -> Vec<Member> {
        let Some(reader) = self.readers.iter_mut().find(|reader| reader.id == id) else { return Vec::new() };
        reader.members.extract_if(.., |_, member| member.after < up_to).map(|(_, member)| member).collect()
    }

    /// Removes a reader that cannot go on, and returns its partitions.
    pub(crate) fn remove(&mut self, id: u64) -> Vec<Member> {
        let Some(at) = self.readers.iter().position(|reader| reader.id == id) else { return Vec::new() };
        self.readers.remove(at).members.into_values().collect()
    }
}

impl Reader {
    fn add(&mut self, partition: u16, member: Member) {
        if member.after < self.position {
            self.position = member.after;
            if self.state == State::Reading {
                self.state = State::Rewinding;
            }
        }
        self.members.insert(partition, member);
    }
}

#[cfg(test)]
#[expect(clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::intake::{Intake, queue};

    /// Joins, and returns the reader that was started.
    fn join(roster: &mut Roster, partition: u16, after: u64, kept: &mut Vec<Intake>) -> Option<u64> {
        let (queue, intake) = queue(after);
        kept.push(intake);
        roster.join(partition, after, queue)
    }

    fn members(round: Round) -> Vec<(u16, u64)> {
        match round {
            Round::Give(members) => members.iter().map(|(partition, member)| (*partition, member.after)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_has_not_had_what_is_missing_is_lost() {
        let (mut roster, mut kept) = (Roster::default(), Vec::new());
        assert_eq!(join(&mut roster, 0, 5, &mut kept), Some(1));
        for (partition, after) in [(1, 7), (2, 8), (3, 20)] {
            assert_eq!(join(&mut roster, partition, after, &mut kept), None);
        }
        roster.begin(1);
        // Messages 6 to 8 are missing.
        assert_eq!(roster.lose(1, 8).iter().map(|member| member.after).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(members(roster.round(1, Some(9))), [(2, 8), (3, 20)]);
        assert!(roster.lose(2, 8).is_empty(), "there is no such reader");
    }

    #[test]
    fn partitions_that_are_loaded_together_are_read_for_together() {
        let (mut roster, mut kept) = (Roster::default(), Vec::new());
        assert_eq!(join(&mut roster, 0, 70, &mut kept), Some(1));
        assert_eq!(join(&mut roster, 1, 50, &mut kept), None);
        assert_eq!(join(&mut roster, 2, 90, &mut kept), None);
        assert_eq!(roster.begin(1), Some(50));
        assert_eq!(members(roster.round(1, Some(60))), [(0, 70), (1, 50), (2, 90)]);
        assert_eq!(members(roster.round(1, Some(99))), [(0, 70), (1, 60), (2, 90)]);
        assert_eq!(members(roster.round(1, None)), [(0, 99), (1, 99), (2, 99)]);
    }

    #[test]
    fn a_reader_behind_reads_until_it_has_reached_the_one_in_front() {
        let (mut roster, mut kept) = (Roster::default(), Vec::new());
        assert_eq!(join(&mut roster, 0, 0, &mut kept), Some(1));
        assert_eq!(roster.begin(1), Some(0));
        assert_eq!(members(roster.round(1, Some(100))), [(0, 0)]);
        assert_eq!(join(&mut roster, 1, 40, &mut kept), Some(2));
        assert_eq!(join(&mut roster, 2, 30, &mut kept), None, "the second has not begun");
        assert_eq!(roster.begin(2), Some(30));
        assert!(roster.is_followed(1) && !roster.is_followed(2));
        assert_eq!(members(roster.round(2, Some(80))), [(1, 40), (2, 30)]);
        assert!(!roster.has_reached(2));
        // What one that joins needs is read again, and nobody has to take anything twice.
        assert_eq!(join(&mut roster, 3, 10, &mut kept), None);
        assert!(matches!(roster.round(2, Some(90)), Round::Rewind(10)));
        assert_eq!(members(roster.round(2, Some(100))), [(1, 80), (2, 80), (3, 10)]);
        assert!(roster.has_reached(2) && !roster.is_followed(1));
        assert!(matches!(roster.round(2, Some(110)), Round::End));
        assert_eq!(members(roster.round(1, Some(110))), [(0, 100), (1, 100), (2, 100), (3, 100)]);
    }

    #[test]
    fn a_partition_that_holds_up_the_others_is_read_for_by_the_second_reader() {
        let (mut roster, mut kept) = (Roster::default(), Vec::new());
        join(&mut roster, 0, 0, &mut kept);
        assert!(!roster.expel(1, 0), "there are no others");
        join(&mut roster, 1, 0, &mut kept);
        roster.begin(1);
        roster.round(1, Some(100));
        assert!(!roster.expel(2, 1) && roster.expel(1, 1));
        assert_eq!(join(&mut roster, 1, 60, &mut kept), Some(2));
        assert_eq!(roster.begin(2), Some(60));
        assert!(!roster.expel(2, 1), "it may take its time there");
    }

    #[test]
    fn a_reader_without_partitions_ends() {
        let (mut roster, mut kept) = (Roster::default(), Vec::new());
        join(&mut roster, 0, 0, &mut kept);
        roster.begin(1);
        roster.round(1, Some(100));
        assert_eq!(join(&mut roster, 1, 40, &mut kept), Some(2));
        // The one in front has nobody left: the other one is in front then.
        kept.remove(0);
        assert!(matches!(roster.round(1, Some(200)), Round::End));
        assert_eq!(roster.begin(2), Some(40));
        assert_eq!(members(roster.round(2, Some(50))), [(1, 40)]);
        assert_eq!(join(&mut roster, 2, 50, &mut kept), None);
        assert_eq!(join(&mut roster, 3, 5, &mut kept), Some(3));
        assert_eq!(roster.remove(2).len(), 2);
        assert!(matches!(roster.round(2, Some(60)), Round::End));
    }
}
