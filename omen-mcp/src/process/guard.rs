//! Guard process between the gate and each of its servers, so that no part of a server outlives the gate.
//!
//! A process that is killed cannot clean up after itself, and the kernel does not do so either: a server that never
//! reads its input does not notice that the gate is gone. If the program asks for it ([`guard_servers`]), it therefore
//! starts itself once more for each server, as a *guard*, and the guard starts the server. The guard
//!
//! - waits for the gate on a pidfd, so it notices the gate's end however it happens, including by SIGKILL;
//! - is the subreaper of everything that the server starts: a process that loses its parent becomes the guard's child,
//!   whatever session or process group it has created for itself;
//! - kills its children until none is left when the gate ends or requests it, or when the server has ended;
//! - then ends as the server did, so that the gate sees the server's exit status.
//!
//! All of this is safe Rust after `exec`: no code runs between `fork` and `exec`.
//!
//! The following can still survive: the whole server if the guard itself is killed at the same moment as the gate (if
//! only the guard is killed, the gate handles the server's process group); anything that a process of the server had
//! started by another program, such as a service manager; and anything that runs as another user, whom the guard may not
//! signal. On systems other than Linux there are no guards. None of this is a sandbox.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// Makes every server that this program starts from now on end with it, however the program ends. Call it at the
/// beginning of `main`, before anything else:
///
/// ```no_run
/// // The first line of `main`:
/// omen_mcp::guard_servers();
/// ```
///
/// The program is started once more for each server, to watch over it; in such a process this function does not return.
/// It does nothing on systems other than Linux.
pub fn guard_servers() {
    #[cfg(target_os = "linux")]
    linux::begin(vec!["/proc/self/exe".into()]);
}

/// Same as [`guard_servers`], for a program that has to be started by its own command line: the command to guard is
/// appended to it. For tests, whose `main` is not their own.
#[cfg(feature = "test-util")]
pub fn guard_servers_through(command_line: Vec<OsString>) {
    #[cfg(target_os = "linux")]
    linux::begin(command_line);
    #[cfg(not(target_os = "linux"))]
    drop(command_line);
}

/// Returns the command that starts a server under a guard, if servers are guarded, and the environment variable that it needs.
pub(super) fn command(program: &OsStr, args: &[OsString]) -> Option<(Command, (&'static str, String))> {
    #[cfg(target_os = "linux")]
    let guarded = linux::command(program, args);
    #[cfg(not(target_os = "linux"))]
    let guarded = {
        let _ = (program, args);
        None
    };
    guarded
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::process::{Command, exit, id};
    use std::sync::OnceLock;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getppid,
        kill_current_process_group, kill_process, pidfd_open, set_child_subreaper, setrlimit, wait,
    };
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::sync::oneshot;

    use super::super::process_tree::children;

    /// Environment variable of a guard: the gate's process id, and how many of the last arguments form the server's command.
    const MARK: &str = "OMEN_GATE_GUARD";

    /// Exit status of a shell that cannot start a command.
    const NOT_STARTED: i32 = 127;

    /// Command line that starts a guard, once the program has asked for guards.
    static HOW: OnceLock<Vec<OsString>> = OnceLock::new();

    pub(super) fn begin(how: Vec<OsString>) {
        if let Some(mark) = std::env::var_os(MARK) {
            // Runs on its own thread, because this one may be in a runtime, and ends the process.
            let _ = std::thread::spawn(move || guard(&mark)).join();
            exit(NOT_STARTED);
        }
        // A repeated request changes nothing.
        let _ = HOW.set(how);
    }

    pub(super) fn command(
        program: &OsStr,
        args: &[OsString],
    ) -> Option<(tokio::process::Command, (&'static str, String))> {
        let (first, rest) = HOW.get()?.split_first()?;
        let mut command = tokio::process::Command::new(first);
        command.args(rest).arg(program).args(args);
        Some((command, (MARK, format!("{}:{}", id(), args.len() + 1))))
    }

    /// Runs as a guard until the end of the process.
    fn guard(mark: &OsStr) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime.and_then(|runtime| runtime.block_on(watch(mark))) {
            Ok(Some(status)) => end_as(status),
            Ok(None) => exit(NOT_STARTED),
            Err(error) => {
                say(&error);
                exit(NOT_STARTED)
            }
        }
    }

    /// Reports why a server did not start; the gate shows a server's last words.
    #[allow(clippy::print_stderr, reason = "it stands in for the server, and writes where the server would")]
    fn say(error: &io::Error) {
        eprintln!("it could not be started: {error}");
    }

    /// Starts the server and waits until it has ended. Returns how it ended, if it was started.
    async fn watch(mark: &OsStr) -> io::Result<Option<WaitStatus>> {
        let (gate, mut command) = read_mark(mark)
            .ok_or_else(|| io::Error::other(format!("`{MARK}` is reserved for the guard of a server")))?;
        set_child_subreaper(Some(getpid()))?;
        let mut asked = signal(SignalKind::terminate())?;
        let mut ended = signal(SignalKind::child())?;
        let mut gone = end_of(gate);
        // From here on the gate's end is noticed; if it ended earlier, another process is the parent.
        if getppid() != Some(gate) {
            return Ok(None);
        }
        let server = command.spawn()?;
        let server = i32::try_from(server.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let_go()?;
        let mut status = None;
        while status.is_none() {
            tokio::select! {
                _ = ended.recv() => while reap(server, &mut status)? == ReapOutcome::One {},
                _ = asked.recv() => break,
                _ = &mut gone => break,
            }
        }
        kill_all(server, &mut status).await?;
        Ok(status)
    }

    /// Returns the gate's process id and the server's command.
    fn read_mark(mark: &OsStr) -> Option<(Pid, Command)> {
        let (gate, count) = mark.to_str()?.split_once(':')?;
        let args: Vec<_> = std::env::args_os().collect();
        let (_, command) = args.split_at_checked(args.len().checked_sub(count.parse().ok()?)?)?;
        let (program, args) = command.split_first()?;
        let mut command = Command::new(program);
        command.args(args).env_remove(MARK);
        Some((Pid::from_raw(gate.parse().ok()?)?, command))
    }

    /// Returns a receiver that completes when a process ends.
    fn end_of(process: Pid) -> oneshot::Receiver<()> {
        let (gone, receiver) = oneshot::channel();
        std::thread::spawn(move || {
            match pidfd_open(process, PidfdFlags::empty()) {
                Ok(pidfd) => while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None) == Err(Errno::INTR) {},
                // A kernel before 5.3, or a sandbox.
                Err(_) => {
                    while getppid() == Some(process) {
                        std::thread::sleep(Duration::from_millis(100));
                    }
                }
            }
            gone.send(())
        });
        receiver
    }

    /// Releases the standard streams: only the server holds them, so the gate sees when the server closes them.
    fn let_go() -> io::Result<()> {
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        Ok(rustix::stdio::dup2_stderr(&nothing)?)
    }

    #[derive(PartialEq, Eq)]
    enum ReapOutcome {
        One,
        NoneHasEnded,
        NoneIsLeft,
    }

    /// Reaps one child that has ended, whatever its process group, and records how the server ended.
    fn reap(server: Pid, status: &mut Option<WaitStatus>) -> io::Result<ReapOutcome> {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((child, how))) => {
                if child == server {
                    *status = Some(how);
                }
                Ok(ReapOutcome::One)
            }
            Ok(None) => Ok(ReapOutcome::NoneHasEnded),
            Err(Errno::CHILD) => Ok(ReapOutcome::NoneIsLeft),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills all children, and processes that become children as a result, until none is left. They are reaped only here,
    /// so a process id cannot be reused before its process is killed.
    async fn kill_all(server: Pid, status: &mut Option<WaitStatus>) -> io::Result<()> {
        loop {
            match reap(server, status)? {
                ReapOutcome::One => {}
                ReapOutcome::NoneIsLeft => return Ok(()),
                ReapOutcome::NoneHasEnded => {
                    let Ok(children) = children(getpid()) else {
                        // Without `/proc`, kill our own process group: this process and the children still in the group.
                        return Ok(kill_current_process_group(Signal::KILL)?);
                    };
                    for child in children {
                        // The child may have ended, or run as a user whom the guard may not signal.
                        let _ = kill_process(child, Signal::KILL);
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
        }
    }

    /// Ends this process as the server ended.
    fn end_as(status: WaitStatus) -> ! {
        if let Some(number) = status.terminating_signal() {
            // One core dump is enough.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            if let Some(signal) = Signal::from_named_raw(number) {
                let _ = kill_process(getpid(), signal);
            }
            exit(128 + number);
        }
        exit(status.exit_status().unwrap_or(NOT_STARTED))
    }
}
