//! The way into the log for asynchronous code, which must not wait for the disk.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::line::Draft;
use super::log::Audit;
use super::waiting::{Due, Duty, Waiter};
use super::{AuditError, Receipt, Record};

impl Audit {
    /// Records something, as [`append`](Self::append) does. It is in the log when this returns. Entries are written in the order in
    /// which they were asked for, also if nobody waits for one of them.
    ///
    /// # Errors
    /// If it is not recorded, as those of [`append`](Self::append); also if 65,536 entries wait already.
    pub async fn record(&self, record: Record<'_>) -> Result<Receipt, AuditError> {
        let (waiter, recorded) = oneshot::channel();
        let due = Due { draft: Draft::new(&record.into())?, waiter: Waiter::Task(waiter) };
        // Callers that went away may have left so many; there is no room for ever more (A1).
        if self.waiting().push_below(MAX_WAITING, due).ok_or(AuditError::Full(MAX_WAITING))? {
            self.lead_elsewhere();
        }
        recorded.await.unwrap_or(Err(AuditError::Interrupted))
    }

    /// Records something as soon as may be. That it fails is known to the log itself, which is closed then. There is room for it
    /// however many wait: it is what comes of something whose entry had room.
    pub fn record_later(&self, record: Record<'_>) {
        // What has no text stays unrecorded, and what came before it without an end.
        let Ok(draft) = Draft::new(&record.into()) else { return };
        let (waiter, _) = oneshot::channel();
        if self.waiting().push(Due { draft, waiter: Waiter::Task(waiter) }) {
            self.lead_elsewhere();
        }
    }

    /// Has what is due written: on a thread that may wait for the disk, if the log waits for one.
    fn lead_elsewhere(&self) {
        let audit = self.clone();
        let waits = audit.waits();
        let duty = Duty(move || audit.lead());
        match Handle::try_current() {
            Ok(runtime) if waits => drop(runtime.spawn_blocking(move || drop(duty))),
            // Without a runtime no tool runs; that it does not is recorded all the same.
            _ => drop(duty),
        }
    }
}

/// How many entries may wait before no more are taken.
const MAX_WAITING: usize = 65_536;
