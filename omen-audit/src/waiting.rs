//! Who waits to be recorded: entries in the order in which they came, and who writes them.
//!
//! Nobody has a thread for this. Of those that wait, one at a time *leads*: it writes what is there as one group, for all
//! of them, while the next ones gather. A group takes two waits for the disk, however many entries it has.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::AuditError;
use super::line::Draft;
use super::receipt::Receipt;

pub(super) type Recorded = Result<Receipt, AuditError>;

/// An entry that is to be written.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) draft: Draft,
    pub(super) waiter: Waiter,
}

/// Who is notified.
#[derive(Debug)]
pub(super) enum Waiter {
    /// A thread, which can lead.
    Thread(SyncSender<Signal>),
    /// A task, which cannot: it must not wait for the disk. Perhaps it does not wait any more.
    Task(oneshot::Sender<Recorded>),
}

/// What a thread waits for.
#[derive(Debug)]
pub(super) enum Signal {
    /// It is to write what is there.
    Lead,
    /// Its entry is recorded, or is not.
    Done(Recorded),
}

impl Waiter {
    /// For a thread: at most one signal of each sort is on its way, so that sending never waits.
    pub(super) fn thread() -> (Self, Receiver<Signal>) {
        let (sender, receiver) = sync_channel(2);
        (Self::Thread(sender), receiver)
    }

    pub(super) fn notify(self, recorded: Recorded) {
        match self {
            Self::Thread(sender) => drop(sender.send(Signal::Done(recorded))),
            Self::Task(sender) => drop(sender.send(recorded)),
        }
    }
}

/// All that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    due: VecDeque<Due>,
    /// Whether somebody leads, or is about to. If nobody does, nothing is due.
    is_led: bool,
}

impl Waiting {
    /// Adds an entry. `true` if the caller has to see to it that somebody leads.
    pub(super) fn push(&self, due: Due) -> bool {
        let mut queue = self.lock();
        queue.due.push_back(due);
        !std::mem::replace(&mut queue.is_led, true)
    }

    /// Adds an entry if fewer than so many wait; none if there is no room for it.
    pub(super) fn push_below(&self, limit: usize, due: Due) -> Option<bool> {
        let mut queue = self.lock();
        if queue.due.len() >= limit {
            return None;
        }
        queue.due.push_back(due);
        Some(!std::mem::replace(&mut queue.is_led, true))
    }

    /// The next entry, if there is one.
    pub(super) fn pop(&self) -> Option<Due> {
        self.lock().due.pop_front()
    }

    /// A group is written: whether the leader goes on. It does not if nothing is due, or if a thread that waits can lead:
    /// so no thread writes for others forever.
    pub(super) fn goes_on(&self) -> bool {
        let mut queue = self.lock();
        if queue.due.is_empty() {
            queue.is_led = false;
            return false;
        }
        let threads = queue.due.iter().filter_map(|due| match &due.waiter {
            Waiter::Thread(thread) => Some(thread),
            Waiter::Task(_) => None,
        });
        // One that has gone away does not take the signal.
        !threads.into_iter().any(|thread| thread.try_send(Signal::Lead).is_ok())
    }

    /// The leader is gone without having written anything: nobody waits any longer, and nobody leads.
    fn abandon(&self) {
        let mut queue = self.lock();
        queue.is_led = false;
        let due = std::mem::take(&mut queue.due);
        drop(queue);
        // Dropping who is to be notified says that it was interrupted.
        drop(due);
    }

    /// A queue is whole whenever something panics.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While somebody leads: if that one panics, nobody waits for it.
pub(super) struct Lead<'w>(pub(super) &'w Waiting);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

/// The duty to lead, on its way to a thread that may wait for the disk. Whatever becomes of that way, also at the end of
/// a runtime, what is due is written.
pub(super) struct Duty<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for Duty<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
