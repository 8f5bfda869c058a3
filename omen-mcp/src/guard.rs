//! A process between the gate and each of its servers, so that nothing of a server outlives the gate.
//!
//! A process that is killed cannot clean up after itself, and the kernel does not do it: a server that never reads its
//! input does not notice that the gate is gone. So where the program asks for it ([`guard_servers`]), it starts itself
//! once more for each server, as a *guard*, and the guard starts the server. The guard
//!
//! - waits for the gate by a pidfd, so that it learns of its end however it ends, also by SIGKILL;
//! - is the subreaper of all that the server starts: what loses its parent becomes the guard's child, whatever session
//!   or process group it has made for itself;
//! - kills its children until none is left, when the gate ends or asks for it, or the server has ended;
//! - then ends as the server did, so that the gate sees the server's exit.
//!
//! All of this is safe Rust after `exec`: no code runs between `fork` and `exec`.
//!
//! What can still survive: all of a server if the guard itself is killed in the same moment as the gate (the gate sees to
//! the server's process group if the guard alone is killed); what a process of the server has had started by somebody
//! else, such as a service manager; and what runs as another user, whom the guard may not signal. Elsewhere than on Linux
//! there are no guards. None of this is a sandbox.

use std::ffi::{OsStr, OsString};

use tokio::process::Command;

/// Has every server that this program starts from now on end with it, however the program ends. To be called at the
/// beginning of `main`, before anything else is done:
///
/// ```no_run
/// // The first line of `main`:
/// omen_mcp::guard_servers();
/// ```
///
/// The program is started once more for each server, to watch over it; in such a process this does not return. On
/// systems other than Linux it does nothing.
pub fn guard_servers() {
    #[cfg(target_os = "linux")]
    linux::begin(vec!["/proc/self/exe".into()]);
}

/// As [`guard_servers`], for a program that has to be started by a command line of its own: what is to be guarded is
/// appended to it. For tests, whose `main` is not theirs.
#[cfg(feature = "test-util")]
pub fn guard_servers_through(command_line: Vec<OsString>) {
    #[cfg(target_os = "linux")]
    linux::begin(command_line);
    #[cfg(not(target_os = "linux"))]
    drop(command_line);
}

/// The command that starts a server under a guard, if servers are guarded, and what has to be in its environment.
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

    use crate::process_tree::children;

    /// In the environment of a guard: the gate's process, and how many of the last arguments are the server's command.
    const MARK: &str = "OMEN_GATE_GUARD";

    /// The exit status of a shell that cannot start a command.
    const NOT_STARTED: i32 = 127;

    /// How a guard is started, once the program has asked for guards.
    static HOW: OnceLock<Vec<OsString>> = OnceLock::new();

    pub(super) fn begin(how: Vec<OsString>) {
        if let Some(mark) = std::env::var_os(MARK) {
            // On a thread of its own, for this one may be in a runtime. It ends the process.
            let _ = std::thread::spawn(move || guard(&mark)).join();
            exit(NOT_STARTED);
        }
        // That it was asked for before is as good.
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

    /// Is a guard, to the end of the process.
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

    /// The gate shows the last words of a server that did not start.
    #[allow(clippy::print_stderr, reason = "it stands in for the server, and writes where the server would")]
    fn say(error: &io::Error) {
        eprintln!("it could not be started: {error}");
    }

    /// Starts the server and sees to its end. How it ended, if it was started.
    async fn watch(mark: &OsStr) -> io::Result<Option<WaitStatus>> {
        let (gate, mut command) = read_mark(mark)
            .ok_or_else(|| io::Error::other(format!("`{MARK}` is reserved for the guard of a server")))?;
        set_child_subreaper(Some(getpid()))?;
        let mut asked = signal(SignalKind::terminate())?;
        let mut ended = signal(SignalKind::child())?;
        let mut gone = end_of(gate);
        // From here on its end is seen; if it came before, somebody else is the parent.
        if getppid() != Some(gate) {
            return Ok(None);
        }
        let server = command.spawn()?;
        let server = i32::try_from(server.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let_go()?;
        let mut status = None;
        while status.is_none() {
            tokio::select! {
                _ = ended.recv() => while reap(server, &mut status)? == Reaped::One {},
                _ = asked.recv() => break,
                _ = &mut gone => break,
            }
        }
        kill_all(server, &mut status).await?;
        Ok(status)
    }

    /// The gate, and the command of the server.
    fn read_mark(mark: &OsStr) -> Option<(Pid, Command)> {
        let (gate, count) = mark.to_str()?.split_once(':')?;
        let args: Vec<_> = std::env::args_os().collect();
        let (_, command) = args.split_at_checked(args.len().checked_sub(count.parse().ok()?)?)?;
        let (program, args) = command.split_first()?;
        let mut command = Command::new(program);
        command.args(args).env_remove(MARK);
        Some((Pid::from_raw(gate.parse().ok()?)?, command))
    }

    /// Comes when a process ends.
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

    /// The server alone holds its streams, so that the gate sees when it closes them.
    fn let_go() -> io::Result<()> {
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        Ok(rustix::stdio::dup2_stderr(&nothing)?)
    }

    #[derive(PartialEq, Eq)]
    enum Reaped {
        One,
        NoneHasEnded,
        NoneIsLeft,
    }

    /// Takes one child that has ended, in whatever process group it is, and notes how the server did.
    fn reap(server: Pid, status: &mut Option<WaitStatus>) -> io::Result<Reaped> {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((child, how))) => {
                if child == server {
                    *status = Some(how);
                }
                Ok(Reaped::One)
            }
            Ok(None) => Ok(Reaped::NoneHasEnded),
            Err(Errno::CHILD) => Ok(Reaped::NoneIsLeft),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills all children, and those that become ours by that, until none is left. They are reaped here alone, so that no
    /// number of a process stands for another one when it is killed.
    async fn kill_all(server: Pid, status: &mut Option<WaitStatus>) -> io::Result<()> {
        loop {
            match reap(server, status)? {
                Reaped::One => {}
                Reaped::NoneIsLeft => return Ok(()),
                Reaped::NoneHasEnded => {
                    let Ok(children) = children(getpid()) else {
                        // Without /proc, kill our own process group: ourselves, and the children that are still in it.
                        return Ok(kill_current_process_group(Signal::KILL)?);
                    };
                    for child in children {
                        // It may have ended, or be somebody whom we may not signal.
                        let _ = kill_process(child, Signal::KILL);
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
        }
    }

    /// Ends as the server did.
    fn end_as(status: WaitStatus) -> ! {
        if let Some(number) = status.terminating_signal() {
            // One core is enough.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            if let Some(signal) = Signal::from_named_raw(number) {
                let _ = kill_process(getpid(), signal);
            }
            exit(128 + number);
        }
        exit(status.exit_status().unwrap_or(NOT_STARTED))
    }
}
