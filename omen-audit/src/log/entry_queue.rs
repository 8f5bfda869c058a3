//! Ordered queue of waiting entries, with leader election among the waiting threads.
//!
//! There is no dedicated writer thread. One waiting thread at a time *leads*: it writes the queued entries as one group, on
//! behalf of all waiting callers, while further entries gather. A group waits for the disk twice, regardless of its size.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use omen_base::{Mutex, canonical};
use tokio::sync::oneshot;

use crate::chain::Flaw;
use crate::chain::entry::Entry;
use crate::chain::line::{Draft, LinePosition};
use crate::error::AuditError;
use crate::key::Mac;

/// Receipt for a recorded entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an entry counts as recorded only if there is a receipt"]
pub struct Receipt {
    /// Number of the entry, starting from 1.
    pub sequence: u64,
    /// Seal of the entry and all entries before it.
    pub mac: Mac,
}

pub(super) type AppendResult = Result<Receipt, AuditError>;

impl Draft {
    /// INVARIANT: the log accepts no entry that a verifier would reject. An agent can influence what is recorded about
    /// it, and must not be able to make the log look tampered with, so the parts are read back.
    pub(super) fn new(entry: &Entry) -> Result<Self, AuditError> {
        canonical::check_inner(&entry.data)?;
        let draft = Self::encode(entry)?;
        let (before, after) = draft.unsealed(LinePosition { sequence: 1, time: b"\"\"", group: None });
        let mut back: Entry = serde_json::from_slice(&[before, after].concat())
            .map_err(|error| AuditError::NotReadBack(Flaw::not_entry(error)))?;
        // Equal entries have equal texts. Numbers have several forms, so different entries may have equal texts too.
        back.sequence = entry.sequence;
        if back == *entry || Self::encode(&back)? == draft {
            Ok(draft)
        } else {
            Err(AuditError::NotReadBack(Flaw::Form))
        }
    }
}

/// Entry to write.
#[derive(Debug)]
pub(super) struct QueuedEntry {
    pub(super) draft: Draft,
    pub(super) waiter: Waiter,
}

/// Receiver of the result.
#[derive(Debug)]
pub(super) enum Waiter {
    /// A thread, which can lead.
    Thread(SyncSender<LeadSignal>),
    /// A task, which cannot lead because it must not block on the disk. It may have stopped waiting.
    Task(oneshot::Sender<AppendResult>),
}

/// Signal to a waiting thread.
#[derive(Debug)]
pub(super) enum LeadSignal {
    /// The thread must lead.
    Lead,
    Done(AppendResult),
}

impl Waiter {
    /// Creates a waiter for a thread. Each kind of signal is sent at most once, so sending never blocks.
    pub(super) fn thread() -> (Self, Receiver<LeadSignal>) {
        let (sender, receiver) = sync_channel(2);
        (Self::Thread(sender), receiver)
    }

    pub(super) fn notify(self, recorded: AppendResult) {
        match self {
            Self::Thread(sender) => drop(sender.send(LeadSignal::Done(recorded))),
            Self::Task(sender) => drop(sender.send(recorded)),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct EntryQueue(Mutex<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    due: VecDeque<QueuedEntry>,
    /// Whether a leader exists or has been signalled. If not, the queue has only entries that wait for the next one.
    is_led: bool,
}

impl QueueState {
    fn claim_lead(&mut self) -> bool {
        !self.due.is_empty() && !std::mem::replace(&mut self.is_led, true)
    }
}

impl EntryQueue {
    /// Adds an entry. Returns `true` if the caller must provide a leader.
    pub(super) fn push(&self, due: QueuedEntry) -> bool {
        let mut queue = self.0.lock();
        queue.due.push_back(due);
        queue.claim_lead()
    }

    /// Adds an entry if fewer than `limit` are waiting, and returns whether there was room. The caller must
    /// [claim the lead](Self::claim_lead).
    pub(super) fn push_below(&self, limit: usize, due: QueuedEntry) -> bool {
        let mut queue = self.0.lock();
        let has_room = queue.due.len() < limit;
        if has_room {
            queue.due.push_back(due);
        }
        has_room
    }

    /// Returns whether the caller must provide a leader: if entries are waiting and there is none.
    pub(super) fn claim_lead(&self) -> bool {
        self.0.lock().claim_lead()
    }

    /// Removes the next entry, if there is one.
    pub(super) fn pop(&self) -> Option<QueuedEntry> {
        self.0.lock().due.pop_front()
    }

    /// Returns whether the leader continues after a group. It stops if the queue is empty or a waiting thread can lead,
    /// so that no thread writes for others forever.
    pub(super) fn keeps_leader(&self) -> bool {
        let mut queue = self.0.lock();
        if queue.due.is_empty() {
            queue.is_led = false;
            return false;
        }
        let threads = queue.due.iter().filter_map(|due| match &due.waiter {
            Waiter::Thread(thread) => Some(thread),
            Waiter::Task(_) => None,
        });
        // A thread that is gone does not receive the signal.
        !threads.into_iter().any(|thread| thread.try_send(LeadSignal::Lead).is_ok())
    }

    /// Ends a leadership without a result: wakes all waiters and elects nobody.
    fn abandon(&self) {
        let mut queue = self.0.lock();
        queue.is_led = false;
        let due = std::mem::take(&mut queue.due);
        drop(queue);
        // Dropping the sender reports an interruption.
        drop(due);
    }
}

/// Guard for a leader: if it panics, the others stop waiting for it.
pub(super) struct LeaderGuard<'w>(pub(super) &'w EntryQueue);

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

/// Guard for a pending leadership on its way to a thread that may block. Dropping the guard, e.g. at the end of a
/// runtime, writes the queued entries.
pub(super) struct PendingLead<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for PendingLead<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
