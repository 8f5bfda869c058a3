//! Paths are relative to the folder of the configuration, wherever the gate is started.

use std::fs;
use std::path::Path;

use omen_gate::Config;
use omen_gate::config::KeySource;

const TEXT: &str = "\
[servers.a]
command = './bin/server'
args = ['./data']
[servers.b]
command = 'server'
[audit]
log = 'logs/audit.jsonl'
key_file = '../audit.key'
[confirm]
socket = 'run/confirm.sock'
";

#[test]
fn they_start_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gate.toml");
    fs::write(&file, TEXT).unwrap();
    let config = Config::load(&file).unwrap();
    let command = |name: &str| config.servers[name].command.clone().unwrap();
    assert_eq!(command("a").to_path(), folder.path().join("./bin/server"));
    assert_eq!(command("b").to_path(), Path::new("server"), "a bare name is looked for in `PATH`");
    assert_eq!(command("a").args, ["./data"], "what an argument means is known to the server alone");
    assert_eq!(command("a").dir.as_deref(), Some(folder.path()));
    let audit = config.audit.clone().unwrap();
    assert_eq!(audit.log, folder.path().join("logs/audit.jsonl"));
    assert_eq!(audit.key, KeySource::File(folder.path().join("../audit.key")));
    assert_eq!(config.confirm_socket(), folder.path().join("run/confirm.sock"));
    assert_eq!(config.hook_socket(), folder.path().join("run/confirm.hook.sock"));
    assert_eq!(Config::hook_socket_of(TEXT, &file), Some(config.hook_socket()));

    fs::write(&file, "").unwrap();
    let config = Config::load(&file).unwrap();
    assert_eq!(config.confirm_socket(), folder.path().join(".omen-gate/confirm.sock"));
    assert_eq!(Config::hook_socket_of("", &file), Some(config.hook_socket()));
    assert_eq!(Config::hook_socket_of("[", &file), None);
}

#[test]
fn absolute_paths_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gate.toml");
    fs::write(&file, TEXT.replace("'logs/", "'/var/log/").replace("'./bin", "'/bin")).unwrap();
    let config = Config::load(&file).unwrap();
    assert_eq!(config.audit.unwrap().log, Path::new("/var/log/audit.jsonl"));
    assert_eq!(config.servers["a"].command.as_ref().unwrap().to_path(), Path::new("/bin/server"));
}

/// A text has no folder.
#[test]
fn the_paths_of_a_text_are_as_they_are_written() {
    let config = Config::parse(TEXT).unwrap();
    assert_eq!(config.folder, None);
    assert_eq!(config.audit.clone().unwrap().log, Path::new("logs/audit.jsonl"));
    let command = config.servers["a"].command.clone().unwrap();
    assert_eq!((command.to_path(), command.dir), (Path::new("./bin/server").to_owned(), None));
    assert_eq!(config.confirm_socket(), Path::new("run/confirm.sock"));
}

/// A file has the same hash in every folder and formatting.
#[test]
fn the_hash_is_over_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gate.toml");
    let hash = |text: &str| {
        fs::write(&file, text).unwrap();
        Config::load(&file).unwrap().hash()
    };
    let first = hash(TEXT);
    assert_eq!(Config::parse(TEXT).unwrap().hash(), first);
    assert_eq!(hash(&TEXT.replace('\'', "\"").replace(" = ", "=").replace("[audit]", "# The log.\n[audit]")), first);
    for other in [TEXT.replace("./data", "./date"), format!("{TEXT}timeout_seconds = 60\n"), String::new()] {
        assert_ne!(hash(&other), first, "{other}");
    }
    // printf 'omen-gate-policy/v1\n{"limits":{"plan_bytes":1000}}' | sha256sum
    assert_eq!(
        hash("[limits]\nplan_bytes = 1_000\n").to_string(),
        "a94b81662850456ae094a01ccf5734a4d8f819a106af8bf3bb99f3ffe8d15bdf"
    );
}

/// The key file is recognized by the resolved path from the folder of the configuration.
#[test]
#[cfg(unix)]
fn the_key_is_found_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("audit.key"), "key").unwrap();
    std::os::unix::fs::symlink("audit.key", folder.path().join("other")).unwrap();
    let file = folder.path().join("gate.toml");
    fs::write(&file, "[audit]\nlog = 'l'\nkey_file = 'audit.key'\n[servers.a]\ncommand = 'x'\nargs = ['./other']\n")
        .unwrap();
    let errors = Config::load(&file).unwrap_err();
    assert!(errors.0[0].message.starts_with("`servers.a.args[0]` passes the key file of the log"), "{errors}");
}

/// In any form on a command line.
#[test]
#[cfg(unix)]
fn the_key_is_found_behind_an_option_and_as_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let key = folder.join("audit.key");
    fs::write(&key, "key").unwrap();
    std::os::unix::fs::symlink("audit.key", folder.join("other")).unwrap();
    let file = folder.join("gate.toml");
    let with = |arg: &str| {
        let text =
            format!("[audit]\nlog = 'l'\nkey_file = 'audit.key'\n[servers.a]\ncommand = 'x'\nargs = ['-v', '{arg}']\n");
        Config::parse_as(&text, &file)
    };
    let key = key.display();
    for arg in [
        format!("--key={key}"),
        format!("file://{key}"),
        format!("--key=file://localhost{key}"),
        format!("{key}:/key:ro"),
        format!("-k{key}"),
        format!("--key={}/./other", folder.display()),
        "--key=other".to_owned(),
        "file:./other".to_owned(),
    ] {
        let errors = with(&arg).unwrap_err();
        assert!(
            errors.0[0].message.starts_with("`servers.a.args[1]` passes the key file of the log"),
            "{arg}: {errors}"
        );
    }
    for arg in ["--key=audit.key.pub", "file:///audit.key", "--audit.key", "."] {
        assert!(with(arg).is_ok(), "{arg}");
    }
}
