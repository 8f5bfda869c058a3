//! Agent that is not one: it replays sessions, runs its hooks as processes, and does not care what they say.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use omen_testkit::hook_events;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Run;

/// Session of an agent with a hook.
pub(super) struct FakeAgent<'f> {
    pub(super) agent: &'f str,
    pub(super) folder: &'f Path,
    pub(super) session: String,
    /// Value of `--resident`.
    pub(super) resident: &'f str,
}

impl FakeAgent<'_> {
    /// Event before or after a shell command.
    pub(super) fn event(&self, is_after: bool, id: &str, command: &str) -> Value {
        let sample = if is_after { hook_events::after } else { hook_events::before };
        let mut event = sample(self.agent, command);
        let members = event.as_object_mut().unwrap();
        for (names, value) in [
            (["session_id", "conversation_id", "sessionID"].as_slice(), json!(self.session)),
            (&["tool_use_id", "callID"], json!(id)),
            (&["cwd"], json!(self.folder)),
        ] {
            for name in names {
                members.entry(*name).and_modify(|member| *member = value.clone());
            }
        }
        event
    }

    pub(super) fn before(&self, id: &str, command: &str) -> Run {
        self.hook(&self.event(false, id, command).to_string())
    }

    pub(super) fn after(&self, id: &str, command: &str) -> Run {
        self.hook(&self.event(true, id, command).to_string())
    }

    /// Runs the hook to its end.
    pub(super) fn hook(&self, event: &str) -> Run {
        self.hook_with(&[], event)
    }

    pub(super) fn hook_with(&self, args: &[&str], event: &str) -> Run {
        let output = self.start(args, event).wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let Output { status, stdout, stderr } = output;
        // Ended by a signal, it has no code, unlike any answer.
        Run { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Starts the hook, and sends it the event.
    pub(super) fn start(&self, args: &[&str], event: &str) -> Child {
        let mut command = omen(self.folder, &["hook", "run", "--agent", self.agent, "--resident", self.resident]);
        let command = command.args(args).env("COPILOT_CLI_BINARY_VERSION", "1.0.102");
        let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The hook may have read as much as it wants.
        let _ = std::io::Write::write_all(&mut hook.stdin.take().unwrap(), event.as_bytes());
        hook
    }
}

fn omen(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omen"));
    command.current_dir(folder).args(args);
    command
}

/// Process of `omen hook serve`, which ends with this.
pub(super) struct Resident {
    child: Child,
    folder: PathBuf,
}

impl Resident {
    /// Starts it with more arguments and a variable, and waits until it listens.
    pub(super) fn start(folder: &Path, args: &[&str], variable: (&str, &str)) -> Self {
        let mut command = omen(folder, &["hook", "serve"]);
        let child = command.args(args).env(variable.0, variable.1).stderr(Stdio::null()).spawn().unwrap();
        let resident = Self { child, folder: folder.to_owned() };
        until("the resident listens", || UnixStream::connect(socket(folder)).is_ok());
        resident
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for its end by itself, after which its socket is gone.
    pub(super) fn wait(&mut self) -> i32 {
        let mut code = None;
        until("the resident has ended", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        assert!(!socket(&self.folder).exists());
        code.unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Socket of the resident of a folder.
pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join(".omen-gate/confirm.hook.sock")
}

pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
