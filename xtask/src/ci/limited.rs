//! A program that is ended, with all that it has started, when it takes too long.

use std::future;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with success.
    Passed,
    /// By itself, without success.
    Failed,
    /// It took too long and was killed.
    TimedOut,
    /// Somebody has told this process to end, and it was killed.
    Interrupted,
}

/// Runs a program, for so long at most, in a process group of its own, which is killed as a whole.
///
/// # Errors
/// If the program cannot be started or waited for.
pub fn run_limited(command: Command, limit: Duration) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut command = tokio::process::Command::from(command);
        // A group in the background cannot read from the terminal.
        command.stdin(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = child.id();
        let ended = tokio::select! {
            biased;
            status = child.wait() => {
                return status.map(|status| if status.success() { Ended::Passed } else { Ended::Failed });
            }
            () = tokio::time::sleep(limit) => Ended::TimedOut,
            () = interrupted() => Ended::Interrupted,
        };
        kill(group, Kill::Politely);
        // What cleans up behind itself may; what does not end by then has had its time.
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
        kill(group, Kill::Now);
        child.wait().await.map(|_| ended)
    })
}

const GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy)]
enum Kill {
    Politely,
    Now,
}

#[cfg(unix)]
fn kill(group: Option<u32>, how: Kill) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match how {
        Kill::Politely => Signal::TERM,
        Kill::Now => Signal::KILL,
    };
    let group = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // A group that has ended cannot be killed, and need not.
    let _ = group.map(|group| kill_process_group(group, signal));
}

/// The program itself is killed as it is dropped.
#[cfg(not(unix))]
fn kill(_: Option<u32>, _: Kill) {}

/// Waits until somebody tells this process to end.
#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else { return future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        future::pending().await
    }
}
