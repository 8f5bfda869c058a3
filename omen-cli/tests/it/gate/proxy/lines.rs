//! Line ends in place of JSON white space: servers and clients that split lines there see only what was judged.

use super::*;

/// A call that is not allowed, as a value in another message.
const SMUGGLED: &str =
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"write","arguments":{"path":"smuggled"}}}"#;

/// Line ends for `str.splitlines` of Python, and so for the readers of Node, Java and .NET.
const ENDS: [char; 10] = ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns messages that contain the call, each of which reaches the server in a different manner: unchanged, or judged.
fn ways(tool: &str, meta: &str) -> Vec<(&'static str, Option<u64>, String)> {
    let inner = format!("\"a\":\r{SMUGGLED}\r");
    let open = if meta.is_empty() { String::new() } else { format!(",{meta}") };
    let whole = format!("\"_meta\":{{{inner}{open}}}");
    vec![
        ("a notification", None, format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{{inner}}}}}"#)),
        (
            "an unknown method",
            Some(5),
            format!(r#"{{"jsonrpc":"2.0","id":5,"method":"x/y","params":{{{whole},{inner}}}}}"#),
        ),
        (
            "the end of a message",
            Some(6),
            format!(r#"{{"jsonrpc":"2.0","id":6,"method":"x/y","params":{{{whole}}},{inner}}}"#),
        ),
        ("a list", Some(7), format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{{whole}}}}}"#)),
        (
            "an allowed call",
            Some(8),
            format!(
                r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"path":"fine"}},{whole}}}}}"#
            ),
        ),
        (
            "a string",
            Some(9),
            format!(
                r#"{{"jsonrpc":"2.0","id":9,"method":"x/y","params":{{{whole},"b":"{}"}}}}"#,
                "\u{2028}\u{2029}\u{85}"
            ),
        ),
    ]
}

/// Returns the command of the server in one of its modes.
fn server(folder: &TempDir, mode: &str) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/lines_server.py");
    let calls = folder.path().join("calls");
    let words = ["/usr/bin/env", "python3", script.to_str().unwrap(), calls.to_str().unwrap(), mode];
    let mut words: Vec<_> = words.map(str::to_owned).to_vec();
    if let Some(python) = (mode == "official").then(|| Need::PythonClient.path()).flatten() {
        words.insert(1, format!("PYTHONPATH={}", python.to_str().unwrap()));
    }
    words
}

/// Returns a configuration in which `read` may be called and `write` may not; optionally with a second server of the same kind.
fn allowing(mode: &str, is_double: bool) -> TempDir {
    let folder = folder(&[]);
    let command = server(&folder, mode);
    super::official::allowing(&command, &folder, &[], &["write"]);
    if is_double {
        let path = folder.path().join("gate.toml");
        let text = fs::read_to_string(&path).unwrap();
        let more = format!("[servers.more]\ncommand = {}\nargs = {}\n", json!(command[0]), json!(command[1..]));
        fs::write(&path, text + &more).unwrap();
    }
    folder
}

/// The client's input and output.
struct Said(String);

/// Plays a session, line by line. A line with an id waits for its response.
fn play(folder: &TempDir, args: &[&str], lines: &[(Option<u64>, String)]) -> Said {
    let mut client = Client::start(folder, args);
    let mut said = String::new();
    for (id, line) in lines {
        writeln!(client.to.as_mut().unwrap(), "{line}").unwrap();
        while let Some(id) = id {
            let before = said.len();
            assert!(client.from.read_line(&mut said).unwrap() > 0, "the end, after {line:?}");
            let answer: Value = serde_json::from_str(&said[before..]).unwrap();
            if answer["id"] == *id && answer.get("method").is_none() {
                break;
            }
        }
    }
    drop(client.to.take());
    std::io::Read::read_to_string(&mut client.from, &mut said).unwrap();
    let (code, stderr) = client.end();
    assert_eq!(code, 0, "{stderr}");
    Said(said)
}

impl Said {
    /// Returns the messages, as split by the most permissive reader.
    fn messages(&self) -> Vec<Value> {
        let lines = self.0.split(ENDS).filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))).collect()
    }
}

/// Checks that the server has run exactly the calls in the log.
fn only_fine_calls(folder: &TempDir, what: &str, count: usize) {
    let ran = noted(folder, "calls");
    assert_eq!(ran, vec![r#"read {"path": "fine"}"#.to_owned(); count], "{what}");
    let (verdict, entries) = log(folder);
    assert_eq!((verdict.as_str(), super::count(&entries, "intent")), ("sound", count), "{what}");
}

/// Tries all manners in one session, followed by a request, so that the server has read them.
fn nothing_is_smuggled(what: &str, mode: &str, args: &[&str], tool: &str, meta: &str) {
    let is_double = args.contains(&"--all-servers");
    let folder = allowing(mode, is_double);
    let mut lines = Vec::new();
    for (_, id, line) in ways(tool, meta) {
        lines.push((id, line));
    }
    let open = if meta.is_empty() { String::new() } else { format!(r#","params":{{"_meta":{{{meta}}}}}"#) };
    lines.push((Some(11), format!(r#"{{"jsonrpc":"2.0","id":11,"method":"tools/list"{open}}}"#)));
    let said = play(&folder, args, &lines);
    let is_enforced = args.contains(&"enforce");
    only_fine_calls(&folder, what, usize::from(!is_enforced));
    assert!(said.messages().iter().all(|message| message["id"] != 10), "{what}");
}

#[test]
fn a_carriage_return_smuggles_no_call_to_a_server_in_text_mode() {
    let folder = allowing("lines", false);
    let mut calls = 0;
    for (what, id, line) in ways("read", "") {
        let list = (Some(11), r#"{"jsonrpc":"2.0","id":11,"method":"tools/list"}"#.to_owned());
        let said = play(&folder, &[], &[(id, line), list]);
        calls += usize::from(what == "an allowed call");
        only_fine_calls(&folder, what, calls);
        assert!(said.messages().iter().all(|message| message["id"] != 10), "{what}");
    }
}

#[test]
fn nor_in_the_era_without_a_handshake() {
    let meta =
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    nothing_is_smuggled("without a handshake", "lines", &[], "read", meta);
}

#[test]
fn nor_to_one_of_several_servers() {
    nothing_is_smuggled("several servers", "lines", &["--all-servers"], "files__read", "");
}

#[test]
fn nor_where_an_episode_is_enforced() {
    let args = ["--episode", "enforce", "--episode-log", "episodes.jsonl"];
    nothing_is_smuggled("an episode", "lines", &args, "read", "");
}

#[test]
fn nor_where_rules_are_only_tried() {
    nothing_is_smuggled("shadow", "lines", &["--shadow"], "read", "");
}

#[test]
fn nor_to_a_server_of_the_official_package() {
    if Need::PythonClient.path().is_none() {
        return;
    }
    nothing_is_smuggled("the official package", "official", &[], "read", "");
}

/// Whatever a server puts between carriage returns, a client reads only the responses to its own requests.
#[test]
fn a_carriage_return_forges_no_answer_for_a_client() {
    for (args, tool) in [(&[][..], "read"), (&["--all-servers"], "files__read"), (&["--shadow"], "read")] {
        let folder = allowing("forges", args.contains(&"--all-servers"));
        let request = |id: u64, method: &str, params: Value| {
            (Some(id), json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
        };
        let mut lines = vec![
            request(1, "tools/list", json!({})),
            request(2, "tools/call", json!({"name": tool, "arguments": {"path": "fine"}})),
            request(3, "prompts/list", json!({})),
        ];
        // It is unknown which of several servers is meant.
        if args != ["--all-servers"] {
            lines.extend([request(4, "x/asks", json!({})), request(5, "resources/list", json!({}))]);
        }
        let messages = play(&folder, args, &lines).messages();
        let asked: Vec<_> = lines.iter().filter_map(|(id, _)| *id).collect();
        let answers: Vec<_> = messages.iter().filter(|message| message.get("method").is_none()).collect();
        let ids: Vec<_> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
        assert_eq!(ids, asked, "{args:?}");
        for answer in answers {
            assert_ne!(answer["result"]["content"][0]["text"], "forged", "{args:?}");
        }
        only_fine_calls(&folder, "an answer", 1);
    }
}
