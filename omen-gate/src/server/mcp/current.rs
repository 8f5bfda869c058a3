//! Current run of a server and the revision of its list, which are always observed together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use omen_base::Mutex;

/// Successive runs of a server, of which one is current.
///
/// INVARIANT: the revision increases at the moment when a run replaces another: a caller that has the new run reads the
/// new revision, and a caller that has read the new revision gets no older run. A list requested under one revision is
/// therefore never taken for the list of a later process.
#[derive(Debug)]
pub(super) struct Current<T> {
    run: Mutex<Run<T>>,
    /// Also incremented, without the lock, when a run receives a change notification.
    revision: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Run<T> {
    run: Arc<T>,
    /// Revision with which the run became current.
    since: u64,
}

impl<T> Current<T> {
    pub(super) fn new(run: T, revision: Arc<AtomicU64>) -> Self {
        Self { run: Mutex::new(Run { run: Arc::new(run), since: 0 }), revision }
    }

    pub(super) fn get(&self) -> Arc<T> {
        Arc::clone(&self.run.lock().run)
    }

    /// Returns the current run if it was already current when a revision was read.
    pub(super) fn at(&self, revision: u64) -> Option<Arc<T>> {
        let current = self.run.lock();
        (current.since <= revision).then(|| Arc::clone(&current.run))
    }

    /// Replaces the current run and returns the previous one.
    pub(super) fn replace(&self, run: Arc<T>) -> Arc<T> {
        let mut current = self.run.lock();
        let since = self.revision.fetch_add(1, Ordering::Release) + 1;
        std::mem::replace(&mut *current, Run { run, since }).run
    }

    /// Returns the revision, once no run is being replaced: the lock orders it with [`get`](Self::get) and
    /// [`replace`](Self::replace). `Acquire` pairs with `Release` where the number is incremented without the lock.
    pub(super) fn revision(&self) -> u64 {
        let _not_meanwhile = self.run.lock();
        self.revision.load(Ordering::Acquire)
    }

    /// Returns the counter for future runs, which also increment it.
    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.revision)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::Current;

    #[test]
    fn a_run_is_none_of_a_revision_before_it() {
        let current = Current::new("one", Arc::default());
        let before = current.revision();
        assert_eq!(current.at(before).as_deref(), Some(&"one"));
        drop(current.replace(Arc::new("two")));
        assert_eq!(current.at(before), None);
        // A notification received by a run increments the counter too.
        current.counter().fetch_add(1, Ordering::Release);
        assert_eq!(current.at(current.revision()).as_deref(), Some(&"two"));
    }

    /// Each run's value is the revision with which it became current.
    #[test]
    fn a_run_and_its_revision_are_not_seen_apart() {
        let current = Current::new(0, Arc::default());
        let enough = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                (1..)
                    .take_while(|_| !enough.load(Ordering::Relaxed))
                    .for_each(|run| drop(current.replace(Arc::new(run))));
            });
            let apart = (0..500_000).find_map(|_| {
                let seen = *current.get();
                let revision = current.revision();
                let run = *current.get();
                (seen > revision || revision > run).then_some((seen, revision, run))
            });
            enough.store(true, Ordering::Relaxed);
            assert_eq!(apart, None, "a run, the revision after it, and the run after that");
        });
        assert_eq!(*current.get(), current.revision());
    }
}
