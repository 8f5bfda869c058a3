//! Arguments of a call appear only where the operator requested them: not in the log, not in the log of its episodes, not on
//! standard error, and not in output about them.

use super::*;

const MARKER: &str = "zQxMARKx";

/// Returns calls that are valid, that fail, and that are invalid in many ways.
fn lines() -> Vec<String> {
    let call = |id: u64, tool: &str, args: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": args}})
            .to_string()
    };
    let raw = |id: u64, args: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"read_file","arguments":{args}}}}}"#
        )
    };
    let mut lines = vec![
        call(11, "read_file", json!({"path": format!("echo {MARKER}")})),
        call(12, "read_file", json!({"path": format!("fail {MARKER}")})),
        call(13, "read_file", json!({ MARKER: 1 })),
        call(14, "read_file", json!({"path": [MARKER]})),
        call(15, "read_file", json!({"path": {"a": MARKER}})),
        call(16, "read_file", json!({"path": "a", "more": MARKER})),
        call(17, "write_file", json!({"path": MARKER, "text": MARKER})),
        call(18, "nothing", json!({"path": MARKER})),
        call(19, "omen_observe", json!({ MARKER: MARKER })),
        call(20, "read_file", json!(MARKER)),
        raw(21, &format!(r#"{{"path":"a","{MARKER}":1,"{MARKER}":2}}"#)),
        raw(22, &format!(r#"{{"{MARKER}":123456789012345678901234567890}}"#)),
        raw(23, &format!(r#"{{"path":"{MARKER}", {MARKER}}}"#)),
        raw(24, &format!(r#"{{"$serde_json::private::{MARKER}":"{MARKER}"}}"#)),
        raw(25, &format!(r#"{{"path":{}"{MARKER}"{}}}"#, "[".repeat(100), "]".repeat(100))),
    ];
    lines.push(format!("{{\"{MARKER}\": 1}}"));
    lines.push(MARKER.to_owned());
    lines
}

#[test]
fn what_calls_say_is_in_no_file_and_on_no_screen() {
    for arguments in ["", "arguments = 'hash'", "arguments = 'redacted'"] {
        for mode in [None, Some("observe"), Some("enforce")] {
            let folder = proxied();
            let path = folder.path().join("gate.toml");
            let text = fs::read_to_string(&path).unwrap().replace("arguments = 'full'", arguments);
            fs::write(&path, text).unwrap();
            let args = mode.map(|mode| ["--episode", mode, "--episode-log", "episodes.jsonl"]);
            let mut client = Client::start(&folder, args.as_ref().map_or(&[], |args| &args[..]));
            if mode == Some("enforce") {
                episode::act(&mut client);
            }
            let lines = lines();
            let count = lines.len();
            for line in lines {
                writeln!(client.to.as_mut().unwrap(), "{line}").unwrap();
            }
            let mut read = String::new();
            for _ in 0..count {
                client.from.read_line(&mut read).unwrap();
            }
            assert!(read.contains(MARKER), "the client reads what is wrong: {read}");
            let (code, stderr) = client.close();
            assert_eq!(code, 0, "{stderr}");
            assert!(!stderr.is_empty() && !stderr.contains(MARKER), "{arguments} {mode:?}: {stderr}");
            let mut looked = 0;
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                // The server may record what it likes.
                if path.is_file() && !path.ends_with("calls") {
                    looked += 1;
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    let found = text.lines().find(|line| line.contains(MARKER));
                    assert_eq!(found, None, "{arguments} {mode:?} {}", path.display());
                }
            }
            assert!(looked >= 4, "{looked}");
            for format in ["human", "json"] {
                let show = ["audit", "show", "--key-file", "audit.key", "--format", format, "audit.jsonl"];
                let shown = run(omen(show).current_dir(&folder));
                assert!(shown.code == 0 && shown.stdout.contains("PG-2"), "{}", shown.stderr);
                assert!(!shown.stdout.contains(MARKER), "{arguments} {mode:?} {format}");
            }
        }
    }
}
