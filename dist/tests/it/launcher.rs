//! The launcher of the package for npm ends as the command does, and passes signals on.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use omen_testkit::Need;
use tempfile::TempDir;

use super::*;

/// Node, if it is installed, and a folder with both packages, whose command is a script.
struct World(TempDir);

impl World {
    fn new(script: &str) -> Option<Self> {
        if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_err() {
            Need::Node.skip("`node` is not installed, so the launcher is not tried");
            return None;
        }
        let world = Self(tempfile::tempdir().unwrap());
        let content = content(script);
        let (os, cpu) = content.system.platform.node;
        for (end, name) in
            [("omen-cli-1.2.3.tgz", "omen-cli".to_owned()), ("64-1.2.3.tgz", format!("omen-cli-{os}-{cpu}"))]
        {
            for (_, entry) in untar(&packed(&content, end)) {
                let path = world.package(&name).join(entry.path.strip_prefix("package/").unwrap());
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, entry.bytes).unwrap();
                let mode = if entry.is_executable { 0o755 } else { 0o644 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        Some(world)
    }

    fn package(&self, name: &str) -> PathBuf {
        self.0.path().join("node_modules").join(name)
    }

    fn launcher(&self) -> PathBuf {
        self.package("omen-cli").join("omen.js")
    }

    /// The launcher, in a session without a terminal, also where the tests have one.
    fn command(&self) -> Command {
        let mut command = Command::new("setsid");
        command.arg("node").arg(self.launcher()).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Waits until a file exists and has a text.
fn wait_for(path: &Path, text: &str) {
    let begun = Instant::now();
    while !fs::read_to_string(path).is_ok_and(|content| content.contains(text)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} does not have `{text}`", path.display());
        thread::sleep(Duration::from_millis(10));
    }
}

fn kill(child: &Child, signal: &str) {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn it_ends_as_the_command_does() {
    let Some(world) = World::new("printf '%s|' \"$@\"; cat; test \"$1\" != kill || kill -s KILL $$; exit $1") else {
        return;
    };
    for code in ["0", "1", "3"] {
        let output = world.command().args([code, "a b", "--c"]).output().unwrap();
        assert_eq!(output.status.code().map(|code| code.to_string()).as_deref(), Some(code));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{code}|a b|--c|"));
    }
    assert_eq!(world.command().arg("kill").output().unwrap().status.signal(), Some(9));
}

/// Each script ends by itself: where a signal is lost, the test fails, and does not hang.
#[test]
fn signals_reach_the_command() {
    let script = "trap 'echo INT >> said; exit 5' INT; trap 'echo TERM >> said; exit 6' TERM; echo begun >> said
        for _ in $(seq 400); do sleep 0.05; done";
    let Some(world) = World::new(script) else { return };
    for (signal, code) in [("INT", 5), ("TERM", 6)] {
        let mut child = world.command().spawn().unwrap();
        wait_for(&world.file("said"), "begun");
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!(fs::read_to_string(world.file("said")).unwrap(), format!("begun\n{signal}\n"));
        fs::remove_file(world.file("said")).unwrap();
    }
    // A command without a handler dies of the signal, and so does the launcher.
    let Some(world) = World::new("echo begun >> said; exec sleep 20") else { return };
    let mut child = world.command().spawn().unwrap();
    wait_for(&world.file("said"), "begun");
    kill(&child, "TERM");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

/// The terminal itself sends the signal to the command: a second one would end `omen check --follow` before its summary.
#[test]
fn ctrl_c_reaches_the_command_once() {
    let script = "trap 'echo INT >> said' INT; echo begun >> said
        for _ in $(seq 400); do grep -q INT said && break; sleep 0.05; done; sleep 1; exit 7";
    let Some(world) = World::new(script) else { return };
    let mut terminal = Command::new("script");
    // Without `exec`, a shell that waits for it would end by the signal, too.
    terminal.args(["-qec", &format!("exec node {}", world.launcher().display()), "/dev/null"]).current_dir(&world.0);
    let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    wait_for(&world.file("said"), "begun");
    keyboard.write_all(b"\x03").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(fs::read_to_string(world.file("said")).unwrap(), "begun\nINT\n");
}

#[test]
fn a_missing_binary_is_explained() {
    let Some(world) = World::new("exit 0") else { return };
    let (os, cpu) = content("").system.platform.node;
    let own = format!("omen-cli-{os}-{cpu}");
    fs::remove_dir_all(world.package(&own)).unwrap();
    let said = |world: &World| {
        let output = world.command().output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said(&world), format!("omen: the package {own} is missing; reinstall without --omit=optional\n"));
    // A platform for which there is none.
    let manifest = world.package("omen-cli").join("package.json");
    let text = fs::read_to_string(&manifest).unwrap().replace(&own, "omen-cli-other");
    fs::write(manifest, text).unwrap();
    let text = said(&world);
    assert!(text.starts_with(&format!("omen: no binary for {os}-{cpu}; available packages: ")), "{text}");
    // A binary that cannot be started.
    let Some(world) = World::new("exit 0") else { return };
    fs::write(world.package(&own).join("omen"), "").unwrap();
    fs::set_permissions(world.package(&own).join("omen"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(said(&world).starts_with("omen: cannot start the command: "));
}
