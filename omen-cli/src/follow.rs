//! `omen check --follow`: checks what is appended to logs, until it is stopped.
//!
//! What the system reports about the files only wakes this program up early; it looks for itself, several times a second, so
//! that nothing depends on a report.

mod tail;
mod wake;

use std::path::{Path, PathBuf};
use std::time::Duration;

use omen::validator::{Summary, ValidatorOptions};

use crate::exit::{Failure, complain};
use crate::input::{self, Reporter};
use tail::Tail;
use wake::Wake;

/// What was checked until the end.
pub(crate) struct Followed {
    /// The logs that there were.
    pub(crate) files: u64,
    pub(crate) summary: Summary,
    /// Whether all logs could be read.
    pub(crate) is_complete: bool,
}

/// A reporter of several logs in turn.
pub(crate) trait Reports<'p>: Reporter {
    /// Makes it the reporter of a log.
    fn of(&mut self, path: &'p Path);
}

/// Follows logs until a signal ends this. What is still open then is not reported: the logs go on.
pub(crate) fn run<'p>(
    paths: &'p [PathBuf],
    options: &ValidatorOptions,
    reporter: &mut impl Reports<'p>,
) -> Result<Followed, Failure> {
    if let Some(path) = paths.iter().find(|path| input::is_stdin(path)) {
        let name = input::name(path);
        return Err(Failure::Usage(format!("{name} is followed anyway; leave out `--follow`, or name a file")));
    }
    let wake = Wake::new(paths)?;
    let mut tails: Vec<_> = paths.iter().map(|path| Tail::new(path, options.clone())).collect();
    let mut is_complete = true;
    let mut waits_for = None;
    loop {
        let mut missing = 0;
        for (tail, path) in tails.iter_mut().zip(paths) {
            reporter.of(path);
            is_complete &= tail.poll(reporter)?;
            missing += usize::from(tail.is_missing());
        }
        if wake.is_stopped() {
            break;
        }
        let now_for = (tails.len() - missing, missing);
        if wake.is_watched() && waits_for.replace(now_for) != Some(now_for) {
            complain(waiting(tails.len() - missing, missing));
        }
        wake.wait(PAUSE);
    }
    let mut followed = Followed { files: 0, summary: Summary::default(), is_complete };
    for tail in &tails {
        followed.files += u64::from(tail.has_begun());
        followed.summary += tail.summary();
    }
    Ok(followed)
}

/// What this waits for, for a person.
fn waiting(there: usize, missing: usize) -> String {
    let files = |count| if count == 1 { "1 log".to_owned() } else { format!("{count} logs") };
    let ends = "Ctrl-C ends this";
    match (there, missing) {
        (there, 0) => format!("waiting for more in {}; {ends}", files(there)),
        (0, missing) => format!("waiting for {} to be created; {ends}", files(missing)),
        (there, missing) => {
            format!("waiting for more in {}, and for {} to be created; {ends}", files(there), files(missing))
        }
    }
}

/// How long nothing is read if nothing is reported.
const PAUSE: Duration = Duration::from_millis(200);
