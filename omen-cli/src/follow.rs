//! `omen check --follow`: checks what is appended to logs, until it is stopped.
//!
//! What the system reports about the files only wakes this program up early; it looks for itself, several times a second, so
//! that nothing depends on a report.

mod tail;
mod wake;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use omen::validator::ValidatorOptions;

use crate::check::{Findings, Total};
use crate::exit::complain;
use crate::input::Reporter as _;
use tail::Tail;
use wake::Wake;

/// Follows logs until a signal ends this. What is still open then is not reported: the logs go on.
pub(crate) fn run<'r>(
    paths: &'r [PathBuf],
    options: &ValidatorOptions,
    mut findings: Findings<'r, '_>,
) -> io::Result<Total> {
    let wake = Wake::new(paths)?;
    let mut tails: Vec<_> = paths.iter().map(|path| Tail::new(path, options.clone())).collect();
    let mut is_complete = true;
    let mut waits_for = None;
    loop {
        let mut missing = 0;
        for (tail, path) in tails.iter_mut().zip(paths) {
            findings.path = path;
            is_complete &= tail.poll(&mut findings)?;
            missing += usize::from(tail.is_missing());
        }
        if wake.is_stopped() {
            break;
        }
        let now_for = (tails.len() - missing, missing);
        if wake.is_watched() && !findings.is_quiet() && waits_for.replace(now_for) != Some(now_for) {
            complain(waiting(tails.len() - missing, missing));
        }
        wake.wait(PAUSE);
    }
    let mut total = Total { is_complete, ..Total::default() };
    for tail in &tails {
        total.files += u64::from(tail.has_begun());
        total.summary += tail.summary();
    }
    Ok(total)
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
