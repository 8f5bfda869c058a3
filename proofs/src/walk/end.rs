//! Accidents: an episode is dropped unintentionally, and its log is validated.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use omen::*;

use super::world::World;
use super::{Report, judge};

impl World<'_> {
    /// Drops the episode as programs do by accident, and validates its log.
    pub(super) fn end_by_accident(&mut self, episode: AnyEpisode, report: &mut Report) -> Result<(), String> {
        let accident = match self.rng.u8(..5) {
            0 => {
                drop(episode);
                "dropped"
            }
            1 => {
                panic_with(|| drop(Unwound(episode)));
                "panic"
            }
            2 => {
                cancel(async move {
                    std::future::pending::<()>().await;
                    drop(episode);
                });
                "future cancelled"
            }
            3 => {
                self.fail_in_a_tool(episode);
                "tool panics"
            }
            _ => {
                self.cancel_a_tool(episode);
                "tool cancelled"
            }
        };
        *report.accidents.entry(format!("{accident}, {:?}", self.on_drop)).or_default() += 1;
        let lines = self.written.all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        report.packets += lines.len() as u64;
        judge(&lines, report).map_err(|fault| format!("{accident}, {:?}: {fault}", self.on_drop))
    }

    /// Panics while directives are open and a tool is running.
    fn fail_in_a_tool(&mut self, episode: AnyEpisode) {
        let (read, write) = (self.read(), self.write());
        panic_with(move || match episode {
            AnyEpisode::Act(episode) => {
                let _ = episode.execute_with(read, |_| -> Result<i32, String> { unwind() });
            }
            AnyEpisode::Verify(episode) => {
                let _ = episode.check(read, |_| unwind());
            }
            AnyEpisode::Execute(episode) => {
                let _ = episode.execute_each([read], |_| -> Result<i32, String> { unwind() });
            }
            AnyEpisode::Authorize(episode) => {
                if let Some(write) = write {
                    let _ = episode.execute_with(write, |_| -> Result<i32, String> { unwind() });
                }
            }
            AnyEpisode::ExecuteOpen(episode) => {
                let mut tasks = episode.tasks();
                let _running = tasks.pop().map(Pending::start);
                let _episode = episode;
                unwind()
            }
            episode => drop(Unwound(episode)),
        });
    }

    /// Drops a future that is waiting for a tool.
    fn cancel_a_tool(&mut self, episode: AnyEpisode) {
        let (read, write) = (self.read(), self.write());
        cancel(async move {
            match episode {
                AnyEpisode::Act(episode) => {
                    let _ = episode.execute_with_async(read, async |_| never().await).await;
                }
                AnyEpisode::Verify(episode) => {
                    let _ = episode.execute([read]).map(|(episode, tasks)| (episode, tasks.map(Pending::start)));
                }
                AnyEpisode::Execute(episode) => {
                    let _ = episode.execute_each_async([read], async |_| never().await).await;
                }
                AnyEpisode::Authorize(episode) => {
                    if let Some(write) = write {
                        let _ = episode.execute_with_async(write, async |_| never().await).await;
                    }
                }
                episode => {
                    std::future::pending::<()>().await;
                    drop(episode);
                }
            }
        });
    }
}

/// Drops its episode during a panic.
struct Unwound(AnyEpisode);

impl Drop for Unwound {
    fn drop(&mut self) {
        // The episode is dropped after this, while the panic unwinds.
        let _ = &self.0;
        unwind()
    }
}

async fn never() -> Result<i32, String> {
    std::future::pending().await
}

/// Panics without a message from the panic hook, because there are thousands of panics.
fn unwind() -> ! {
    resume_unwind(Box::new("an accident"))
}

fn panic_with(run: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(run));
}

/// Polls a future once, and drops it.
fn cancel(future: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    let future = pin!(future);
    let _: Poll<()> = future.poll(&mut context);
}
