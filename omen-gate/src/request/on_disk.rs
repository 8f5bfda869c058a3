//! Rules on arguments that ask the file system (PG-3), on threads that may wait for it.
//!
//! A disk of another machine may take its time, or never answer. Nothing else may wait for it then: neither other calls nor the
//! limits of time. So such rules are judged on threads of their own, of which there are few, and what is not judged in time is
//! refused.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::base::{Blocked, GateCode, ToolId};
use crate::call::Call;
use crate::catalog::Allowlist;

/// The threads of a gate that may wait for a file system.
#[derive(Clone, Debug)]
pub(crate) struct OnDisk(Arc<Semaphore>);

impl Default for OnDisk {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_WAITING)))
    }
}

impl OnDisk {
    /// Lets a call pass whose arguments satisfy the rules on them.
    ///
    /// # Errors
    /// PG-3, also if the file system has not answered in time.
    pub(crate) async fn judge_arguments(&self, allowed: Arc<Allowlist>, call: &Call) -> Result<(), Blocked> {
        let asks_files = allowed.get(call.tool()).is_some_and(|allowed| allowed.arguments.asks_files());
        // Without a runtime no tool is called.
        if !asks_files || Handle::try_current().is_err() {
            return allowed.judge_arguments(call);
        }
        let tool = call.tool().clone();
        let call = call.clone();
        self.within(&tool, LONGEST, move || allowed.judge_arguments(&call)).await
    }

    async fn within(
        &self,
        tool: &ToolId,
        limit: Duration,
        judge: impl FnOnce() -> Result<(), Blocked> + Send + 'static,
    ) -> Result<(), Blocked> {
        let threads = Arc::clone(&self.0);
        let judged = async {
            let permit = threads.acquire_owned().await.ok()?;
            let judging = spawn_blocking(move || {
                let verdict = judge();
                // A thread that waits for ever keeps its place, so that there are never more of them.
                drop(permit);
                verdict
            });
            judging.await.ok()
        };
        timeout(limit, judged).await.ok().flatten().unwrap_or_else(|| {
            let message =
                format!("the paths of the call of `{tool}` could not be followed within {} s", limit.as_secs());
            Err(Blocked::new(GateCode::Pg3, message, "ask the operator to check the file system of the rule `under`"))
        })
    }
}

/// How long a file system may take to say where the paths of a call lead.
const LONGEST: Duration = Duration::from_secs(5);
/// How many calls may wait for one.
const MOST_WAITING: usize = 16;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn tool() -> ToolId {
        ToolId { server: "s".parse().unwrap(), tool: "t".parse().unwrap() }
    }

    /// A disk that never answers holds up no more than its own calls, and as many threads as there may be.
    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_a_refusal_and_holds_up_nothing_else() {
        let (disk, limit) = (OnDisk::default(), Duration::from_millis(20));
        let mut answers = Vec::new();
        for _ in 0..MOST_WAITING {
            let (answer, waits) = mpsc::channel::<()>();
            answers.push(answer);
            let refused =
                disk.within(&tool(), limit, move || waits.recv().map_or(Ok(()), |()| Ok(()))).await.unwrap_err();
            assert_eq!(refused.code, GateCode::Pg3);
            assert!(refused.message.contains("could not be followed within"), "{refused}");
        }
        // No thread is left, so that this one is not even begun.
        let (begun, is_begun) = mpsc::channel();
        let late = disk.within(&tool(), limit, move || begun.send(()).map_or(Ok(()), |()| Ok(()))).await;
        assert!(late.is_err() && is_begun.try_recv().is_err());
        // The disk answers: everything goes on.
        drop(answers);
        let long = Duration::from_secs(60);
        disk.within(&tool(), long, || Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_a_refusal() {
        let disk = OnDisk::default();
        let refused = disk.within(&tool(), LONGEST, || std::panic::resume_unwind(Box::new("no"))).await;
        assert_eq!(refused.unwrap_err().code, GateCode::Pg3);
        assert_eq!(disk.0.available_permits(), MOST_WAITING);
    }
}
