//! Calls that wait for a confirmation: the output for the operator, and their end when the proxy is stopped.

use super::*;

/// Starts a proxy that offers its questions at a socket, with a call of `write_file` that waits.
fn waiting(folder: &TempDir) -> Client {
    waiting_for(folder, "write_file", json!({"path": "a", "text": "PRIVATE"}))
}

fn waiting_for(folder: &TempDir, tool: &str, args: Value) -> Client {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    let mut client = Client::spawn(command.args(["gate", "proxy", "--config", "gate.toml"]).current_dir(folder));
    let params = json!({"name": tool, "arguments": args});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let listed = format!("call 1: files/{tool} ");
    until("the call waits", || gate(folder, &["confirm", "--list"]).stdout.starts_with(&listed));
    client
}

/// Runs the command in a line on standard error, in a shell in another folder.
fn run_as_printed(stderr: &str, input: &str) -> Run {
    let command = stderr.split(" s: omen ").nth(1).unwrap().lines().next().unwrap();
    let elsewhere = folder(&[]);
    let command = format!("{} {command}", env!("CARGO_BIN_EXE_omen"));
    run(assert_cmd::Command::new("/bin/sh")
        .args(["-c", &command])
        .current_dir(&elsewhere)
        .write_stdin(input.to_owned()))
}

/// Returns the line of a program that confirms the first waiting call.
fn answer_to_first(folder: &TempDir) -> String {
    let listed = gate(folder, &["confirm", "--list", "--json"]).stdout;
    let question: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let answer = json!({"type": "answer", "id": question["id"], "hash": question["hash"], "confirm": true});
    format!("{answer}\n")
}

#[test]
fn the_operator_reads_that_a_call_waits_and_what_to_run() {
    let folder = proxied();
    let mut client = waiting(&folder);
    let config = folder.path().canonicalize().unwrap().join("gate.toml");
    let line = format!(
        "omen: a call of `files/write_file` is waiting for a confirmation, and is denied after 60 s: omen gate confirm --config {}\n",
        config.display()
    );
    // A script cannot write `y` before it has read the call.
    let early = run_as_printed(&line, "y\n");
    assert_eq!((early.code, early.stderr.as_str()), (0, ""), "{}", early.stdout);
    assert!(early.stdout.contains("files/write_file") && !early.stdout.contains("is confirmed"), "{}", early.stdout);
    let confirmed = run_as_printed(&format!("{} --json\n", line.trim_end()), &answer_to_first(&folder));
    assert_eq!((confirmed.code, confirmed.stderr.as_str()), (0, ""), "{}", confirmed.stdout);
    let answer = client.next();
    assert_eq!(answer["result"]["content"][0]["text"], "write_file", "{answer}");
    let (code, stderr) = client.close();
    assert_eq!((code, stderr), (0, line));
}

#[test]
fn a_call_that_waits_when_the_proxy_is_stopped_is_recorded_as_denied() {
    let folder = proxied();
    let client = waiting(&folder);
    client.signal("-TERM");
    let (code, stderr) = client.end();
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("PRIVATE"), "{stderr}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent")), ("sound", 0));
    let said: Vec<_> =
        entries.iter().filter(|entry| entry["turn"].as_str().is_some_and(|turn| turn.ends_with(".1"))).collect();
    let [allowed, denied] = said[..] else { panic!("{said:?}") };
    assert_eq!((&allowed["kind"], &allowed["data"]["outcome"]), (&json!("decision"), &json!("allowed")));
    assert_eq!((&denied["kind"], &denied["data"]["outcome"]), (&json!("confirmation"), &json!("denied")));
    assert_eq!((&denied["data"]["code"], &denied["data"]["call"]), (&json!("G3"), &allowed["data"]["call"]));
    assert_eq!(denied["data"]["why"], "the call of `files/write_file` ended before it was confirmed");
    assert_eq!(denied["data"]["args"], json!({"path": "a", "text": "PRIVATE"}), "the log has all arguments here");
    assert_eq!(entries.last().unwrap()["kind"], "turn", "the session is over after that");
    assert_eq!(noted(&folder, "calls").len(), 0);
    none_is_left(&folder);
}

/// No grant of this call needs a confirmation: the operator requires one for every call of the tool. The log states that the call
/// waits, and that it waited when the gate was killed and could not deny it.
#[test]
fn a_call_that_waits_only_for_the_operator_is_counted_also_when_the_gate_is_killed() {
    let folder = proxied();
    let config = fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    let config = config.replacen("tool = 'read_file'\n", "tool = 'read_file'\nalways_confirm = true\n", 1);
    fs::write(folder.path().join("gate.toml"), config).unwrap();
    let audit = |args: &[&str]| {
        let run =
            run(omen([&["audit"], args, &["--key-file", "audit.key", "audit.jsonl"]].concat()).current_dir(&folder));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}: {}", run.stdout);
        run.stdout
    };
    let stats = || {
        let found: Value = serde_json::from_str(&audit(&["stats", "--format", "json"])).unwrap();
        (found["waiting"].as_u64().unwrap(), found["unconfirmed"].as_u64().unwrap())
    };
    let shown = || audit(&["show", "--outcome", "waits"]);

    let client = waiting_for(&folder, "read_file", json!({"path": "a"}));
    assert_eq!(stats(), (1, 0));
    assert_eq!(shown().lines().count(), 1);
    assert!(shown().ends_with("  waits for confirmation\n"), "{}", shown());
    assert!(!audit(&["show"]).contains("allowed"), "nothing is allowed yet: {}", audit(&["show"]));
    client.signal("-KILL");
    client.end();
    none_is_left(&folder);
    assert_eq!(stats(), (0, 1));
    let line = "\n1 call waited for confirmation when the gate was killed: `omen audit show --outcome waits`\n";
    assert!(audit(&["stats"]).contains(line), "{}", audit(&["stats"]));

    // The next gate neither makes the call nor counts it among its own.
    let client = waiting_for(&folder, "read_file", json!({"path": "b"}));
    assert_eq!(stats(), (1, 1));
    let answer = answer_to_first(&folder);
    let confirmed = run(omen(["gate", "confirm", "--json"]).current_dir(&folder).write_stdin(answer));
    assert_eq!(confirmed.code, 0, "{}", confirmed.stderr);
    until("the call is made", || noted(&folder, "calls").len() == 1);
    assert_eq!(client.close().0, 0);
    assert_eq!(stats(), (0, 1));
    assert_eq!(shown().lines().count(), 2);
}
