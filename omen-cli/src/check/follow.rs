//! `omen check --follow`: checks lines as they are appended to logs, until stopped.
//!
//! Notifications from the system about changed files only shorten the wait. Logs are polled several times a second, so nothing
//! depends on notifications.

mod checkpoint;
mod tail;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use omen::validator::ValidatorOptions;
use signal_hook::consts::{SIGINT, SIGTERM};

use self::checkpoint::Checkpoint;
use self::tail::Tail;
use super::findings::{Findings, Total};
use crate::exit::{Failure, complain};
use crate::input::{self, Reporter as _};

/// Follows logs, from the `checkpoint` if given, until a signal arrives. Episodes open then are not reported, as logs go on.
pub(super) fn run<'r>(
    paths: &'r [PathBuf],
    checkpoint: Option<&Path>,
    options: &ValidatorOptions,
    mut findings: Findings<'r, '_, '_>,
) -> Result<Total, Failure> {
    let wake = Wake::new(paths)?;
    let mut checkpoint = checkpoint.map(Checkpoint::open).transpose().map_err(Failure::Usage)?;
    let mut tails = Vec::new();
    for path in paths {
        let position = checkpoint.as_ref().and_then(|checkpoint| checkpoint.position(path));
        tails.push(Tail::new(path, position, options.clone()).map_err(Failure::Usage)?);
    }
    let mut is_complete = true;
    let mut is_new = false;
    let mut waits_for = None;
    loop {
        let mut missing = Vec::new();
        for (tail, path) in tails.iter_mut().zip(paths) {
            findings.path = path;
            is_complete &= tail.poll(&mut findings)?;
            is_new |= tail.has_read();
            if tail.is_missing() {
                missing.push(path.as_path());
            }
        }
        let is_stopped = wake.is_stopped();
        if is_new
            && let Some(checkpoint) = &mut checkpoint
            && (is_stopped || checkpoint.is_due())
        {
            let positions = tails.iter_mut().filter_map(|tail| tail.position().transpose()).collect::<io::Result<_>>();
            positions.and_then(|positions| checkpoint.save(positions)).map_err(unsaved)?;
            is_new = false;
        }
        // A log that was never readable will not become readable, so stop when no other is left.
        if is_stopped || tails.iter().all(Tail::is_useless) {
            break;
        }
        let there = tails.iter().filter(|tail| tail.is_open()).count();
        // People see that the command is waiting; programs are informed only of a missing log, which may be a mistake.
        let is_worth_saying = wake.is_watched || !missing.is_empty();
        if is_worth_saying && !findings.is_quiet() && waits_for.as_ref() != Some(&(there, missing.clone())) {
            complain(waiting(there, &missing));
            waits_for = Some((there, missing));
        }
        wake.wait(PAUSE);
    }
    let mut total = Total { is_complete, ..Total::default() };
    for tail in &tails {
        total.is_complete &= !tail.has_gap;
        total.files += u64::from(tail.has_begun);
        total.summary += tail.summary();
    }
    Ok(total)
}

fn unsaved(error: io::Error) -> Failure {
    Failure::File(io::Error::new(error.kind(), format!("cannot write the checkpoint: {error}")))
}

/// Describes what the command is waiting for.
fn waiting(there: usize, missing: &[&Path]) -> String {
    let files = |count| if count == 1 { "1 log".to_owned() } else { format!("{count} logs") };
    let ends = "Ctrl-C ends this";
    let missing = match missing {
        [] => return format!("waiting for more in {}; {ends}", files(there)),
        [one] => input::name(one),
        several => files(several.len()),
    };
    match there {
        0 => format!("waiting for {missing} to be created; {ends}"),
        there => format!("waiting for more in {}, and for {missing} to be created; {ends}", files(there)),
    }
}

/// Interval between reads if there is no notification.
const PAUSE: Duration = Duration::from_millis(200);

struct Wake {
    is_stopped: Arc<AtomicBool>,
    changes: Receiver<()>,
    /// Watcher of the files; without one, every pause has its full length.
    watcher: Option<RecommendedWatcher>,
    /// Whether a person sees standard error.
    is_watched: bool,
}

impl Wake {
    fn new(paths: &[PathBuf]) -> io::Result<Self> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // A second signal ends the process immediately.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_stopped))?;
            signal_hook::flag::register(signal, Arc::clone(&is_stopped))?;
        }
        let (sender, changes) = sync_channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Access events are no changes; of the others, one pending notification is enough.
            if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                let _ = sender.try_send(());
            }
        });
        let mut watcher = watcher.ok();
        // Directories are watched rather than files, since a log may be replaced.
        let directories: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        for directory in directories {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            if let Some(watcher) = &mut watcher {
                let _ = watcher.watch(directory, RecursiveMode::NonRecursive);
            }
        }
        Ok(Self { is_stopped, changes, watcher, is_watched: io::stderr().is_terminal() })
    }

    /// Returns whether a signal has arrived.
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Waits for a change, but no longer than `most`.
    fn wait(&self, most: Duration) {
        if self.watcher.is_none() || self.changes.recv_timeout(most).is_err_and(is_over) {
            thread::sleep(most);
        }
    }
}

/// Returns whether the watcher has stopped.
fn is_over(error: std::sync::mpsc::RecvTimeoutError) -> bool {
    error == std::sync::mpsc::RecvTimeoutError::Disconnected
}
