//! Programs with a time limit, after which they are killed with everything they have started.

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with success.
    Passed,
    /// By itself, without success.
    Failed,
    /// It exceeded its limit and was killed.
    TimedOut,
    /// This process was asked to stop, and killed it.
    Interrupted,
}

/// Runs a program for at most `limit`, in its own process group, which is killed as a whole.
///
/// # Errors
/// If the program cannot be started or waited for.
pub fn run_limited(mut command: Command, limit: Duration) -> io::Result<Ended> {
    let interrupted = interrupted()?;
    // A background process group cannot read from the terminal.
    command.stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let deadline = Instant::now() + limit;
    let status = wait(&mut child, || interrupted.load(Ordering::Relaxed) || Instant::now() >= deadline);
    if let Some(status) = status.inspect_err(|_| kill(&mut child, Kill::Now))? {
        return Ok(if status.success() { Ended::Passed } else { Ended::Failed });
    }
    let ended = if interrupted.load(Ordering::Relaxed) { Ended::Interrupted } else { Ended::TimedOut };
    kill(&mut child, Kill::Politely);
    let grace = Instant::now() + GRACE;
    // Neither its status nor an error matters now: whatever is left of the group is killed.
    let _ = wait(&mut child, || Instant::now() >= grace);
    kill(&mut child, Kill::Now);
    child.wait().map(|_| ended)
}

/// Time for cleaning up after a program was asked to stop.
const GRACE: Duration = Duration::from_secs(2);

/// Polling interval. Steps take seconds to minutes, so it is not noticeable.
const POLL: Duration = Duration::from_millis(20);

/// Waits until the child has ended or `enough` holds. Returns the status if the child has ended.
fn wait(child: &mut Child, enough: impl Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        if status.is_some() || enough() {
            return Ok(status);
        }
        thread::sleep(POLL);
    }
}

#[derive(Clone, Copy)]
enum Kill {
    Politely,
    Now,
}

#[cfg(unix)]
fn kill(child: &mut Child, how: Kill) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match how {
        Kill::Politely => Signal::TERM,
        Kill::Now => Signal::KILL,
    };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Killing a group that has already ended fails, which is not an error.
    let _ = group.map(|group| kill_process_group(group, signal));
}

/// Without process groups, only the program itself is killed.
#[cfg(not(unix))]
fn kill(child: &mut Child, how: Kill) {
    match how {
        Kill::Politely => {}
        // Killing a program that has already ended fails, which is not an error.
        Kill::Now => drop(child.kill()),
    }
}

/// Returns a flag that is set once this process was asked to stop (Ctrl-C, `SIGTERM`). From then on, every step ends at once.
fn interrupted() -> io::Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&flag))?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&flag))?;
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}
