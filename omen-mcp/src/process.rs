//! Child process, from start to end: a server or the guard of one.

pub(crate) mod guard;
pub(crate) mod launch;
mod process_tree;
pub(crate) mod server_process;
pub(crate) mod stderr_tail;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use self::launch::Launch;
use self::process_tree::ProcessTree;
use self::stderr_tail::StderrTail;
use omen_base::bounded;

/// Time to wait for the last output of a process after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Requested fate of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// The process is in use.
    Live,
    /// The process is to end, and has some time to do so.
    Stop,
    /// The process is to be killed.
    Kill,
}

/// Time to wait until a process that has closed its streams reports how it ended.
pub const EXIT: Duration = Duration::from_secs(2);

/// Report of how a process ended, once it has.
#[derive(Clone, Debug)]
pub struct Exit(watch::Receiver<Option<String>>);

impl Exit {
    /// Waits until the process has ended.
    pub async fn wait(&mut self) {
        // The reporting task is gone together with the runtime, and so is the process.
        let _ = self.0.wait_for(Option::is_some).await;
    }

    /// Returns how the process ended, such as `exit status: 1`; `None` while it runs.
    pub fn how(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Returns how the process ended if it does so soon: a process that closes its streams is about to end.
    pub async fn soon(&mut self) -> Option<String> {
        let _ = timeout(EXIT, self.wait()).await;
        self.how()
    }
}

/// Running process.
#[derive(Debug)]
pub struct Process {
    /// Standard input of the process.
    pub stdin: ChildStdin,
    /// Standard output of the process.
    pub stdout: ChildStdout,
    /// End of the process's standard error.
    pub stderr: Arc<StderrTail>,
    /// Report of how the process ended, once it has.
    pub exit: Exit,
}

impl Process {
    /// Starts the process. A background task waits for its end, so that it never stays a zombie, and kills it on
    /// request or when no one is left who could request it.
    pub fn start(launch: &Launch, wish: watch::Receiver<Wish>) -> io::Result<Self> {
        let (mut command, guarded) = launch.to_command();
        let mut child = command.spawn()?;
        let tree = ProcessTree::new(&child, guarded);
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
            let how = reap(child, tree, wish, grace).await;
            last_words(drain).await;
            told.send_replace(Some(how));
        });
        Ok(Self { stdin, stdout, stderr, exit: Exit(exit) })
    }
}

/// Waits until the process has ended, or kills it, and returns how it ended.
async fn reap(mut child: Child, mut tree: ProcessTree, mut wish: watch::Receiver<Wish>, grace: Duration) -> String {
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
    // Everything that the process has started is killed with it, even if it has ended by itself.
    tree.has_ended = status.is_some();
    let is_guard = tree.is_guard;
    drop(tree);
    let status = match status {
        Some(status) => status,
        // A guard ends when no child is left.
        None if is_guard => child.wait().await,
        None => {
            // For systems without process groups. The process may also have ended by now.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    match status {
        Ok(status) => status.to_string(),
        Err(error) => bounded(&error.to_string()),
    }
}

/// Waits for a wish. The absence of anyone who could wish counts as one.
async fn wished(wish: &mut watch::Receiver<Wish>, least: Wish) {
    let _ = wish.wait_for(|wish| *wish >= least).await;
}

async fn last_words(drain: JoinHandle<()>) {
    let abort = drain.abort_handle();
    if timeout(LAST_WORDS, drain).await.is_err() {
        abort.abort();
    }
}
