//! Leases: permission of an episode's tasks to run (D52).
//!
//! An episode and all handles to its tasks share one record. A handle checks it before its tool is called, and anything
//! that ends a task (its result, a revocation, safe mode, the close) is recorded there first. The record is behind a
//! single lock, so only one of two handles can start the same task.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use omen_types::Instant;

use super::sync::{Mutex, MutexGuard, PoisonError};

/// Permission of one episode's tasks to run.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    record: Mutex<LeaseRecord>,
    /// Held during a move, so that an episode cannot write after it was resumed elsewhere.
    step: Mutex<()>,
}

#[derive(Debug, Default)]
struct LeaseRecord {
    /// Reason why no task of the episode may run.
    over: Option<EndReason>,
    /// Latest time seen: setting the clock back does not revive an expired token (D56).
    latest: Option<Instant>,
    /// Open tasks, by the packet ids of their directives.
    tasks: BTreeMap<Box<str>, LeasedTask>,
    waiting: Vec<(u64, Waker)>,
    last_waiter: u64,
}

#[derive(Debug)]
struct LeasedTask {
    state: LeasedTaskState,
    /// Whether the task's result is being recorded.
    settling: bool,
    /// Token whose use the task spends.
    token: Option<Box<str>>,
    revoked: bool,
    expires: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeasedTaskState {
    /// The task was not started.
    Open,
    /// The task's tool is being called.
    Running,
    /// The task was started, but no handle is running it any more.
    Begun,
}

/// Reason why no task of an episode may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// Safe mode, until a CLEAR.
    SafeMode,
    /// The episode has closed.
    Closed,
    /// The episode was dropped.
    Dropped,
    /// The episode was resumed elsewhere.
    Superseded,
    /// The log has failed.
    Log,
}

/// Reason why a task must not start or must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lapsed {
    /// Another handle has started the task: a directive permits only one call.
    Begun,
    /// The task has a result, or was cancelled.
    NotOpen,
    /// The task's token was revoked.
    Revoked,
    /// The task's token has expired.
    Expired {
        /// Time of expiry.
        at: Instant,
    },
    /// The deadline for its result has passed (INV-011).
    Overdue {
        /// Deadline.
        at: Instant,
    },
    /// The episode is in safe mode.
    SafeMode,
    /// The episode has closed.
    EpisodeClosed,
    /// The episode was dropped, so the task was cancelled.
    Dropped,
    /// The episode was resumed elsewhere, where another handle holds the task.
    Superseded,
    /// The episode's log has failed, so the outcome could not be recorded.
    Log,
}

impl Lapsed {
    /// Returns advice on how to proceed.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Begun | Self::NotOpen => "send a new directive to call the tool again",
            Self::Revoked | Self::Expired { .. } => {
                "settle the task as cancelled, then send a new directive with a new token"
            }
            Self::Overdue { .. } => "settle the task as cancelled, then send a new directive with a longer timeout",
            Self::SafeMode => "wait for layer 1 to clear safe mode, then send a new directive",
            Self::EpisodeClosed | Self::Dropped => "start another episode and send the directive there",
            Self::Superseded => "take the task from the resumed episode",
            Self::Log => "resume the episode from its log",
        }
    }
}

impl fmt::Display for Lapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("the tool of this directive was already called"),
            Self::NotOpen => f.write_str("the directive is not open: it has a result or was cancelled"),
            Self::Revoked => f.write_str("the token of the directive was revoked"),
            Self::Expired { at } => write!(f, "the token of the directive expired at {at}"),
            Self::Overdue { at } => write!(f, "the deadline of the task passed at {at}"),
            Self::SafeMode => f.write_str("the episode is in safe mode"),
            Self::EpisodeClosed => f.write_str("the episode has closed"),
            Self::Dropped => f.write_str("the episode was dropped"),
            Self::Superseded => f.write_str("the episode was resumed elsewhere"),
            Self::Log => f.write_str("the log of the episode has failed"),
        }
    }
}

impl std::error::Error for Lapsed {}

impl From<EndReason> for Lapsed {
    fn from(over: EndReason) -> Self {
        match over {
            EndReason::SafeMode => Self::SafeMode,
            EndReason::Closed => Self::EpisodeClosed,
            EndReason::Dropped => Self::Dropped,
            EndReason::Superseded => Self::Superseded,
            EndReason::Log => Self::Log,
        }
    }
}

impl Leases {
    /// Adds the task of an accepted directive.
    pub(crate) fn open(&self, directive: &str, token: Option<(&str, Option<Instant>)>) {
        let (token, expires) = token.unzip();
        let task = LeasedTask {
            state: LeasedTaskState::Open,
            settling: false,
            token: token.map(Box::from),
            revoked: false,
            expires: expires.flatten(),
        };
        self.lock().tasks.insert(directive.into(), task);
    }

    /// Starts a task, at most once and not after the deadline of its result.
    pub(crate) fn start(&self, directive: &str, now: Instant, due: Instant) -> Result<(), Lapsed> {
        let mut record = self.lock();
        let now = record.reach(now);
        let task = record.standing(directive, Some(now))?;
        if task.state != LeasedTaskState::Open {
            return Err(Lapsed::Begun);
        }
        if now > due {
            return Err(Lapsed::Overdue { at: due });
        }
        task.state = LeasedTaskState::Running;
        Ok(())
    }

    /// Checks whether a started task may continue: before its tool takes effect, and before its outcome counts.
    pub(crate) fn stands(&self, directive: &str, now: Instant) -> Result<(), Lapsed> {
        self.lock().standing(directive, Some(now)).map(drop)
    }

    /// Records the time of a packet in the log.
    pub(crate) fn reach(&self, now: Instant) {
        self.lock().reach(now);
    }

    /// Allows a task to be started again, because its tool was not called.
    pub(crate) fn put_back(&self, directive: &str) {
        if let Some(task) = self.lock().tasks.get_mut(directive)
            && task.state == LeasedTaskState::Running
        {
            task.state = LeasedTaskState::Open;
        }
    }

    /// Records that a task no longer runs; it stays open until it has a result.
    pub(crate) fn finish(&self, directive: &str) {
        if let Some(task) = self.lock().tasks.get_mut(directive)
            && task.state == LeasedTaskState::Running
        {
            task.state = LeasedTaskState::Begun;
        }
    }

    /// Prevents tasks from starting while their results are recorded. Each task comes with a flag for a CANCELLED
    /// result, the only valid one for a task that runs in another handle; it stops that run. If any task cannot be
    /// settled, none is affected, and the index of that task is returned.
    pub(crate) fn settling<'d>(&self, tasks: impl Iterator<Item = (&'d str, bool)> + Clone) -> Result<(), usize> {
        let mut record = self.lock();
        let runs = |(directive, cancels): (&str, bool)| {
            !cancels && record.tasks.get(directive).is_some_and(|task| task.state == LeasedTaskState::Running)
        };
        if let Some(at) = tasks.clone().position(runs) {
            return Err(at);
        }
        for (directive, _) in tasks {
            if let Some(task) = record.tasks.get_mut(directive) {
                task.settling = true;
            }
        }
        Ok(())
    }

    /// Reopens tasks whose results were refused.
    pub(crate) fn unsettled<'d>(&self, tasks: impl Iterator<Item = &'d str>) {
        let mut record = self.lock();
        for directive in tasks {
            if let Some(task) = record.tasks.get_mut(directive) {
                task.settling = false;
            }
        }
    }

    /// Removes a task that has a result.
    pub(crate) fn settled(&self, directive: &str) {
        self.change(|record| drop(record.tasks.remove(directive)));
    }

    /// Withdraws the tasks of a revoked token (D25).
    pub(crate) fn revoke(&self, token: &str) {
        self.change(|record| record.under(token).for_each(|task| task.revoked = true));
    }

    /// Records the new expiry of a token that was issued again (D24).
    pub(crate) fn expires(&self, token: &str, at: Instant) {
        self.change(|record| record.under(token).for_each(|task| task.expires = Some(at)));
    }

    /// Prevents all tasks from running. A later reason does not replace a final one.
    pub(crate) fn end(&self, over: EndReason) {
        self.change(|record| {
            if matches!(record.over, None | Some(EndReason::SafeMode)) {
                record.over = Some(over);
            }
        });
    }

    /// Ends safe mode, which cancels the open tasks (D13).
    pub(crate) fn clear(&self) {
        self.change(|record| {
            if record.over == Some(EndReason::SafeMode) {
                record.over = None;
            }
            record.tasks.clear();
        });
    }

    /// Takes the episode over from its holder, after the current move has ended.
    pub(crate) fn supersede(&self) {
        let _step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        self.end(EndReason::Superseded);
    }

    /// Starts a move, which ends when the returned guard is dropped.
    pub(crate) fn step(&self) -> Result<MutexGuard<'_, ()>, Lapsed> {
        let step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        match self.lock().over {
            Some(over @ EndReason::Superseded) => Err(over.into()),
            _ => Ok(step),
        }
    }

    /// Polls for the withdrawal of a task: ready as soon as the task must stop. The expiry of its token does not wake
    /// the waiter, because nothing here waits for the clock.
    pub(crate) fn poll_lapsed(&self, directive: &str, waiter: &mut Option<u64>, waker: &Waker) -> Poll<Lapsed> {
        let mut record = self.lock();
        if let Err(why) = record.standing(directive, None) {
            record.forget(waiter);
            return Poll::Ready(why);
        }
        let id = *waiter.get_or_insert_with(|| {
            record.last_waiter = record.last_waiter.wrapping_add(1);
            record.last_waiter
        });
        match record.waiting.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => known.clone_from(waker),
            None => record.waiting.push((id, waker.clone())),
        }
        Poll::Pending
    }

    pub(crate) fn forget(&self, waiter: &mut Option<u64>) {
        self.lock().forget(waiter);
    }

    /// Changes the record and then wakes the waiters after releasing the lock, because a waiter may check the record
    /// immediately.
    fn change(&self, change: impl FnOnce(&mut LeaseRecord)) {
        let mut record = self.lock();
        change(&mut record);
        let waiting = std::mem::take(&mut record.waiting);
        drop(record);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Ignores poisoning: every change is a single assignment, so a panic leaves the record consistent.
    fn lock(&self) -> MutexGuard<'_, LeaseRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LeaseRecord {
    /// Returns the task if it may run. A time before the latest one counts as the latest.
    fn standing(&mut self, directive: &str, now: Option<Instant>) -> Result<&mut LeasedTask, Lapsed> {
        let now = now.map(|now| self.reach(now));
        if let Some(over) = self.over {
            return Err(over.into());
        }
        let task = self.tasks.get_mut(directive).filter(|task| !task.settling).ok_or(Lapsed::NotOpen)?;
        if task.revoked {
            return Err(Lapsed::Revoked);
        }
        match (task.expires, now) {
            (Some(at), Some(now)) if now >= at => Err(Lapsed::Expired { at }),
            _ => Ok(task),
        }
    }

    /// Records a time and returns the latest one.
    fn reach(&mut self, now: Instant) -> Instant {
        *self.latest.insert(self.latest.map_or(now, |latest| latest.max(now)))
    }

    /// Returns the tasks that spend a use of a token.
    fn under(&mut self, token: &str) -> impl Iterator<Item = &mut LeasedTask> {
        self.tasks.values_mut().filter(move |task| task.token.as_deref() == Some(token))
    }

    fn forget(&mut self, waiter: &mut Option<u64>) {
        if let Some(id) = waiter.take() {
            self.waiting.retain(|(known, _)| *known != id);
        }
    }
}

/// Future that resolves when a task is withdrawn.
pub(crate) struct WaitFor<L: AsRef<Leases>, D: AsRef<str>> {
    leases: L,
    directive: D,
    waiter: Option<u64>,
}

impl<L: AsRef<Leases>, D: AsRef<str>> WaitFor<L, D> {
    pub(crate) fn new(leases: L, directive: D) -> Self {
        Self { leases, directive, waiter: None }
    }
}

impl<L: AsRef<Leases> + Unpin, D: AsRef<str> + Unpin> Future for WaitFor<L, D> {
    type Output = Lapsed;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Lapsed> {
        let this = self.get_mut();
        this.leases.as_ref().poll_lapsed(this.directive.as_ref(), &mut this.waiter, context.waker())
    }
}

impl<L: AsRef<Leases>, D: AsRef<str>> Drop for WaitFor<L, D> {
    fn drop(&mut self) {
        self.leases.as_ref().forget(&mut self.waiter);
    }
}
