//! The child process, from its start to its end: a server, or the guard of one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::Launch;
use super::stderr_tail::StderrTail;
use omen_base::bounded;

/// How long the last words of a process are waited for, once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What is to become of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// It is in use.
    Live,
    /// It is to end, and has some time for it.
    Stop,
    /// It is to be killed.
    Kill,
}

/// How long to wait for a process that has closed its streams, to report how it ended.
pub const EXIT: Duration = Duration::from_secs(2);

/// How a process ended, once it has.
#[derive(Clone, Debug)]
pub struct Exit(watch::Receiver<Option<String>>);

impl Exit {
    /// Waits for the end.
    pub async fn wait(&mut self) {
        // The task that would report it is gone with the runtime, and so is the process.
        let _ = self.0.wait_for(Option::is_some).await;
    }

    /// How it ended, such as `exit status: 1`, or none while it runs.
    pub fn how(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// How it ended, if it does so soon: a process that breaks off is about to end.
    pub async fn soon(&mut self) -> Option<String> {
        let _ = timeout(EXIT, self.wait()).await;
        self.how()
    }
}

/// A process that runs.
#[derive(Debug)]
pub struct Process {
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// The end of what it writes to its standard error.
    pub stderr: Arc<StderrTail>,
    /// How it ended, once it has.
    pub exit: Exit,
}

impl Process {
    /// Starts it. Somebody waits for its end in the background, so that it never stays a zombie, and kills it as
    /// wished, or if nobody is left who could wish.
    pub fn start(launch: &Launch, wish: watch::Receiver<Wish>) -> io::Result<Self> {
        let (mut command, guarded) = launch.to_command();
        let mut child = command.spawn()?;
        let group = Group::of(&child, guarded);
        let missing = || io::Error::other("a standard stream is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let chatter = child.stderr.take().ok_or_else(missing)?;
        let stderr = Arc::new(StderrTail::default());
        let drain = tokio::spawn({
            let stderr = Arc::clone(&stderr);
            let copied = launch.shows_stderr;
            async move { if copied { stderr.copy(chatter, tokio::io::stderr()).await } else { stderr.drain(chatter).await } }
        });
        let (told, exit) = watch::channel(None);
        let grace = launch.limits_ref().stop;
        tokio::spawn(async move {
            let how = reap(child, group, wish, grace).await;
            last_words(drain).await;
            told.send_replace(Some(how));
        });
        Ok(Self { stdin, stdout, stderr, exit: Exit(exit) })
    }
}

/// Waits until the process has ended, or kills it, and says how it ended.
async fn reap(mut child: Child, mut group: Group, mut wish: watch::Receiver<Wish>, grace: Duration) -> String {
    let mut status = tokio::select! {
        status = child.wait() => Some(status),
        () = wished(&mut wish, Wish::Stop) => None,
    };
    if status.is_none() {
        status = tokio::select! {
            status = child.wait() => Some(status),
            () = wished(&mut wish, Wish::Kill) => None,
            () = sleep(grace) => None,
        };
    }
    // What it has started goes with it, even if it has ended by itself.
    group.has_ended = status.is_some();
    let is_guard = group.is_guard;
    drop(group);
    let status = match status {
        Some(status) => status,
        // A guard ends when nothing is left.
        None if is_guard => child.wait().await,
        None => {
            // Where there are no groups of processes. It may also have ended by now.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    match status {
        Ok(status) => status.to_string(),
        Err(error) => bounded(&error.to_string()),
    }
}

/// Waits for a wish. That nobody is left who could wish is a wish, too.
async fn wished(wish: &mut watch::Receiver<Wish>, least: Wish) {
    let _ = wish.wait_for(|wish| *wish >= least).await;
}

async fn last_words(drain: JoinHandle<()>) {
    let abort = drain.abort_handle();
    if timeout(LAST_WORDS, drain).await.is_err() {
        abort.abort();
    }
}

/// The process and what it has started. They are ended when this is dropped, be it because the runtime ends.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    is_guard: bool,
    has_ended: bool,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child, is_guard: bool) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader, is_guard, has_ended: false }
    }

    /// Elsewhere, the process alone is killed.
    #[cfg(not(unix))]
    fn of(_: &Child, is_guard: bool) -> Self {
        Self { is_guard, has_ended: false }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        use rustix::process::{Signal, kill_process, kill_process_group};

        let Some(leader) = self.leader else { return };
        // That there is nobody left to signal is as good, wherever that is so.
        if self.is_guard && !self.has_ended {
            let _ = kill_process(leader, Signal::TERM);
            return;
        }
        // Those that have left the group are found as long as those live who have started them.
        #[cfg(target_os = "linux")]
        let fled =
            if self.has_ended { Vec::new() } else { super::process_tree::descendants(leader).unwrap_or_default() };
        // After a guard that has ended this finds somebody only if the guard was killed.
        let _ = kill_process_group(leader, Signal::KILL);
        #[cfg(target_os = "linux")]
        for process in fled {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}
