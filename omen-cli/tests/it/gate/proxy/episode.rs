//! `omen gate proxy --episode`: the transcripts of the proxy's own tests, through the command.

use omen_testkit::proofs::Proofs;

use super::*;

const TRANSCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../omen-proxy/tests/transcripts");

/// Returns the result of `omen check`: errors, warnings, and the codes.
fn check(folder: &TempDir) -> (i32, Vec<String>) {
    let run = run(omen(["check", "--format", "json", "episodes.jsonl"]).current_dir(folder));
    let findings = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // An episode that was killed before its decision was carried out has a finding about that (D81).
    let waits = |finding: &Value| finding["code"] == "FSM" && finding["state"] == json!(["S3_DECIDE"]);
    let findings = findings.filter(|finding| !waits(finding) || finding["severity"] != "warning");
    let codes = findings.filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect();
    (run.code, codes)
}

/// Returns a configuration for the tools of the transcripts: all may be called except `unlisted`, and `ask` needs a confirmation.
fn of_transcripts() -> TempDir {
    let folder = folder(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/server.py");
    let text = format!(
        "[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n[limits]\ncall_timeout_seconds = 1\n\
         [servers.s]\ncommand = 'python3'\nargs = [{}]\n",
        json!(script)
    );
    fs::write(folder.path().join("gate.toml"), &text).unwrap();
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(&folder)).code, 0);
    let listed = gate(&folder, &["catalog", "--config", "gate.toml"]);
    let listed: std::collections::BTreeMap<String, Vec<omen_gate::tool::Tool>> =
        serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{}", listed.stderr));
    let mut text = text;
    for tool in listed.values().flatten().filter(|tool| tool.name.as_str() != "unlisted") {
        let (name, pin) = (tool.name.as_str(), pin(tool).unwrap());
        let permission = if ["write", "ask"].contains(&name) { "WRITE" } else { "READ" };
        let tool = format!("server = 's'\ntool = '{name}'\npermissions = ['{permission}']\n");
        text += &format!("[[allow]]\n{tool}pin = '{pin}'\n[[grants]]\n{tool}pre_granted = {}\n", name == "write");
    }
    fs::write(folder.path().join("gate.toml"), text).unwrap();
    folder
}

/// The model reads the same as through the stand-in client, and the log is judged clean. By default, every fourth transcript and
/// the good one; the stand-in client plays all of them.
#[test]
fn the_python_client_plays_every_transcript() {
    let Some(python) = Need::PythonClient.path() else { return };
    let mut played = 0;
    let paths = fs::read_dir(TRANSCRIPTS).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    paths.sort();
    let (step, least) = Proofs::wanted().choose((4, 4), (1, 12));
    let wanted = paths.iter().enumerate().filter(|(number, path)| number % step == 0 || path.ends_with("good.jsonl"));
    for (_, path) in wanted {
        // The stand-in client plays all of them in both modes.
        let modes = if path.ends_with("good.jsonl") { &["enforce", "observe"][..] } else { &["enforce"] };
        for mode in modes {
            let folder = of_transcripts();
            let text = fs::read_to_string(path).unwrap();
            let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let budget = first["budget"]["tool_calls"].as_u64().map(|calls| format!("--episode-calls={calls}"));
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/transcript.py");
            let mut client = std::process::Command::new("python3");
            client.arg(script).arg(path).args([env!("CARGO_BIN_EXE_omen"), "gate", "proxy", "--config", "gate.toml"]);
            client.args(["--no-socket", "--elicitation", "--least-ms", "0", "--episode", mode]);
            client.args(["--episode-log", "episodes.jsonl"]).args(budget);
            let output = client.current_dir(&folder).env("PYTHONPATH", &python).output().expect("python3 starts");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(check(&folder), (0, Vec::new()), "{mode} {}", path.display());
            if *mode == "enforce" {
                let fixture = fs::read_to_string(path.with_extension("read.txt")).unwrap();
                assert_eq!(read(&said), fixed(&fixture), "{}", path.display());
            }
        }
        played += 1;
    }
    assert!(played >= least, "{played}");
}

/// Returns the client's output about its calls.
fn read(said: &str) -> Vec<String> {
    let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| Some(plain(line["text"].as_str()?))).collect()
}

/// Returns the texts for the model in a fixture.
fn fixed(fixture: &str) -> Vec<String> {
    let calls = fixture.split("\n\n").filter(|call| !call.trim().is_empty());
    calls
        .map(|call| {
            let lines = call.trim_start().lines().skip(1);
            plain(&lines.map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>().join("\n"))
        })
        .collect()
}

/// Removes the pins, which depend on the server.
fn plain(text: &str) -> String {
    match text.split_once("with the pin") {
        Some((before, _)) => before.to_owned(),
        None => text.to_owned(),
    }
}

fn mcp() -> Value {
    let text = fs::read_to_string(Path::new(TRANSCRIPTS).join("good.jsonl")).unwrap();
    serde_json::from_str::<Value>(text.lines().next().unwrap()).unwrap()["arguments"]["mcp"].clone()
}

/// Brings an episode to a state in which a call may be made as a directive.
pub(super) fn act(client: &mut Client) {
    let change = json!({"domain": "d", "key": "k", "new_value": 1, "prior_value": null});
    let checks = json!({"constitutional_check": true, "budget_check": true, "tier_check": true});
    for (id, tool, args) in [
        (1, "omen_observe", json!({"observation_type": "intel_update", "data": {"a": 1}, "mcp": mcp()})),
        (2, "omen_believe", json!({"update_type": "new_belief", "belief_changes": [change]})),
        (
            3,
            "omen_decide",
            json!({"decision_outcome": "ACT", "decision_summary": "safety first", "constraints_satisfied": checks,
                "tools": [{"tool": "write_file", "operations": ["write"]}]}),
        ),
    ] {
        let answer = client.call(id, tool, args);
        assert_eq!(answer["result"]["structuredContent"]["accepted"], true, "{answer}");
    }
}

/// However the proxy is killed, every call that the server received is in the log of the episode, which can be judged and
/// continued.
#[test]
fn a_killed_proxy_leaves_an_episode_with_the_directive_of_the_call_that_ran() {
    let folder = proxied();
    let args = ["--episode", "enforce", "--episode-log", "episodes.jsonl"];
    let mut client = Client::start(&folder, &args);
    act(&mut client);
    client.hang(&folder, 4);
    client.signal("-KILL");
    client.end();
    let text = fs::read_to_string(folder.path().join("episodes.jsonl")).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["header"]["packet_type"], "TaskDirectivePacket");
    assert_eq!(last["payload"]["execution_method"]["tool_params"], json!({"path": "hang"}));
    assert_eq!(check(&folder), (1, vec!["E6".to_owned()]), "it is open, since nobody knows what came of it");
    // The next session ends that episode, and has its own.
    let mut client = Client::start(&folder, &args);
    act(&mut client);
    let answer = client.call(4, "read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file");
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("was interrupted in S6_EXECUTE; 1 of its calls may have run"), "{stderr}");
    assert!(stderr.contains("ended in S6_EXECUTE with 8 packets"), "{stderr}");
    assert_eq!(check(&folder), (0, Vec::new()));
    let text = fs::read_to_string(folder.path().join("episodes.jsonl")).unwrap();
    let results = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<_> = results.filter(|packet| packet["header"]["packet_type"] == "TaskResultPacket").collect();
    assert_eq!(results[0]["payload"]["result_status"], "FAILURE");
    let why = results[0]["payload"]["error_details"]["error_message"].as_str().unwrap();
    assert!(why.contains("the tool may have run"), "{why}");
}

/// Whenever the proxy is killed, the next start ends the open episodes, and the whole log is judged clean.
#[test]
#[cfg(target_os = "linux")]
fn however_often_a_proxy_is_killed_its_episodes_are_judged_clean() {
    let folder = proxied();
    let rounds: u64 = if cfg!(debug_assertions) { 8 } else { 50 };
    let checks = json!({"constitutional_check": true, "budget_check": true, "tier_check": true});
    let change = json!({"domain": "d", "key": "k", "new_value": 1, "prior_value": null});
    let observe = json!({"observation_type": "intel_update", "data": {"a": 1}, "mcp": mcp()});
    let believe = json!({"update_type": "new_belief", "belief_changes": [change]});
    // The called tool only reads.
    let decide = json!({"decision_outcome": "ACT", "decision_summary": "safety first", "constraints_satisfied": checks,
        "tools": []});
    let (mut in_doubt, mut random) = (0, 88_172_645_463_325_252_u64);
    for round in 1..=rounds {
        let mode = if round % 3 == 0 { "observe" } else { "enforce" };
        let mut client = Client::start(&folder, &["--episode", mode, "--episode-log", "episodes.jsonl"]);
        let calls = [
            ("omen_observe", observe.clone()),
            ("omen_believe", believe.clone()),
            ("omen_decide", decide.clone()),
            ("read_file", json!({"path": format!("{round}")})),
            ("read_file", json!({"path": format!("hang {round}")})),
        ];
        // Some calls wait for their answers, so that the episode reaches a call that hangs.
        for (id, (tool, args)) in (1..).zip(calls) {
            let hangs = args["path"].as_str().is_some_and(|path| path.starts_with("hang"));
            match (round % 2 == 0, hangs) {
                (true, true) => client.hang_in(&folder, id, tool, args),
                (true, false) => drop(client.call(id, tool, args)),
                (false, _) => {
                    let params = json!({"name": tool, "arguments": args});
                    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
                }
            }
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % 20_000));
        client.signal("-KILL");
        let (_, stderr) = client.end();
        assert!(!stderr.contains("could not be ended"), "round {round}: {stderr}");
        in_doubt += stderr.matches("may have run").count();
        none_is_left(&folder);
    }
    let client = Client::start(&folder, &["--episode", "observe", "--episode-log", "episodes.jsonl"]);
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(check(&folder), (0, Vec::new()));
    let text = fs::read_to_string(folder.path().join("episodes.jsonl")).unwrap();
    let packets: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |kind: &str| packets.iter().filter(|packet| packet["header"]["packet_type"] == kind).count();
    assert_eq!(count("TaskDirectivePacket"), count("TaskResultPacket"));
    assert!(in_doubt + stderr.matches("may have run").count() > 0, "some calls ran when the proxy was killed");
    // No episode is ended twice: another start changes nothing.
    let client = Client::start(&folder, &["--episode", "observe", "--episode-log", "episodes.jsonl"]);
    assert!(!client.close().1.contains("interrupted"));
    assert_eq!(fs::read_to_string(folder.path().join("episodes.jsonl")).unwrap(), text);
}

/// The partial line after a crash is kept beside the log, and the episodes of others are unchanged.
#[test]
fn a_partial_line_is_set_aside_and_the_episodes_of_others_are_left_alone() {
    let folder = proxied();
    let path = folder.path().join("episodes.jsonl");
    let other = omen_schema::example("invalid/e6-end-with-directive-open.jsonl");
    let other = other.unwrap_or_else(|| panic!("there is a log with an open directive"));
    for (half, kept) in [("{\"half", "torn-{}"), ("{\"other", "torn-{}-2")] {
        fs::write(&path, format!("{}\n{half}", other.trim_end())).unwrap();
        let whole = other.trim_end().len() + 1;
        let client = Client::start(&folder, &["--episode", "observe", "--episode-log", "episodes.jsonl"]);
        let (code, stderr) = client.close();
        assert_eq!(code, 0, "{stderr}");
        let kept = format!("episodes.jsonl.{}", kept.replace("{}", &whole.to_string()));
        assert!(stderr.contains(&format!("the removed bytes are in `{kept}`")), "{stderr}");
        assert_eq!(fs::read_to_string(folder.path().join(kept)).unwrap(), half);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", other.trim_end()));
        assert!(!stderr.contains("interrupted"), "{stderr}");
    }
}

#[test]
fn a_log_that_another_session_writes_is_refused_and_both_options_are_needed() {
    let folder = proxied();
    let args = ["--episode", "observe", "--episode-log", "episodes.jsonl"];
    let client = Client::start(&folder, &args);
    let other = gate(&folder, &[&["proxy", "--config", "gate.toml", "--no-socket"], &args[..]].concat());
    assert_eq!(other.code, 3, "{}", other.stderr);
    // The gate's log comes first if it is the same.
    assert!(other.stderr.starts_with("omen: A1: the log `"), "{}", other.stderr);
    assert!(other.stderr.contains("audit.jsonl` is in use; "), "{}", other.stderr);
    let text = fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    write(folder.path(), "other.toml", text.replace("audit.jsonl", "other.jsonl").as_bytes());
    let other = gate(&folder, &[&["proxy", "--config", "other.toml", "--no-socket"], &args[..]].concat());
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(other.stderr.contains("`episodes.jsonl` is in use by another process"), "{}", other.stderr);
    assert_eq!(client.close().0, 0);
    for (args, why) in [
        (["--episode", "observe"], "--episode-log <FILE>"),
        (["--episode-log", "e.jsonl"], "--episode <MODE>"),
        (["--episode", "watch"], "expected `observe` or `enforce`"),
    ] {
        let run = gate(&folder, &[&["proxy", "--config", "gate.toml"], &args[..]].concat());
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{args:?}: {}", run.stderr);
    }
}

/// A file that is not a log of episodes is unchanged, whatever its name.
#[test]
#[cfg(unix)]
fn a_file_with_something_else_in_it_is_not_taken_for_the_log() {
    let folder = proxied();
    let at = |name: &str| folder.path().join(name);
    // An earlier session creates the audit log and its head record.
    assert_eq!(Client::start(&folder, &[]).close().0, 0);
    fs::write(at("notes.txt"), "line\nhalf").unwrap();
    fs::write(at("half.txt"), "half").unwrap();
    fs::write(at("other.json"), "{\"header\":{}}\n").unwrap();
    fs::write(at("whole.json"), "{\"header\":{}}").unwrap();
    fs::hard_link(at("gate.toml"), at("hard")).unwrap();
    std::os::unix::fs::symlink("audit.key", at("soft")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    fs::create_dir(at(".omen-gate")).unwrap();
    for (name, why) in [
        ("gate.toml", "is the configuration"),
        ("./sub/../gate.toml", "is the configuration"),
        ("hard", "is the configuration"),
        ("audit.key", "is the key of the audit log"),
        ("soft", "is the key of the audit log"),
        ("audit.jsonl", "is a file of the audit log"),
        ("audit.jsonl.head", "is a file of the audit log"),
        ("audit.000002.jsonl", "is a file of the audit log"),
        ("audit.jsonl.torn-7", "is a file of the audit log"),
        (".omen-gate/confirm.sock", "is the socket for confirmations"),
        ("notes.txt", "does not begin with a packet"),
        ("half.txt", "does not begin with a packet"),
        ("other.json", "does not begin with a packet"),
        ("whole.json", "does not begin with a packet"),
    ] {
        let before = fs::read(at(name)).ok();
        let args = ["proxy", "--config", "gate.toml", "--no-socket", "--episode", "observe", "--episode-log", name];
        let run = gate(&folder, &args);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{name}: {}", run.stderr);
        let line = format!("`{name}` {why}");
        assert!(
            run.stderr.contains(&line) && run.stderr.contains("choose another file with --episode-log"),
            "{}",
            run.stderr
        );
        // Each start adds an entry to the audit log; nothing else may change.
        if name != "audit.jsonl" && name != "audit.jsonl.head" {
            assert_eq!(fs::read(at(name)).ok(), before, "{name}");
        }
        assert_eq!(log(&folder).0, "sound", "{name}");
    }
    // An empty file, and half of a first packet, as after a crash.
    for text in ["", "{\"header\":{\"pack"] {
        fs::write(at("new.jsonl"), text).unwrap();
        let client = Client::start(&folder, &["--episode", "observe", "--episode-log", "new.jsonl"]);
        assert_eq!(client.close().0, 0);
    }
}

/// A refusal by an episode is in the audit log under the code of the protocol, and can be found by it.
#[test]
fn what_an_episode_refuses_is_found_in_the_audit_log_by_its_own_code() {
    let folder = proxied();
    let args = ["--episode", "enforce", "--episode-log", "episodes.jsonl"];
    let mut client = Client::start(&folder, &args);
    let refused = client.call(1, "read_file", json!({"path": "a"}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "INV-001", "{refused}");
    let decided = client.call(2, "omen_decide", json!({"decision_outcome": "ACT", "mcp": mcp()}));
    assert_eq!(decided["result"]["isError"], true, "{decided}");
    assert_eq!(client.close().0, 0);
    let show = |code: &str| {
        run(omen(["audit", "show", "--key-file", "audit.key", "--code", code, "audit.jsonl"]).current_dir(&folder))
    };
    let shown = show("INV-001");
    assert!(shown.stdout.contains("files/read_file") && shown.stdout.contains("denied INV-001"), "{}", shown.stdout);
    let code = decided["result"]["structuredContent"]["code"].as_str().unwrap();
    assert!(show(code).stdout.contains("files/omen_decide"), "{code}");
    let none = show("E5");
    assert!(none.stderr.contains("no entry has the code `E5`"), "{}", none.stderr);
}

/// The entries of each call refer to its packet: from the intent on to the directive, and before a decision to the result of the
/// tool. The same call twice is two calls.
#[test]
fn a_report_joins_calls_with_packets() {
    let mut reports = Vec::new();
    for mode in ["enforce", "observe"] {
        let folder = proxied();
        let mut client = Client::start(&folder, &["--episode", mode, "--episode-log", "episodes.jsonl"]);
        let read = json!({"path": "a"});
        if mode == "enforce" {
            let observed = json!({"observation_type": "intel_update", "data": {"a": 1}, "mcp": mcp()});
            drop(client.call(9, "omen_observe", observed));
            drop(client.call(10, "read_file", read.clone()));
            act(&mut client);
        }
        drop(client.call(11, "read_file", read.clone()));
        drop(client.call(12, "read_file", read));
        drop(client.call(13, "no_such_tool", json!({})));
        assert_eq!(client.close().0, 0);

        let lines = |name: &str| -> Vec<Value> {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let directives: Vec<_> = lines("episodes.jsonl")
            .iter()
            .filter(|packet| packet["header"]["packet_type"] == "TaskDirectivePacket")
            .map(|packet| json!([packet["header"]["packet_id"], packet["header"]["correlation_id"]]))
            .collect();
        for kind in ["intent", "outcome"] {
            let audit = lines("audit.jsonl");
            let entries = audit.iter().filter(|entry| entry["kind"] == kind && !entry["packet_id"].is_null());
            let named: Vec<_> = entries.map(|entry| json!([entry["packet_id"], entry["correlation_id"]])).collect();
            assert_eq!(named, directives, "{mode} {kind}");
        }
        assert_eq!(directives.len(), 2, "{mode}");

        let args =
            ["report", "-o", "report.html", "--audit", "audit.jsonl", "--key-file", "audit.key", "episodes.jsonl"];
        let run = run(omen(args).current_dir(&folder));
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.starts_with("report.html: no errors, 1 refused call: "), "{}", run.stdout);
        reports.push(folder);
    }
    let pages: Vec<_> = reports.iter().map(|folder| folder.path().join("report.html")).collect();
    crate::report::browser::visit("calls_of_the_proxy_lead_to_their_packets", &pages);
}
