//! Audit log of a gate. The log itself is tested in `omen-audit`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use omen_gate::audit::{Audit, AuditError, Key, Options};
use omen_gate::{Blocked, Config, Gate, GateCode, SystemClock, regular_file};
use tempfile::TempDir;

const FOLDER: &str = "OMEN_GATE_TEST_CHILD_FOLDER";
const KEY: &str = "OMEN_GATE_TEST_CHILD_KEY";
const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Actions that cannot be recorded do not happen.
#[test]
fn an_error_is_a_refusal_by_a1() {
    let blocked = Blocked::from(AuditError::Broken);
    assert_eq!(blocked.code, GateCode::A1);
    assert!(blocked.message.contains("could not be written") && blocked.help.contains("open the log again"));
}

/// No tool server receives the key: neither in its environment nor as an open file (A3). A program with the key in its
/// environment, and log, head record and key file open, starts the servers of its configuration. The server writes down
/// what it received.
fn start(folder: &Path) {
    let (log, key_file, seen) = (folder.join("audit.jsonl"), folder.join("audit.key"), folder.join("seen"));
    let config = Config::parse(&format!(
        "[servers.spy]\ncommand = '/bin/sh'\npass_env = ['{FOLDER}']\n\
         args = ['-c', 'env > \"$0.env\"; ls -l /proc/self/fd > \"$0.files\"', '{}']\n\
         [audit]\nlog = '{}'\nkey_env = '{KEY}'\n",
        seen.display(),
        log.display(),
    ))
    .unwrap();
    let audit =
        Audit::open(&log, Key::from_env(KEY).unwrap(), Arc::new(SystemClock::default()), Options::default()).unwrap();
    let open = regular_file::open(&key_file).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The server writes, and speaks no protocol.
    runtime.block_on(async { assert!(Gate::builder(config).start_servers().await.is_err()) });
    drop((audit, open));
}

#[test]
fn a_server_is_not_given_the_key() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return start(Path::new(&folder));
    }
    let folder = TempDir::new().unwrap();
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "audit::a_server_is_not_given_the_key", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .env(KEY, DIGITS)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());

    let seen = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let env = seen("seen.env");
    assert!(env.contains(FOLDER), "what is passed is there: {env}");
    assert!(!env.contains(KEY) && !env.contains(DIGITS), "{env}");
    let files = seen("seen.files");
    assert!(files.contains("seen.files"), "its own output is there: {files}");
    for name in ["audit.jsonl", "audit.jsonl.head", "audit.key"] {
        assert!(!files.contains(name), "{files}");
    }
}
