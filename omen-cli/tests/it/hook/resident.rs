//! `omen hook serve`: gives the answers that a hook gives by itself, or none.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use super::fake_agent::{FakeAgent, Resident, socket, until};
use super::*;

const NO_VARIABLE: (&str, &str) = ("OMEN_TEST_NOTHING", "");

fn agent<'f>(folder: &'f Path, resident: &'f str) -> FakeAgent<'f> {
    FakeAgent { agent: "claude-code", folder, session: "s1".to_owned(), resident }
}

/// Replaces a text of the configuration.
fn configure(folder: &Path, from: &str, to: &str) {
    let config = std::fs::read_to_string(folder.join("gate.toml")).unwrap();
    assert!(config.contains(from), "{config}");
    write(folder, "gate.toml", config.replace(from, to).as_bytes());
}

/// Has only a process with the key in a variable decide: the resident, and no hook.
fn decided_by_resident(folder: &Path) -> Resident {
    configure(folder, "key_file = 'audit.key'", "key_env = 'OMEN_TEST_KEY'");
    let key = std::fs::read_to_string(folder.join("audit.key")).unwrap();
    Resident::start(folder, &[], ("OMEN_TEST_KEY", key.trim()))
}

/// Replays a session of an agent that ignores denials and sends events that are none, and returns the answers.
fn replay(agent: &FakeAgent<'_>) -> Vec<(i32, String, String)> {
    let good = agent.event(false, "t9", "git status").to_string();
    let mut runs = vec![
        agent.before("t1", "git status"),
        agent.after("t1", "git status"),
        agent.before("t2", "rm -rf /"),
        agent.after("t2", "rm -rf /"),
        agent.before("t3", "ls"),
        // Once more, and never reported.
        agent.before("t3", "ls"),
        agent.after("t4", "git log"),
    ];
    for event in [
        String::new(),
        "{".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replacen('{', "{\"cwd\":\"/\",", 1),
        good.replace("Tool", "T\u{0}ol").replace("tool.execute", "tool.run"),
        format!("{{\"a\":\"{}\"}}", "x".repeat(17 << 20)),
        "[".repeat(100_000),
    ] {
        runs.push(agent.hook(&event));
    }
    runs.push(agent.before("t5", "git status"));
    let folder = agent.folder.to_string_lossy().into_owned();
    let plain = |text: String| text.replace(&folder, "FOLDER");
    runs.into_iter().map(|run| (run.code, plain(run.stdout), plain(run.stderr))).collect()
}

#[test]
fn a_resident_gives_the_answers_of_a_hook_alone() {
    for agent in Dialect::agents() {
        let (alone, served) = (governed(agent), governed(agent));
        let resident = decided_by_resident(served.path());
        let of = |folder, resident| FakeAgent { agent, folder, session: "s1".to_owned(), resident };
        let expected = replay(&of(alone.path(), "off"));
        assert_eq!(replay(&of(served.path(), "use")), expected, "{agent}");
        assert_eq!(kinds(served.path()), kinds(alone.path()), "{agent}");
        for folder in [&alone, &served] {
            // What ran in spite of the gate.
            let found = verify(folder.path());
            assert_eq!(found.code, 1, "{agent}: {}", found.stdout);
            assert!(found.stdout.contains("although it was denied"), "{agent}: {}", found.stdout);
        }
        // The hook cannot decide there by itself.
        drop(resident);
        let alone = of(served.path(), "use").before("t6", "git status");
        assert!(!is_allowed(&alone), "{agent}: {}", alone.stdout);
    }
}

#[test]
fn another_configuration_is_in_force_at_once() {
    let folder = governed("claude-code");
    let path = folder.path();
    let mut resident = decided_by_resident(path);
    let agent = agent(path, "use");
    assert!(is_allowed(&agent.before("t1", "ls")));
    configure(path, "[\"git\", \"ls\"]", "[\"git\"]");
    assert!(agent.before("t2", "ls").stdout.contains("run only `git`"));
    assert!(is_allowed(&agent.before("t3", "git status")));
    // The hook says itself what is wrong.
    configure(path, "[audit]", "[audits]");
    let denied = agent.before("t4", "git status");
    assert!(denied.code == 2 && denied.stderr.contains("gate.toml:"), "{}", denied.stderr);
    configure(path, "[audits]", "[audit]");
    assert!(is_allowed(&agent.before("t5", "git status")));
    end_by_version(path);
    assert_eq!(resident.wait(), 0);
}

/// Asks a resident as a hook of another version does, after which it ends.
fn end_by_version(folder: &Path) {
    let policy = json!({"version": "0.0.0", "config": folder.join("gate.toml"), "hash": ""});
    let scope = json!({"agent": "codex", "root": null, "catalog": null, "episodes": false});
    let request = json!({"policy": policy, "scope": scope, "variable": null, "millis_left": 1000}).to_string();
    let mut stream = UnixStream::connect(socket(folder)).unwrap();
    stream.write_all(&[&u32::try_from(request.len()).unwrap().to_be_bytes(), request.as_bytes()].concat()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.ends_with("false"), "{reply}");
}

#[test]
fn there_is_one_resident() {
    let folder = governed("claude-code");
    let _resident = Resident::start(folder.path(), &[], NO_VARIABLE);
    let second = run(omen(["hook", "serve"]).current_dir(folder.path()));
    assert_eq!(second.code, 3);
    assert!(second.stderr.contains("is in use by another"), "{}", second.stderr);
    let none = run(omen(["hook", "serve", "--config", "absent.toml"]).current_dir(folder.path()));
    assert_eq!(none.code, 3);
    assert!(none.stderr.contains("absent.toml"), "{}", none.stderr);
}

#[test]
fn the_socket_belongs_to_its_user_and_a_dead_one_is_replaced() {
    let folder = governed("claude-code");
    let path = folder.path();
    let mut resident = Resident::start(path, &[], NO_VARIABLE);
    let mode = |file: &Path| file.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket(path)), mode(&path.join(".omen-gate"))), (0o600, 0o700));
    let denied = agent(path, "use").before("t1", "ls .omen-gate/confirm.hook.sock");
    assert!(denied.stdout.contains("belongs to the gate"), "{}", denied.stdout);
    resident.kill();
    assert!(socket(path).exists());
    assert!(is_allowed(&agent(path, "use").before("t2", "ls")));
    let mut next = Resident::start(path, &[], NO_VARIABLE);
    next.terminate();
    assert_eq!(next.wait(), 0);
}

#[test]
fn a_call_that_waits_when_the_resident_is_terminated_is_denied_once() {
    let folder = governed("claude-code");
    let path = folder.path();
    configure(path, "pre_granted = true\n", "");
    let mut resident = Resident::start(path, &[], NO_VARIABLE);
    let agent = agent(path, "use");
    let event = agent.event(false, "t1", "git status").to_string();
    let waiting = agent.start(&[], &event);
    until("the call waits", || path.join(".omen-gate/confirm.sock").exists());
    resident.terminate();
    assert_eq!(resident.wait(), 0);
    let denied = waiting.wait_with_output().unwrap();
    assert_eq!(denied.status.code(), Some(2));
    let why = String::from_utf8(denied.stderr).unwrap();
    assert!(why.contains("may have recorded a decision"), "{why}");
    assert!(!kinds(path).contains(&"intent".to_owned()));
    assert_eq!(verify(path).code, 0);
}

/// Speaks for a resident: says whether it answers, reads the event, and writes some bytes.
fn pretend(folder: &Path, hello: &'static [u8], answer: &'static [u8]) -> std::thread::JoinHandle<()> {
    std::fs::create_dir_all(folder.join(".omen-gate")).unwrap();
    let _ = std::fs::remove_file(socket(folder));
    let listener = UnixListener::bind(socket(folder)).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for reply in [hello, answer] {
            let mut length = [0; 4];
            if stream.read_exact(&mut length).is_err() {
                return;
            }
            let mut frame = vec![0; u32::from_be_bytes(length) as usize];
            stream.read_exact(&mut frame).unwrap();
            stream.write_all(reply).unwrap();
        }
    })
}

#[test]
fn a_hook_decides_by_itself_only_before_the_resident_has_the_event() {
    let folder = governed("claude-code");
    let path = folder.path();
    let hook = |hello, answer| {
        let resident = pretend(path, hello, answer);
        let run = agent(path, "use").before("t1", "ls");
        resident.join().unwrap();
        run
    };
    for (answer, what) in [
        (b"".as_slice(), "no answer"),
        (b"\0\0\0\x02{", "cut"),
        (b"\0\0\0\x02{}", "no verdict"),
        (b"\xff\xff\xff\xff", "long"),
    ] {
        let denied = hook(b"\0\0\0\x04true", answer);
        assert_eq!((denied.code, denied.stdout.as_str()), (2, ""), "{what}");
        assert!(denied.stderr.contains("`omen hook serve` has failed"), "{what}: {}", denied.stderr);
        assert_eq!(kinds(path), [""; 0], "{what}");
    }
    for hello in [b"\0\0\0\x05false".as_slice(), b"\0\0\0\x03yes", b"HTTP/1.1 200 OK\r\n", b""] {
        assert!(is_allowed(&hook(hello, b"")), "{hello:?}");
    }
}

#[test]
fn what_is_no_request_ends_its_connection_alone() {
    let folder = governed("claude-code");
    let resident = decided_by_resident(folder.path());
    for bytes in [b"".as_slice(), b"\0", b"\0\0\0\x02{}", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", &[0; 100_000]]
    {
        let mut stream = UnixStream::connect(socket(folder.path())).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0, "{bytes:?}");
    }
    // Connections that say nothing do not keep others from their answer.
    let silent: Vec<_> = (0..40).map(|_| UnixStream::connect(socket(folder.path())).unwrap()).collect();
    let allowed = agent(folder.path(), "use").before("t1", "ls");
    assert!(is_allowed(&allowed), "{}", allowed.stderr);
    drop((silent, resident));
}

#[test]
fn a_log_that_stays_in_use_is_a_denial_in_time_and_no_decision_afterwards() {
    let folder = governed("claude-code");
    let path = folder.path();
    let resident = decided_by_resident(path);
    assert!(is_allowed(&agent(path, "use").before("t1", "ls")));
    let log = std::fs::File::open(path.join("audit.jsonl")).unwrap();
    log.lock().unwrap();
    let event = agent(path, "use").event(false, "t2", "git status").to_string();
    let denied = agent(path, "use").hook_with(&["--timeout", "1"], &event);
    assert_eq!((denied.code, denied.stdout.as_str()), (2, ""));
    log.unlock().unwrap();
    assert!(is_allowed(&agent(path, "use").before("t3", "git log")));
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 2);
    drop(resident);
}

#[test]
fn sessions_with_and_without_a_resident_share_log_and_limits() {
    let folder = governed("claude-code");
    let path = folder.path();
    configure(
        path,
        "tool = 'Bash'\npermissions = ['EXECUTE']\npin",
        "tool = 'Bash'\nmax = '7/day'\npermissions = ['EXECUTE']\npin",
    );
    let resident = Resident::start(path, &[], NO_VARIABLE);
    let allowed: usize = std::thread::scope(|scope| {
        let sessions = ["use", "off", "use", "off"].into_iter().enumerate().map(|(number, resident)| {
            let agent = FakeAgent { session: format!("s{number}"), ..agent(path, resident) };
            scope.spawn(move || {
                let call = |id: &usize| {
                    let (id, command) = (format!("{number}.{id}"), format!("git log -n {number}{id}"));
                    let is_allowed = is_allowed(&agent.before(&id, &command));
                    assert!(!is_allowed || agent.after(&id, &command).code == 0);
                    is_allowed
                };
                (0..4).filter(call).count()
            })
        });
        let sessions: Vec<_> = sessions.collect();
        sessions.into_iter().map(|session| session.join().unwrap()).sum()
    });
    assert_eq!(allowed, 7);
    let count = |kind: &str| kinds(path).iter().filter(|found| *found == kind).count();
    assert_eq!((count("intent"), count("outcome")), (7, 7));
    assert_eq!(verify(path).code, 0);
    drop(resident);
}

#[test]
fn the_first_event_starts_a_resident_for_the_next_ones() {
    let folder = governed("claude-code");
    let path = folder.path();
    assert!(is_allowed(&agent(path, "use").before("t1", "ls")));
    assert!(!socket(path).exists());
    assert!(is_allowed(&agent(path, "start").before("t2", "ls")));
    until("a resident listens", || UnixStream::connect(socket(path)).is_ok());
    end_by_version(path);
    until("it has ended", || !socket(path).exists());
    let mut command = omen(["hook", "run", "--agent", "claude-code"]);
    let event = claude(path, "PreToolUse", "t4", "ls").to_string();
    let denied = run(command.env("OMEN_HOOK_RESIDENT", "never").current_dir(path).write_stdin(event));
    assert_eq!(denied.code, 2);
    assert!(denied.stderr.contains("invalid value `never` of `OMEN_HOOK_RESIDENT`"), "{}", denied.stderr);
}
