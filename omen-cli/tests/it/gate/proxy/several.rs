//! Several servers behind one proxy: the test's own, and the official ones from npm.

use super::official::official;
use super::*;

/// Returns a configuration with two servers, which are the same program.
fn two() -> TempDir {
    let folder = proxied();
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find("[servers.files]").unwrap();
    let end = start + 1 + text[start + 1..].find("\n[").unwrap();
    let table = text[start..end].replace("[servers.files]", "[servers.more]");
    fs::write(&path, format!("{text}\n{table}\n")).unwrap();
    folder
}

#[test]
fn two_servers_are_one_to_their_client() {
    let folder = two();
    for args in [&["--server", "files", "--server", "more"][..], &["--all-servers"]] {
        let mut client = Client::start(&folder, args);
        let listed = client.ask(1, "tools/list", &json!({}));
        let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["files__read_file", "files__write_file", "files__move_file", "files__expired"]);
        let answer = client.call(2, "files__read_file", json!({"path": "a"}));
        assert_eq!(answer["result"]["content"][0]["text"], "read_file");
        for (id, name) in [(3, "more__read_file"), (4, "read_file"), (5, "other__read_file")] {
            let answer = client.call(id, name, json!({"path": "a"}));
            assert_eq!(answer["result"]["_meta"]["omen/decision"]["code"], "PG-3", "{answer}");
        }
        let (code, stderr) = client.close();
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("omen: server more: omitted 7 tools from the list: `read_file`, "), "{stderr}");
        none_is_left(&folder);
    }
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 2, 2));
    assert_eq!(noted(&folder, "calls").len(), 2);
    assert_eq!(noted(&folder, "pids").len(), 4, "each server was started once a session");
    // Another policy can be tried on this log like on any other.
    let replayed = gate(
        &folder,
        &["replay", "--old", "gate.toml", "--new", "gate.toml", "--key-file", "audit.key", "audit.jsonl"],
    );
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
}

#[test]
fn the_tools_of_the_only_server_have_no_prefix() {
    let folder = proxied();
    let mut client = Client::start(&folder, &["--all-servers"]);
    let answer = client.call(1, "read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file", "{answer}");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_session_with_two_servers_is_written_as_episodes() {
    let folder = two();
    let args = ["--all-servers", "--episode", "observe", "--episode-log", "episodes.jsonl"];
    let mut client = Client::start(&folder, &args);
    let answer = client.call(1, "files__read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file");
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    let checked = run(omen(["check", "episodes.jsonl"]).current_dir(&folder));
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    assert!(fs::read_to_string(folder.path().join("episodes.jsonl")).unwrap().contains("files/read_file"));
}

#[test]
fn one_of_two_that_dies_leaves_the_other() {
    let folder = two();
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("[servers.more]\ncommand = '/bin/sh'", "[servers.more]\ncommand = '/bin/false'"))
        .unwrap();
    let mut client = Client::start(&folder, &["--all-servers"]);
    let answer = client.call(1, "files__read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file");
    let answer = client.call(2, "more__read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["code"], "R3", "{answer}");
    // When the other server dies as well, the session ends.
    let answer = client.call(3, "files__read_file", json!({"path": "die"}));
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{answer}");
    let (code, stderr) = client.end();
    assert_eq!(code, 3, "{stderr}");
    assert_eq!(log(&folder).0, "sound");
    none_is_left(&folder);
}

#[test]
fn what_cannot_be_several_servers_is_refused_at_the_start() {
    let folder = two();
    let refused = |args: &[&str]| {
        let run = gate(&folder, &[&["proxy", "--config", "gate.toml", "--no-socket"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        run.stderr
    };
    for (args, why) in [
        (&[][..], "expected --server NAME, or --all-servers; its servers are `files`, `more`"),
        (&["--server", "files", "--server", "file"], "the configuration has no server `file`"),
        (&["--server", "files", "--server", "files"], "the server `files` is given twice"),
        (&["--all-servers", "--server", "files"], "cannot be used with"),
        (&["--all-servers", "--", "true"], "apply to a single server"),
        (&["--all-servers", "--pass-env", "HOME"], "apply to a single server"),
        (&["--all-servers", "--pass", "roots,tasks"], "`--pass tasks` requires a single server"),
        (&["--all-servers", "--url", "https://example.com/mcp"], "apply to a single server"),
    ] {
        let stderr = refused(args);
        assert!(stderr.contains(why), "{args:?}: {stderr}");
    }
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    for (name, why) in [
        ("mo__re", "contains `__` or ends with `_`"),
        ("more_", "contains `__` or ends with `_`"),
        ("Files", "differ only in case"),
    ] {
        fs::write(&path, text.replace("[servers.more]", &format!("[servers.{name}]"))).unwrap();
        assert!(refused(&["--all-servers"]).contains(why), "{name}");
    }
    fs::write(&path, format!("{text}\n[servers.empty]\n")).unwrap();
    assert!(refused(&["--all-servers"]).contains("the server `empty` has neither a `command` nor a `url`"));
    assert!(!folder.path().join("pids").exists(), "no server was started");
    let absent = text.replace("[servers.more]\ncommand = '/bin/sh'", "[servers.more]\ncommand = 'no-such-program'");
    fs::write(&path, absent).unwrap();
    let mut client = Client::start(&folder, &["--all-servers"]);
    assert!(client.call(1, "files__read_file", json!({"path": "a"}))["result"].get("isError").is_none());
    let answer = client.call(2, "more__read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["_meta"]["omen/decision"]["code"], "R3", "{answer}");
    let (code, stderr) = client.close();
    assert!(code == 0 && stderr.contains("could not be started"), "{code}: {stderr}");
    none_is_left(&folder);
}

/// `server-everything` and `server-filesystem` behind one proxy, with a confirmation by the client's user.
#[test]
fn the_official_servers_are_one_to_their_client() {
    let data = folder(&[("note.txt", b"hello")]);
    let data_path = data.path().canonicalize().unwrap();
    let (Some(everything), Some(files)) =
        (official("server-everything", &[]), official("server-filesystem", &[data_path.to_str().unwrap()]))
    else {
        return;
    };
    let folder = folder(&[]);
    let table = |name: &str, command: &[String]| {
        format!("[servers.{name}]\ncommand = {}\nargs = {}\n", json!(command[0]), json!(command[1..]))
    };
    let mut text = format!(
        "[limits]\nlist_timeout_seconds = 120\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n{}{}",
        table("everything", &everything),
        table("files", &files)
    );
    fs::write(folder.path().join("gate.toml"), &text).unwrap();
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(&folder)).code, 0);
    let listed = gate(&folder, &["catalog", "--config", "gate.toml"]);
    let listed: std::collections::BTreeMap<String, Vec<omen_gate::tool::Tool>> =
        serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{}", listed.stderr));
    for (server, tools) in &listed {
        for tool in tools.iter().filter(|tool| tool.name.as_str() != "move_file") {
            let (name, pin) = (tool.name.as_str(), pin(tool).unwrap());
            let permission = if name == "write_file" { "WRITE" } else { "READ" };
            let tool = format!("server = '{server}'\ntool = '{name}'\npermissions = ['{permission}']\n");
            text += &format!("[[allow]]\n{tool}pin = '{pin}'\n[[grants]]\n{tool}");
        }
    }
    fs::write(folder.path().join("gate.toml"), text).unwrap();

    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["gate", "proxy", "--config", "gate.toml", "--no-socket", "--all-servers", "--elicitation"]);
    command.current_dir(&folder);
    let mut client = Client::asking(&mut command, &json!({"elicitation": {}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = client.ask(1, "tools/list", &json!({}));
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"everything__echo") && names.contains(&"files__read_text_file"), "{names:?}");
    assert!(!names.contains(&"files__move_file") && names.iter().all(|name| name.contains("__")), "{names:?}");
    let echoed = client.call(2, "everything__echo", json!({"message": "é"}));
    assert_eq!(echoed["result"]["content"][0]["text"], "Echo: é");
    let read = client.call(3, "files__read_text_file", json!({"path": data_path.join("note.txt")}));
    assert_eq!(read["result"]["content"][0]["text"], "hello");
    let moved = json!({"source": data_path.join("note.txt"), "destination": data_path.join("b")});
    assert_eq!(client.call(4, "files__move_file", moved)["result"]["_meta"]["omen/decision"]["code"], "PG-3");
    let prompts = client.ask(5, "prompts/list", &json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "everything__simple-prompt", "{prompts}");
    assert!(
        client.ask(6, "prompts/get", &json!({"name": "everything__simple-prompt"}))["result"]["messages"].is_array()
    );
    let resources = client.ask(7, "resources/list", &json!({}));
    let uri = resources["result"]["resources"][0]["uri"].clone();
    let resource = client.ask(8, "resources/read", &json!({"uri": uri}));
    assert_eq!(resource["result"]["contents"][0]["uri"], uri, "{resource}");

    let args = json!({"path": data_path.join("new.txt"), "content": "x"});
    let call = json!({"name": "files__write_file", "arguments": args});
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}));
    let asked = loop {
        let message = client.next();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    assert!(asked["params"]["message"].as_str().unwrap().contains("Tool: files/write_file (WRITE)"), "{asked}");
    std::thread::sleep(Duration::from_millis(1_200));
    let yes = json!({"action": "accept", "content": {"confirm": true}});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}));
    let written = loop {
        let message = client.next();
        if message["id"] == 9 && message.get("method").is_none() {
            break message;
        }
    };
    assert!(written["result"].get("isError").is_none(), "{written}");
    assert_eq!(fs::read_to_string(data.path().join("new.txt")).unwrap(), "x");
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 3, 3));
    let replayed = gate(
        &folder,
        &["replay", "--old", "gate.toml", "--new", "gate.toml", "--key-file", "audit.key", "audit.jsonl"],
    );
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
}
