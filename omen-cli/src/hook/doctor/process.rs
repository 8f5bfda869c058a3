//! Starts a hook as its agent does, with a time limit.

use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use omen_hook::HookEnd;

/// Runs a command on an event, as long as the agent would wait.
pub(super) fn run(
    words: &[String],
    variable: Option<(&str, &str)>,
    cwd: &Path,
    event: &str,
    limit: Duration,
) -> HookEnd {
    let Some((program, args)) = words.split_first() else { return HookEnd::Missing };
    let mut command = Command::new(program);
    command.args(args).envs(variable).current_dir(cwd);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let until = Instant::now() + limit;
    let Ok(mut child) = command.spawn() else { return HookEnd::Missing };
    let (stdout, stderr) = (text_of(child.stdout.take()), text_of(child.stderr.take()));
    if let Some(mut stdin) = child.stdin.take() {
        let event = event.to_owned();
        // A hook need not read its event.
        thread::spawn(move || drop(stdin.write_all(event.as_bytes())));
    }
    let Some(exit) = ended(&mut child, until) else {
        let _ = child.kill();
        let _ = child.wait();
        return HookEnd::Slow;
    };
    // A process that it has left behind may keep them open.
    let rest = |text: Receiver<String>| text.recv_timeout(until.saturating_duration_since(Instant::now()));
    match (rest(stdout), rest(stderr)) {
        (Ok(stdout), Ok(stderr)) => HookEnd::Ended { exit, stdout, stderr },
        _ => HookEnd::Slow,
    }
}

/// Exit code of a process, if it ends in time.
#[allow(clippy::option_option, reason = "a process may end without an exit code")]
fn ended(child: &mut Child, until: Instant) -> Option<Option<i32>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    }
}

fn text_of(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (write, read) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|stream| stream.take(MAX_ANSWER).read_to_end(&mut bytes));
        let _ = write.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    read
}

/// Longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 1 << 20;
