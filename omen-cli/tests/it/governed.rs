//! The example `governed_write` end to end, with a child process for the tools and everything on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Builds the example, which takes no time if all tests are run, and returns its path.
fn example() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // From the root, like `cargo test` there, so that nothing is built twice with other features.
    let output = omen_testkit::cargo()
        .args([
            "build",
            "--profile",
            "test",
            "--locked",
            "--quiet",
            "--example",
            "governed_write",
            "--message-format",
            "json",
        ])
        .current_dir(workspace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut built = messages.filter(|message| message["target"]["name"] == "governed_write");
    built.find_map(|message| message["executable"].as_str().map(PathBuf::from)).unwrap()
}

/// Runs the example, and returns its output.
fn run(example: &Path, dir: &Path) -> String {
    let output = Command::new(example).arg("--audit").arg(dir).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout
}

/// Returns the lines of a file as JSON.
fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Judges the episode and the audit log by the command.
#[track_caller]
fn assert_sound(dir: &Path) {
    let check = Command::new(env!("CARGO_BIN_EXE_omen"))
        .args(["check", "--format", "json"])
        .arg(dir.join("episode.jsonl"))
        .output();
    let found = String::from_utf8(check.unwrap().stdout).unwrap();
    assert!(found.contains(r#""errors":0,"warnings":0"#), "{found}");
    let audit = Command::new(env!("CARGO_BIN_EXE_omen"))
        .args(["audit", "verify", "--format", "json", "--key-file"])
        .args([dir.join("audit.key"), dir.join("audit.jsonl")])
        .output();
    let found: Value = serde_json::from_slice(&audit.unwrap().stdout).unwrap();
    assert_eq!(found["verdict"], "sound", "{found}");
}

fn setting(dir: &Path) -> Value {
    let settings: Value = serde_json::from_slice(&fs::read(dir.join("settings.json")).unwrap()).unwrap();
    settings["pool.orders.max"].clone()
}

#[test]
fn it_writes_through_the_gate_and_leaves_a_sound_record() {
    let folder = tempfile::tempdir().unwrap();
    // A missing folder is created.
    let dir = folder.path().join("governed");
    let example = example();
    run(&example, &dir);
    assert_eq!(setting(&dir), "80", "the tool has really written");
    assert_sound(&dir);
    assert_private(&dir.join("audit.key"));

    let episode = lines(&dir.join("episode.jsonl"));
    let results: Vec<_> =
        episode.iter().filter(|packet| packet["header"]["packet_type"] == "TaskResultPacket").collect();
    let data: Vec<_> = results.iter().map(|result| &result["payload"]["result_data"]).collect();
    let (read, written) = (
        json!({ "key": "pool.orders.max", "value": "50" }),
        json!({ "key": "pool.orders.max", "before": "50", "after": "80" }),
    );
    assert_eq!(data, [&read, &written]);

    let audit = lines(&dir.join("audit.jsonl"));
    let kinds: Vec<_> = audit.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let read = ["decision", "intent", "outcome"];
    let write = ["decision", "confirmation", "intent", "outcome"];
    assert_eq!(kinds, [&["opened", "grant"][..], &read, &write].concat());
    let id = &episode[0]["header"]["correlation_id"];
    let directives = results.iter().map(|result| &result["payload"]["directive_packet_id"]);
    for (directive, entries) in directives.zip([&audit[2..5], &audit[5..9]]) {
        for entry in entries {
            assert_eq!((&entry["packet_id"], &entry["correlation_id"], &entry["turn"]), (directive, id, id), "{entry}");
            assert_eq!(entry["data"]["call"], entries[0]["data"]["call"], "one call: {entry}");
        }
        let [.., intent, outcome] = entries else { panic!("{entries:?}") };
        assert_eq!((&intent["data"]["outcome"], &outcome["data"]["ran"]), (&json!("allowed"), &json!("yes")));
    }
}

#[test]
fn it_leaves_alone_what_is_not_as_it_was_believed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("settings.json"), r#"{"pool.orders.max": "65"}"#).unwrap();
    let example = example();
    for _ in 0..2 {
        let said = run(&example, dir);
        assert!(said.contains("the pool is 65\nit was to be 50, so it is left alone"), "{said}");
        assert_eq!(setting(dir), "65");
        // The second run continues the logs of the first.
        assert_sound(dir);
    }
    let audit = lines(&dir.join("audit.jsonl"));
    let intents: Vec<_> = audit.iter().filter(|entry| entry["kind"] == "intent").collect();
    assert_eq!(intents.len(), 2);
    assert!(intents.iter().all(|intent| intent["data"]["tool"]["tool"] == "config.get"));
}

#[cfg(unix)]
fn assert_private(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(not(unix))]
fn assert_private(_: &Path) {}
