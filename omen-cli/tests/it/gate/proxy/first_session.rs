//! What the README shows of a first session: an operator without a line of Rust, with an official server from npm.
//! `OMEN_BLESS=1` updates it.

use regex::{Captures, Regex};

use super::*;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");

/// Times, the ids of sessions, and the folder are different each time.
fn with_fixed_names(text: &str, folder: &Path) -> String {
    let time = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").unwrap();
    let session = Regex::new(r"proxy-\d{19}-\d+(\.\d+)? *").unwrap();
    // They depend on how long the ids and the folder are.
    let bytes = Regex::new(r"in \d+ bytes").unwrap();
    let text = time.replace_all(text, "2026-11-23T10:00:00.000Z");
    let text = bytes.replace_all(&text, "in 5266 bytes");
    // In a column, which is as wide as it always is.
    let session_of = |found: &Captures<'_>| {
        let call = found.get(1).map_or("", |call| call.as_str());
        format!("{:<35}", format!("proxy-1795428000000000000-4711{call}"))
    };
    let text = session.replace_all(&text, session_of).into_owned();
    let text = text.replace(folder.to_str().unwrap(), "/home/me");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The block of the README that begins so.
#[track_caller]
fn block<'r>(readme: &'r str, beginning: &str) -> &'r str {
    let start = readme.find(&format!("```text\n{beginning}")).expect(beginning) + "```text\n".len();
    readme[start..].split("\n```").next().unwrap()
}

#[test]
fn it_is_what_the_readme_shows() {
    let Some(servers) = Need::McpServers.path() else { return };
    let server = servers.join("node_modules/.bin/mcp-server-filesystem");
    let folder = folder(&[]);
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.txt"), "hello\n").unwrap();
    let init = gate(&folder, &["init", "--", server.to_str().unwrap(), "./data"]);
    assert_eq!(init.code, 0, "{}", init.stderr);

    // The operator allows a tool.
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    let entry = "#[[allow]]\n#server = \"filesystem\"\n#tool = \"read_text_file\"\n";
    let start = text.find(entry).unwrap();
    let end = start + text[start..].find("\n\n").unwrap();
    let allowed = text[start..end].lines().map(|line| line.trim_start_matches('#')).collect::<Vec<_>>().join("\n");
    fs::write(&path, [&text[..start], &allowed, &text[end..]].concat()).unwrap();
    let check = gate(&folder, &["check", "--config", "gate.toml"]);
    assert!(check.stdout.starts_with("gate.toml: 0 errors, 0 warnings\n"), "{}", check.stdout);

    let mut client = Client::start(&folder, &[]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = client.ask(1, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1, "{listed}");
    let note = root.join("data/a.txt");
    let read = client.call(2, "read_text_file", json!({"path": note}));
    assert_eq!(read["result"]["content"][0]["text"], "hello\n", "{read}");
    let refused = client.call(3, "write_file", json!({"path": note, "content": "gone"}));
    let refused = refused["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(client.close().0, 0);
    assert_eq!(fs::read_to_string(folder.path().join("data/a.txt")).unwrap(), "hello\n");

    let audit = |what: &str| {
        let args = ["audit", what, "--key-file", "audit.key", "audit.jsonl"];
        let run = run(omen(args).current_dir(&folder));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        with_fixed_names(&format!("$ omen {}\n{}", args.join(" "), run.stdout), &root)
    };
    let readme = fs::read_to_string(README).unwrap();
    let mut blessed = readme.clone();
    for (beginning, now) in
        [("Refused by", refused), ("$ omen audit show", audit("show")), ("$ omen audit stats", audit("stats"))]
    {
        let shown = block(&readme, beginning);
        if std::env::var_os("OMEN_BLESS").is_some() {
            blessed = blessed.replace(shown, &now);
        } else {
            assert_eq!(shown, now);
        }
    }
    if blessed != readme {
        fs::write(README, blessed).unwrap();
    }
}
