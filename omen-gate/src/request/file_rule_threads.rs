//! Threads for argument rules that query the file system (PG-3).
//!
//! A network file system may take long or never answer. Other calls and time limits must not wait for it. Such rules
//! are therefore checked on a bounded number of separate threads, and a check that takes too long is a refusal.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::base::{Blocked, GateCode, ToolId};
use crate::call::Call;
use crate::catalog::Allowlist;

/// A gate's threads that may block on a file system.
#[derive(Clone, Debug)]
pub(crate) struct FileRuleThreads(Arc<Semaphore>);

impl Default for FileRuleThreads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_WAITING)))
    }
}

impl FileRuleThreads {
    /// Accepts a call whose arguments satisfy their rules.
    ///
    /// # Errors
    /// PG-3, also if the file system does not answer in time.
    pub(crate) async fn judge_arguments(&self, allowed: Arc<Allowlist>, call: &Call) -> Result<(), Blocked> {
        let asks_files = allowed.get(call.tool()).is_some_and(|allowed| allowed.arguments.asks_files());
        // Without a runtime, no tool is called anyway.
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
        self.run(limit, judge).await.unwrap_or_else(|| {
            let message =
                format!("the paths of the call of `{tool}` could not be resolved within {} s", limit.as_secs());
            Err(Blocked::new(GateCode::Pg3, message, "ask the operator to check the file system of the rule `under`"))
        })
    }

    /// Reads on a separate thread; returns `None` if that takes too long.
    pub(crate) async fn read<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.run(LONGEST, read).await
    }

    async fn run<T: Send + 'static>(&self, limit: Duration, judge: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let threads = Arc::clone(&self.0);
        let judged = async {
            let permit = threads.acquire_owned().await.ok()?;
            let judging = spawn_blocking(move || {
                let verdict = judge();
                // A thread that blocks forever keeps its permit, which bounds the number of such threads.
                drop(permit);
                verdict
            });
            judging.await.ok()
        };
        timeout(limit, judged).await.ok().flatten()
    }
}

/// Time limit for the file system to resolve the paths of a call.
const LONGEST: Duration = Duration::from_secs(5);
/// Maximum number of calls that wait for a file system.
const MOST_WAITING: usize = 16;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn tool() -> ToolId {
        ToolId { server: "s".parse().unwrap(), tool: "t".parse().unwrap() }
    }

    /// A disk that never answers blocks only its own calls and a bounded number of threads.
    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_a_refusal_and_holds_up_nothing_else() {
        let (disk, limit) = (FileRuleThreads::default(), Duration::from_millis(20));
        let mut answers = Vec::new();
        for _ in 0..MOST_WAITING {
            let (answer, waits) = mpsc::channel::<()>();
            answers.push(answer);
            let refused =
                disk.within(&tool(), limit, move || waits.recv().map_or(Ok(()), |()| Ok(()))).await.unwrap_err();
            assert_eq!(refused.code, GateCode::Pg3);
            assert!(refused.message.contains("could not be resolved within"), "{refused}");
        }
        // All threads are taken, so this check does not even begin.
        let (begun, is_begun) = mpsc::channel();
        let late = disk.within(&tool(), limit, move || begun.send(()).map_or(Ok(()), |()| Ok(()))).await;
        assert!(late.is_err() && is_begun.try_recv().is_err());
        // The disk answers, and the threads become free.
        drop(answers);
        let long = Duration::from_secs(60);
        disk.within(&tool(), long, || Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_a_refusal() {
        let disk = FileRuleThreads::default();
        let refused = disk.within(&tool(), LONGEST, || std::panic::resume_unwind(Box::new("no"))).await;
        assert_eq!(refused.unwrap_err().code, GateCode::Pg3);
        assert_eq!(disk.0.available_permits(), MOST_WAITING);
    }
}
