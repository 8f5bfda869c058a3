//! `omen gate confirm`: people and programs answer the questions of a gate, which is this test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use omen_gate::confirm::{ConfirmLimits, Confirmations};
use omen_gate::{Blocked, Call, Decision, Demand, Outcome, Permission, Permissions, SystemClock, ToolId};
use omen_proxy::confirm::SocketConfirmer;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::*;

/// A gate that asks for confirmations.
struct Asking {
    folder: TempDir,
    confirmations: Confirmations,
    runtime: Runtime,
}

impl Asking {
    fn new() -> Self {
        Self::within(home())
    }

    /// Starts a gate in a folder.
    fn within(folder: TempDir) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let confirmer = {
            let _runtime = runtime.enter();
            SocketConfirmer::bind(&folder.path().join("run/confirm.sock")).unwrap()
        };
        let limits = ConfirmLimits { timeout: AT_ONCE, valid: AT_ONCE };
        let confirmations = Confirmations::new(Arc::new(confirmer), Arc::new(SystemClock::default()), limits);
        Self { folder, confirmations, runtime }
    }

    /// Asks for the confirmation of a call.
    fn ask(&self, args: Value) -> JoinHandle<Decision> {
        let tool = ToolId { server: "files".parse().unwrap(), tool: "write_file".parse().unwrap() };
        let permissions = Permissions::new([Permission::Read, Permission::Write]).unwrap();
        let demand = Demand { tool, permissions, always_confirm: false };
        let call = Call::new("turn_1".parse().unwrap(), demand, args.as_object().unwrap().clone()).unwrap();
        let confirmations = self.confirmations.clone();
        self.runtime.spawn(async move {
            let ruling = confirmations.ask(&call).await;
            let decision = ruling.decision().clone();
            let _ = ruling.recorded(|_| Ok::<_, Blocked>(()));
            decision
        })
    }

    fn decided(&self, asked: JoinHandle<Decision>) -> Decision {
        self.runtime.block_on(async { tokio::time::timeout(AT_ONCE, asked).await.expect("in time").unwrap() })
    }

    /// Waits until a number of questions are pending.
    fn until_waiting(&self, count: usize) -> Run {
        loop {
            let run = gate(&self.folder, &["confirm", "--list", "--json"]);
            if run.stdout.lines().count() == count {
                return run;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn start(&self, args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
        start(&self.folder, args, stdin, stdout)
    }

    /// Ends the gate.
    fn end(self) -> TempDir {
        let Self { folder, confirmations, runtime } = self;
        drop(confirmations);
        // When this returns, all its tasks have ended, and its socket is gone.
        runtime.shutdown_timeout(AT_ONCE);
        folder
    }

    /// Runs the command, and answers at the prompt.
    fn answered_at_prompt(&self, answer: &str) -> Run {
        let mut child = self.start(&[], Stdio::piped(), Stdio::piped());
        let lines = lines_of(child.stdout.take().unwrap());
        let mut stdout = until(&lines, "[y/n] ");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(answer.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        lines.iter().for_each(|text| stdout.push_str(&text));
        let stderr = String::from_utf8(output.stderr).unwrap();
        Run { code: output.status.code().unwrap(), stdout, stderr }
    }

    /// Runs the command with lines on standard input that were written before anything is shown.
    fn answered_with(&self, args: &[&str], input: &str) -> Run {
        run(omen(["gate", "confirm"].into_iter().chain(args.iter().copied()))
            .current_dir(&self.folder)
            .timeout(AT_ONCE)
            .write_stdin(input.to_owned()))
    }
}

/// Returns the folder of a configuration.
fn home() -> TempDir {
    folder(&[("gate.toml", b"[confirm]\nsocket = 'run/confirm.sock'\n")])
}

fn start(folder: &TempDir, args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["gate", "confirm"]).args(args).current_dir(folder);
    command.stdin(stdin).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
}

fn write_to(path: &str) -> Value {
    json!({"path": path, "text": "two\nlines"})
}

#[test]
fn what_waits_is_listed_with_its_exact_arguments() {
    let asking = Asking::new();
    let none = gate(&asking.folder, &["confirm", "--list"]);
    assert_eq!((none.code, none.stdout.as_str(), none.stderr.as_str()), (0, "no call is waiting\n", ""));

    let asked = asking.ask(json!({"path": "a\u{202e}txt", "\u{1b}[2J": 1, "size": 1e3}));
    let json: Value = serde_json::from_str(&asking.until_waiting(1).stdout).unwrap();
    assert_eq!((&json["type"], &json["id"], &json["server"]), (&json!("question"), &json!(1), &json!("files")));
    let list = gate(&asking.folder, &["confirm", "--list"]);
    assert!(!list.stdout.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{:?}", list.stdout);
    let lines: Vec<_> = list.stdout.lines().collect();
    assert!(
        lines[0].starts_with("call 1: files/write_file (READ, WRITE), ")
            && lines[0].ends_with(" s left until it is denied")
    );
    assert_eq!(lines[1..4], ["  \u{241b}[2J: 1", r#"  path: "a\u{202e}txt""#, "  size: 1000"]);
    assert_eq!(lines[4], format!("  turn turn_1, call hash {}", json["hash"].as_str().unwrap()));
    assert_eq!(lines.len(), 5);
    assert!(!asked.is_finished(), "a list answers nothing");
    asked.abort();
}

#[test]
fn a_line_answers_a_call_and_the_decision_names_the_user() {
    let asking = Asking::new();
    for (line, outcome, why) in [
        ("y\n", Outcome::Allowed, None),
        ("YES\n", Outcome::Allowed, None),
        ("n\n", Outcome::Denied, Some("denied")),
        ("n wrong folder\n", Outcome::Denied, Some("wrong folder")),
        ("maybe\n\nno", Outcome::Denied, Some("denied")),
    ] {
        let asked = asking.ask(write_to("a.txt"));
        asking.until_waiting(1);
        let run = asking.answered_at_prompt(line);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{line}: {}", run.stdout);
        assert!(run.stdout.contains("\n  path: \"a.txt\"\n  text: \"two\\nlines\"\n"), "{}", run.stdout);
        let decision = asking.decided(asked);
        assert_eq!(decision.outcome, outcome, "{line}");
        let echo = if outcome == Outcome::Allowed { " is confirmed\n" } else { " is denied\n" };
        assert!(run.stdout.ends_with(echo) && run.stdout.contains("\nconfirm it? [y/n] "), "{}", run.stdout);
        assert!(why.is_none_or(|why| decision.why.as_ref().unwrap().ends_with(why)), "{decision:?}");
        let by = decision.by.unwrap();
        assert_eq!((by.via.as_str(), by.uid), ("socket", Some(rustix::process::geteuid().as_raw())));
    }
}

#[test]
fn what_is_neither_yes_nor_no_answers_nothing() {
    let asking = Asking::new();
    let asked = asking.ask(write_to("a.txt"));
    asking.until_waiting(1);
    for line in ["", "ok\n", "yy\n", "1\n", "y 2\n", "y please\n", "{\"confirm\":true}\n"] {
        let run = asking.answered_at_prompt(line);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        assert!(!asked.is_finished(), "{line}");
    }
    let run = asking.answered_at_prompt("y 1\n");
    assert_eq!(run.code, 0);
    assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);
}

/// A `y` that was written before a call is shown does not confirm it.
#[test]
fn what_was_written_before_a_call_was_shown_confirms_nothing() {
    let asking = Asking::new();
    let asked = asking.ask(write_to("a.txt"));
    let question: Value = serde_json::from_str(&asking.until_waiting(1).stdout).unwrap();
    let hash = &question["hash"].as_str().unwrap()[..12];
    for input in ["y\n", "yes", "y 1\n", "Y\ny\ny\n", "ok\ny\n", &"y\n".repeat(100_000)] {
        let run = asking.answered_with(&[], input);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!asked.is_finished(), "{}", run.stdout);
        assert!(run.stdout.contains("a.txt"), "the call is shown all the same: {}", run.stdout);
    }
    // An endless input answers nothing, either.
    let mut child = asking.start(&[], Stdio::piped(), Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let lines = lines_of(child.stdout.take().unwrap());
    let ahead = std::thread::spawn(move || while stdin.write_all(&b"y\n".repeat(100)).is_ok() {});
    until(&lines, &format!("[y {hash}/n] "));
    until(&lines, "this confirms nothing");
    assert!(!asked.is_finished());
    child.kill().unwrap();
    drop(lines);
    child.wait().unwrap();
    ahead.join().unwrap();

    // Before a gate exists, and then with the hash of the call, which is unknown before.
    let folder = asking.end();
    let mut child = start(&folder, &["--wait"], Stdio::piped(), Stdio::piped());
    let notes = lines_of(child.stderr.take().unwrap());
    until(&notes, "yet; waiting for one\n");
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "y").unwrap();
    let lines = lines_of(child.stdout.take().unwrap());
    let asking = Asking::within(folder);
    let asked = asking.ask(write_to("a.txt"));
    until(&lines, "confirm it? ");
    assert!(!asked.is_finished());
    writeln!(stdin, "y {hash}").unwrap();
    drop(stdin);
    assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn several_calls_are_answered_in_their_order() {
    let asking = Asking::new();
    let one = asking.ask(write_to("a.txt"));
    asking.until_waiting(1);
    let two = asking.ask(write_to("b.txt"));
    asking.until_waiting(2);
    let mut child = asking.start(&[], Stdio::piped(), Stdio::piped());
    let (lines, mut stdin) = (lines_of(child.stdout.take().unwrap()), child.stdin.take().unwrap());
    assert!(until(&lines, "[y/n] ").contains("a.txt"));
    writeln!(stdin, "y").unwrap();
    assert!(until(&lines, "[y/n] ").contains("b.txt"));
    writeln!(stdin, "n").unwrap();
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!((asking.decided(one).outcome, asking.decided(two).outcome), (Outcome::Allowed, Outcome::Denied));
}

/// Returns the lines that a process prints, as far as they are complete or a prompt.
fn lines_of(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        loop {
            let mut text = String::new();
            // A terminal that is no longer open gives an error.
            let Ok(bytes) = reader.fill_buf() else { return };
            if bytes.is_empty() {
                return;
            }
            let count = bytes.len();
            text.push_str(&String::from_utf8_lossy(bytes));
            reader.consume(count);
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads until a text has been printed.
fn until(lines: &Receiver<String>, what: &str) -> String {
    let mut all = String::new();
    while !all.contains(what) {
        match lines.recv_timeout(AT_ONCE) {
            Ok(text) => all.push_str(&text),
            Err(_) => panic!("no {what:?} in {all:?}"),
        }
    }
    all
}

#[test]
fn an_answer_is_not_for_a_call_that_was_not_read() {
    let asking = Asking::new();
    let one = asking.ask(write_to("a.txt"));
    asking.until_waiting(1);
    let two = asking.ask(write_to("b.txt"));
    asking.until_waiting(2);
    let mut child = asking.start(&[], Stdio::piped(), Stdio::piped());
    let mut stdin: ChildStdin = child.stdin.take().unwrap();
    let lines = lines_of(child.stdout.take().unwrap());
    until(&lines, "[y/n] ");
    // The first call is aborted, and the answer to it comes too late.
    one.abort();
    let next = until(&lines, "[y 2/n 2] ");
    assert!(next.contains("call 1 has ended\n") && next.contains("b.txt"), "{next}");
    writeln!(stdin, "y").unwrap();
    until(&lines, "this is call 2: answer with its number\n");
    assert!(!two.is_finished());
    writeln!(stdin, "y 2").unwrap();
    assert_eq!(asking.decided(two).outcome, Outcome::Allowed);
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

/// Returns a terminal: the end of its user, and a function that opens the other end.
#[cfg(target_os = "linux")]
pub(crate) fn terminal() -> (fs::File, impl Fn() -> fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (fs::File::from(master), move || fs::File::options().read(true).write(true).open(&name).unwrap())
}

/// A terminal for confirmations can stay open across sessions of a client.
#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_it_waits_for_one_gate_after_the_other() {
    let mut folder = home();
    let (mut keyboard, terminal) = terminal();
    let mut child = start(&folder, &[], terminal().into(), terminal().into());
    let screen = lines_of(keyboard.try_clone().unwrap());
    let notes = lines_of(child.stderr.take().unwrap());
    for round in 1..=2 {
        until(&notes, "yet; waiting for one\n");
        // No question is pending, so this answers nothing, then or later.
        keyboard.write_all(b"y\n").unwrap();
        until(&screen, "no call is waiting");
        let asking = Asking::within(folder);
        until(&screen, "no call is waiting; calls are shown here as they arrive");
        let asked = asking.ask(write_to("a.txt"));
        until(&screen, "confirm it? [y/n] ");
        assert!(!asked.is_finished(), "round {round}");
        keyboard.write_all(b"y\n").unwrap();
        until(&screen, "call 1 is confirmed");
        assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);
        // The gate ends while a call is on the screen, which ends with it.
        let _open = asking.ask(write_to("b.txt"));
        until(&screen, "b.txt");
        folder = asking.end();
    }
    let said = until(&notes, "yet; waiting for one\n");
    assert!(said.starts_with("omen: note: the gate has stopped\n"), "{said}");
    let asking = Asking::within(folder);
    let asked = asking.ask(write_to("c.txt"));
    until(&screen, "confirm it? [y 1/n 1] ");
    keyboard.write_all(b"y\n").unwrap();
    until(&screen, "this is call 1: answer with its number");
    assert!(!asked.is_finished(), "the answer may be for the call that is gone");
    keyboard.write_all(b"n 1\n").unwrap();
    until(&screen, "call 1 is denied");
    assert_eq!(asking.decided(asked).outcome, Outcome::Denied);
    keyboard.write_all(b"\x04").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// `--wait` for scripts: the first answer is for the first call of the next gate.
#[test]
fn a_script_waits_for_a_gate_if_it_is_told_to() {
    let folder = home();
    let mut child = start(&folder, &["--wait"], Stdio::piped(), Stdio::piped());
    let notes = lines_of(child.stderr.take().unwrap());
    until(&notes, "yet; waiting for one\n");
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "n not today").unwrap();
    drop(stdin);
    let asking = Asking::within(folder);
    let asked = asking.ask(write_to("a.txt"));
    assert!(asking.decided(asked).why.unwrap().ends_with("not today"));
    assert_eq!(child.wait().unwrap().code(), Some(0));

    // In JSON, across two gates.
    let folder = asking.end();
    let mut child = start(&folder, &["--wait", "--json"], Stdio::piped(), Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let notes = lines_of(child.stderr.take().unwrap());
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut folder = folder;
    for _ in 0..2 {
        until(&notes, "yet; waiting for one\n");
        writeln!(stdin, "{{}}").unwrap();
        until(&notes, "omen: no gate is listening, so the answer is dropped\n");
        let asking = Asking::within(folder);
        let asked = asking.ask(write_to("a.txt"));
        let mut next = || serde_json::from_str::<Value>(&stdout.next().unwrap().unwrap()).unwrap();
        let question = std::iter::repeat_with(&mut next).find(|line| line["type"] == "question").unwrap();
        let answer = json!({"type": "answer", "id": question["id"], "hash": question["hash"], "confirm": true});
        writeln!(stdin, "{answer}").unwrap();
        assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);
        while next()["type"] != "accepted" {}
        folder = asking.end();
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(gate(&folder, &["confirm", "--wait", "--list"]).code, 2);
}

/// A real terminal: text that is typed before a question does not answer it.
#[test]
#[cfg(target_os = "linux")]
fn a_person_answers_at_a_terminal() {
    let asking = Asking::new();
    let (keyboard, terminal) = terminal();
    let mut child = asking.start(&[], terminal().into(), terminal().into());
    let mut keyboard = keyboard;
    let screen = lines_of(keyboard.try_clone().unwrap());

    until(&screen, "no call is waiting; calls are shown here as they arrive");
    keyboard.write_all(b"y\n").unwrap();
    until(&screen, "no call is waiting");
    let asked = asking.ask(write_to("a.txt"));
    until(&screen, "confirm it? [y/n] ");
    assert!(!asked.is_finished());
    keyboard.write_all(b"y\n").unwrap();
    assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);

    let denied = asking.ask(write_to("b.txt"));
    until(&screen, "confirm it? [y/n] ");
    keyboard.write_all(b"n not there\n").unwrap();
    assert!(asking.decided(denied).why.unwrap().ends_with("not there"));
    // Ctrl+D.
    keyboard.write_all(b"\x04").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn programs_read_and_write_lines_of_json() {
    let asking = Asking::new();
    let asked = asking.ask(write_to("a.txt"));
    asking.until_waiting(1);
    let mut child = asking.start(&["--json"], Stdio::piped(), Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&stdout.next().unwrap().unwrap()).unwrap();
    let question = next();
    assert_eq!(question["args"], r#"{"path":"a.txt","text":"two\nlines"}"#);
    assert_eq!(next(), json!({"type": "listed"}));
    writeln!(stdin, "nonsense").unwrap();
    assert_eq!(next()["type"], "refused");
    let answer = json!({"type": "answer", "id": question["id"], "hash": question["hash"], "confirm": true});
    writeln!(stdin, "{answer}").unwrap();
    drop(stdin);
    while next()["type"] != "accepted" {}
    assert_eq!(asking.decided(asked).outcome, Outcome::Allowed);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn without_a_gate_there_is_nothing_to_answer() {
    let folder = folder(&[("gate.toml", b"")]);
    let run = gate(&folder, &["confirm"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    let socket = folder.path().join(".omen-gate/confirm.sock");
    assert!(
        run.stderr.starts_with(&format!("omen: no gate is listening at `{}`: ", socket.display())),
        "{}",
        run.stderr
    );

    // The gate ends while the command waits for a question.
    let asking = Asking::new();
    let child = asking.start(&["--socket", "run/confirm.sock"], Stdio::piped(), Stdio::piped());
    let mut child = child;
    let lines = lines_of(child.stdout.take().unwrap());
    until(&lines, "no call is waiting");
    let _folder = asking.end();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "omen: note: the gate has stopped\n");
    for args in [&["confirm", "--socket", "x", "--config", "y"][..], &["confirm", "more"]] {
        assert_eq!(gate(&_folder, args).code, 2, "{args:?}");
    }
}
