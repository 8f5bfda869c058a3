//! Isolation of a call from its turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::call::fault::Fault;

/// Runs a call as a separate task within a time limit. A call that exceeds the limit is aborted, a panic becomes a
/// fault, and dropping the future aborts the call. Requires a tokio runtime with time enabled.
///
/// A call that blocks its thread cannot be aborted: it is abandoned in time only if the runtime has another thread, and
/// its thread is lost.
///
/// # Errors
/// The call's own error; [`Fault::Timeout`], [`Fault::Panicked`] or [`Fault::Cancelled`]; and [`Fault::Unreachable`]
/// outside of a tokio runtime.
pub async fn guarded<T, F>(limit: Duration, call: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>> + Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else {
        return Err(Fault::Unreachable { why: "no tokio runtime is running".to_owned() });
    };
    // A `JoinSet` aborts its tasks when it is dropped.
    let mut task = JoinSet::new();
    task.spawn_on(call, &runtime);
    match timeout(limit, task.join_next()).await {
        Err(_) => Err(Fault::Timeout { after: limit }),
        Ok(Some(Ok(outcome))) => outcome,
        Ok(Some(Err(error))) if error.is_panic() => Err(Fault::Panicked),
        Ok(Some(Err(_)) | None) => Err(Fault::Cancelled),
    }
}

/// Runs synchronous foreign code.
///
/// # Errors
/// [`Fault::Panicked`] if it panics.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    // Unwind safe: state that the code leaves half changed is not used here.
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| Fault::Panicked)
}
