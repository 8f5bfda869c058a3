//! A call that cannot take its turn down with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::call::fault::Fault;

/// Runs a call as a task of its own. It ends within the limit, whatever the call does: a call that takes too
/// long is aborted, a panic is a fault, and dropping the future aborts the call. Runs on tokio, with time enabled.
///
/// A call that blocks its thread without ever waiting is given up in time only where the runtime has another
/// thread, and cannot be aborted; the thread stays lost.
///
/// # Errors
/// What the call says; [`Fault::Timeout`], [`Fault::Panicked`] or [`Fault::Cancelled`]; and
/// [`Fault::Unreachable`] outside of a tokio runtime.
pub async fn guarded<T, F>(limit: Duration, call: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>> + Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else {
        return Err(Fault::Unreachable { why: "no tokio runtime is running".to_owned() });
    };
    // A set aborts what is in it when it is dropped.
    let mut task = JoinSet::new();
    task.spawn_on(call, &runtime);
    match timeout(limit, task.join_next()).await {
        Err(_) => Err(Fault::Timeout { after: limit }),
        Ok(Some(Ok(outcome))) => outcome,
        Ok(Some(Err(error))) if error.is_panic() => Err(Fault::Panicked),
        Ok(Some(Err(_)) | None) => Err(Fault::Cancelled),
    }
}

/// Runs foreign code that gives an answer at once.
///
/// # Errors
/// [`Fault::Panicked`].
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    // State that it leaves half changed is its own, and is not used here.
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| Fault::Panicked)
}
