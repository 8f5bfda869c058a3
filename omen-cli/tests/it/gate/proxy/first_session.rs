//! The first session in the README and on the page about the proxy: an operator without a line of Rust, with an official server
//! from npm. `OMEN_BLESS=1` updates both.

use regex::{Captures, Regex};

use super::*;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md");
/// First command of both; in the test the server has another path.
const INIT: &str = "omen gate init --allow read_text_file -- mcp-server-filesystem ./data";

/// Replaces times, the ids of sessions, and the folder, which differ in each run.
fn with_fixed_names(text: &str, folder: &Path) -> String {
    let time = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").unwrap();
    let session = Regex::new(r"proxy-\d{19}-\d+(\.\d+)? *").unwrap();
    // The sizes depend on the length of the ids and the folder.
    let bytes = Regex::new(r"in \d+ bytes").unwrap();
    let hash = Regex::new(r"call [0-9a-f]{64}").unwrap();
    let text = time.replace_all(text, "2026-11-23T10:00:00.000Z");
    let text = bytes.replace_all(&text, "in 6039 bytes");
    let text = hash.replace_all(&text, "call 72919c865b03bc4627f00b4e63e05d3ff1404711dec6707aa2ab17c851281353");
    // In a column of fixed width.
    let session_of = |found: &Captures<'_>| {
        let call = found.get(1).map_or("", |call| call.as_str());
        format!("{:<35}", format!("proxy-1795428000000000000-4711{call}"))
    };
    let text = session.replace_all(&text, session_of).into_owned();
    let text = text.replace(folder.to_str().unwrap(), "/home/me");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns the block of a page with this beginning.
#[track_caller]
fn block<'p>(page: &'p str, beginning: &str) -> &'p str {
    let start = page.find(&format!("```text\n{beginning}")).expect(beginning) + "```text\n".len();
    page[start..].split("\n```").next().unwrap()
}

/// Compares blocks of a page, each identified by its beginning, with the output, or updates them.
#[track_caller]
fn compare(path: &str, blocks: &[(&str, &str)]) {
    let page = fs::read_to_string(path).unwrap();
    assert!(page.contains(INIT), "{path} begins with `{INIT}`");
    let mut blessed = page.clone();
    for (beginning, printed) in blocks {
        let shown = block(&page, beginning);
        if std::env::var_os("OMEN_BLESS").is_some() {
            blessed = blessed.replace(shown, printed);
        } else {
            assert_eq!(shown, *printed, "{path}");
        }
    }
    if blessed != page {
        fs::write(path, blessed).unwrap();
    }
}

#[test]
fn it_is_what_the_pages_show() {
    let Some(servers) = Need::McpServers.path() else { return };
    let server = servers.join("node_modules/.bin/mcp-server-filesystem");
    let folder = folder(&[]);
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.txt"), "hello\n").unwrap();
    let args: Vec<_> = INIT.split(' ').skip(2).collect();
    let args: Vec<_> = args
        .into_iter()
        .map(|arg| if arg == "mcp-server-filesystem" { server.to_str().unwrap() } else { arg })
        .collect();
    let init = gate(&folder, &args);
    assert_eq!(init.code, 0, "{}", init.stderr);
    let check = gate(&folder, &["check", "--config", "gate.toml"]);
    assert!(check.stdout.starts_with("gate.toml: 0 errors, 0 warnings\n"), "{}", check.stdout);

    let mut client = Client::start(&folder, &[]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = client.ask(1, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1, "{listed}");
    let note = root.join("data/a.txt");
    let read = client.call(2, "read_text_file", json!({"path": note}));
    assert_eq!(read["result"]["content"][0]["text"], "hello\n", "{read}");
    let mut refused = |id, tool: &str, arguments: Value| {
        client.call(id, tool, arguments)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let write = refused(3, "write_file", json!({"path": note, "content": "gone"}));
    let outside = refused(4, "read_text_file", json!({"path": "/etc/passwd"}));
    assert_eq!(client.close().0, 0);
    assert_eq!(fs::read_to_string(folder.path().join("data/a.txt")).unwrap(), "hello\n");

    let audit = |what: &str, filter: &[&str]| {
        let args = [&["audit", what, "--key-file", "audit.key"], filter, &["audit.jsonl"]].concat();
        let run = run(omen(args.iter().copied()).current_dir(&folder));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        with_fixed_names(&format!("$ omen {}\n{}", args.join(" "), run.stdout), &root)
    };
    let of_server = audit("show", &["--server", "filesystem"]);
    compare(README, &[("Refused by", &write), ("$ omen audit show", &of_server)]);
    let (all, counts) = (audit("show", &[]), audit("stats", &[]));
    compare(
        PAGE,
        &[
            ("Refused by the gate (PG-3): `/path`", &outside),
            ("$ omen audit show", &all),
            ("$ omen audit stats", &counts),
        ],
    );
}
