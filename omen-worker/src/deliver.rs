//! Puts messages that were read into the queues of the partitions that judge them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};

use crate::roster::{Member, Roster};
use crate::source::{Batch, Received};

/// What one reader delivers.
pub(crate) struct Delivery {
    id: u64,
    roster: Arc<Mutex<Roster>>,
    held: Held,
}

impl Delivery {
    pub(crate) fn of(id: u64, roster: Arc<Mutex<Roster>>) -> Self {
        Self { id, roster, held: Held::default() }
    }

    /// Gives each partition what it has to judge, and waits where there is no room.
    pub(crate) async fn give(&mut self, some: Batch, members: &BTreeMap<u16, Member>) {
        let Some(last) = some.messages.last().map(|last| last.sequence) else {
            // Nothing has come: the stream ends here.
            members.values().for_each(|member| member.queue.passed(0, 0, 0));
            return;
        };
        let bytes = some.messages.iter().map(Received::bytes).sum();
        let mut without = BTreeSet::new();
        for (partition, messages) in sorted(some.messages, members) {
            let Some(member) = members.get(&partition) else { continue };
            match self.room((partition, member), &messages, members).await {
                Some(room) => member.queue.put(messages, room),
                None => drop(without.insert(partition)),
            }
        }
        // A partition that did not take its messages has not passed them.
        for (_, member) in members.iter().filter(|(partition, _)| !without.contains(partition)) {
            member.queue.passed(last.max(member.after), bytes, some.pending);
        }
        if some.pending == 0 {
            self.held = Held::default();
        }
    }

    /// Waits for room; `None` if the partition does not take the messages: it is gone, or it has held up the others for too long.
    async fn room(
        &mut self,
        (partition, member): (u16, &Member),
        messages: &[Received],
        members: &BTreeMap<u16, Member>,
    ) -> Option<OwnedSemaphorePermit> {
        let room = member.queue.room(messages);
        tokio::pin!(room);
        loop {
            let begin = Instant::now();
            let is_there = timeout(PATIENCE, &mut room).await;
            if self.held.note(partition, begin, members) > TOO_LONG && self.expel(partition) {
                return None;
            }
            if let Ok(room) = is_there {
                return room;
            }
        }
    }

    fn expel(&mut self, partition: u16) -> bool {
        self.held.0.remove(&partition);
        self.roster.lock().unwrap_or_else(PoisonError::into_inner).expel(self.id, partition)
    }
}

/// How long a reader has waited for each partition while all others had nothing to do.
#[derive(Debug, Default)]
struct Held(BTreeMap<u16, Duration>);

impl Held {
    fn note(&mut self, partition: u16, begin: Instant, members: &BTreeMap<u16, Member>) -> Duration {
        let waited = begin.elapsed();
        let is_alone = || members.iter().all(|(other, member)| *other == partition || member.queue.is_idle());
        let held = self.0.entry(partition).or_default();
        if waited >= NOTABLE && is_alone() {
            *held += waited;
        }
        *held
    }
}

/// The messages of each partition, without what it has already.
fn sorted(messages: Vec<Received>, members: &BTreeMap<u16, Member>) -> BTreeMap<u16, Vec<Received>> {
    let mut sorted: BTreeMap<u16, Vec<Received>> = BTreeMap::new();
    for message in messages {
        let is_new = |member: &Member| member.after < message.sequence;
        if message.is_for_all() {
            for (partition, _) in members.iter().filter(|(_, member)| is_new(member)) {
                sorted.entry(*partition).or_default().push(message.clone());
            }
        } else if let Some(partition) = message.partition()
            && members.get(&partition).is_some_and(is_new)
        {
            sorted.entry(partition).or_default().push(message);
        }
    }
    sorted
}

/// How long to wait before it is checked whether a partition holds up the others …
const PATIENCE: Duration = Duration::from_millis(500);

/// … and for how long it may, since there was nothing to read.
const TOO_LONG: Duration = Duration::from_secs(2);

/// Shorter waits do not count.
const NOTABLE: Duration = Duration::from_millis(1);

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::intake::{Intake, Next, queue};
    use crate::roster::Round;

    /// Two partitions that are read for, and what delivers to them.
    fn two() -> (Delivery, [Intake; 2]) {
        let roster = Arc::new(Mutex::new(Roster::default()));
        let intakes = [0, 1].map(|partition| {
            let (queue, intake) = queue(0);
            roster.lock().unwrap().join(partition, 0, queue);
            intake
        });
        roster.lock().unwrap().begin(1);
        (Delivery::of(1, roster), intakes)
    }

    fn round(delivery: &Delivery, last: u64) -> BTreeMap<u16, Member> {
        match delivery.roster.lock().unwrap().round(1, Some(last)) {
            Round::Give(members) => members,
            other => panic!("{other:?}"),
        }
    }

    async fn taken(intake: &mut Intake) -> Vec<u64> {
        match intake.next(Duration::from_secs(1)).await {
            Next::Messages(chunk) => chunk.messages.iter().map(|message| message.sequence).collect(),
            _ => Vec::new(),
        }
    }

    fn some(subjects: &[&str], first: u64, bytes: usize) -> Batch {
        let message = |(sequence, subject): (u64, &&str)| Received::of(subject, vec![b' '; bytes], sequence);
        Batch { messages: (first..).zip(subjects).map(message).collect(), pending: 5 }
    }

    #[tokio::test]
    async fn each_partition_has_its_own_and_what_all_have() {
        let (mut delivery, [mut zero, mut one]) = two();
        let subjects =
            ["omen.partition.0.a", "omen.partition.1.a", "omen.lost", "omen.partition.2.a", "omen.partition.0.b"];
        let members = round(&delivery, 5);
        delivery.give(some(&subjects, 1, 10), &members).await;
        assert_eq!((taken(&mut zero).await, taken(&mut one).await), (vec![1, 3, 5], vec![2, 3]));
        assert_eq!((zero.passed(), one.passed(), one.bytes()), (Some(5), Some(5), 50));
        // What was given is not given again.
        let members = round(&delivery, 6);
        delivery.give(some(&["omen.partition.0.a", "omen.partition.1.a"], 5, 10), &members).await;
        assert_eq!((taken(&mut zero).await, taken(&mut one).await), (vec![], vec![6]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_partition_that_stops_is_left_behind_and_has_passed_nothing_that_it_did_not_take() {
        let (mut delivery, [mut zero, mut one]) = two();
        let large = 2 * 1024 * 1024;
        let members = round(&delivery, 1);
        delivery.give(some(&["omen.partition.0.a"], 1, large), &members).await;
        drop(members);
        let members = round(&delivery, 3);
        let begin = Instant::now();
        delivery.give(some(&["omen.partition.0.a", "omen.partition.1.a"], 2, large), &members).await;
        assert!((TOO_LONG..2 * TOO_LONG).contains(&begin.elapsed()), "{:?}", begin.elapsed());
        assert_eq!(round(&delivery, 3).keys().collect::<Vec<_>>(), [&1]);
        drop(members);
        assert_eq!((taken(&mut one).await, one.passed()), (vec![3], Some(3)));
        assert_eq!((taken(&mut zero).await, zero.passed()), (vec![1], Some(1)));
        assert!(matches!(zero.next(Duration::ZERO).await, Next::Expelled));
    }

    #[tokio::test]
    async fn a_partition_that_is_gone_holds_up_nobody() {
        let (mut delivery, [zero, mut one]) = two();
        let members = round(&delivery, 2);
        drop(zero);
        delivery.give(some(&["omen.partition.0.a", "omen.partition.1.a"], 1, 10), &members).await;
        assert_eq!(taken(&mut one).await, [2]);
    }
}
