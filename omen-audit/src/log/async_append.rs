//! Appending from asynchronous code, which must not block on the disk.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Audit;
use super::entry_queue::{AppendResult, PendingLead, QueuedEntry, Receipt, Waiter};
use crate::chain::entry::Record;
use crate::chain::line::Draft;
use crate::error::AuditError;

impl Audit {
    /// Appends a record as [`append`](Self::append) does. The entry is in the log when this returns. Entries are
    /// written in the order in which they were requested, even if nobody waits for one of them.
    ///
    /// # Errors
    /// As for [`append`](Self::append); also if 65,536 entries are already waiting.
    pub async fn record(&self, record: Record<'_>) -> Result<Receipt, AuditError> {
        self.record_with_next(record)?.recorded().await
    }

    /// Queues a record that another one will follow at once, so that both wait for the disk once. The entry is written with the
    /// next one of any caller, or when the returned value is dropped.
    ///
    /// # Errors
    /// If the record cannot become an entry, or if 65,536 entries are already waiting.
    pub fn record_with_next(&self, record: Record<'_>) -> Result<DeferredEntry, AuditError> {
        let (waiter, receipt) = oneshot::channel();
        let due = QueuedEntry { draft: Draft::new(&record.into())?, waiter: Waiter::Task(waiter) };
        // Abandoned callers may have left many entries, so the queue is bounded (A1).
        match self.inner.waiting.push_below(MAX_WAITING, due) {
            true => Ok(DeferredEntry { audit: self.clone(), receipt: Some(receipt) }),
            false => Err(AuditError::Full(MAX_WAITING)),
        }
    }

    /// Queues a record without waiting. A failure closes the log. The record is accepted even if the queue is full,
    /// because it is the consequence of an accepted entry.
    pub fn record_later(&self, record: Record<'_>) {
        // An entry without canonical text stays unrecorded, which leaves the preceding action without an outcome.
        let Ok(draft) = Draft::new(&record.into()) else { return };
        let (waiter, _) = oneshot::channel();
        if self.inner.waiting.push(QueuedEntry { draft, waiter: Waiter::Task(waiter) }) {
            self.lead_elsewhere();
        }
    }

    /// Writes the queued entries, on a thread that may block if the log blocks.
    fn lead_elsewhere(&self) {
        let audit = self.clone();
        let duty = PendingLead(move || audit.inner.lead());
        match Handle::try_current() {
            Ok(runtime) if self.inner.waits => drop(runtime.spawn_blocking(move || drop(duty))),
            // Without a runtime no tool can run, but that failure must still be recorded, so this thread writes the entries.
            _ => drop(duty),
        }
    }
}

/// Entry that is written with the next one, or when this value is dropped.
#[derive(Debug)]
#[must_use = "the entry counts as recorded only if there is a receipt"]
pub struct DeferredEntry {
    audit: Audit,
    /// `None` once somebody waits for it.
    receipt: Option<oneshot::Receiver<AppendResult>>,
}

impl DeferredEntry {
    /// Returns the receipt once the entry is in the log.
    ///
    /// # Errors
    /// If the entry is not recorded, as for [`Audit::append`].
    pub async fn recorded(mut self) -> Result<Receipt, AuditError> {
        self.lead();
        match self.receipt.take() {
            Some(receipt) => receipt.await.unwrap_or(Err(AuditError::Interrupted)),
            None => Err(AuditError::Interrupted),
        }
    }

    fn lead(&self) {
        if self.audit.inner.waiting.claim_lead() {
            self.audit.lead_elsewhere();
        }
    }
}

impl Drop for DeferredEntry {
    fn drop(&mut self) {
        if self.receipt.is_some() {
            self.lead();
        }
    }
}

/// Maximum number of waiting entries.
const MAX_WAITING: usize = 65_536;
