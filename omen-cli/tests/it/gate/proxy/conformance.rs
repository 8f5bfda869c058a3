//! The official conformance suite, with and without the proxy, for both eras of the protocol. `.ci/run` documents the
//! installation.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::http::Listening;
use super::official::{allowing, allowing_of};
use super::typescript::{conforming_2026, script};
use super::*;

/// Checks and their status, by scenario.
type Results = BTreeMap<String, Vec<(String, String)>>;

/// A command that prints the address at which it serves, until its input is closed.
struct Serving {
    process: Child,
    url: String,
}

impl Serving {
    fn start(command: &mut std::process::Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Returns the results of the suite against a server.
fn suite(packages: &Path, package: &str, what: &[&str], url: &str) -> Results {
    let results = folder(&[]);
    let mut suite = std::process::Command::new(node_22(packages));
    suite.arg(packages.join("node_modules").join(package).join("dist/index.js"));
    suite.arg("server").args(what).args(["--url", url, "--output-dir"]).arg(results.path());
    // The exit code is an error if a check fails; the test compares the failures.
    let output = suite.output().expect("the suite starts");
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(results.path()).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        // The name of the scenario is followed by the time, which has a fixed length.
        let scenario = name[..name.len() - "-2026-11-23T14-42-49-519Z".len()].to_owned();
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(folder.path().join("checks.json")).unwrap()).unwrap();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
        // Notes record messages, and judge nothing.
        let judged = checks.iter().filter(|check| check["status"] != "INFO");
        let checks = judged.map(|check| (text(check, "id"), text(check, "status")));
        assert!(found.insert(scenario, checks.collect()).is_none(), "{name}");
    }
    assert!(!found.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    found
}

/// Returns a Node.js with the functions that the suite needs.
fn node_22(packages: &Path) -> PathBuf {
    let own = ["x64", "arm64"].map(|machine| packages.join(format!("node_modules/node-linux-{machine}/bin/node")));
    own.into_iter().find(|node| node.is_file()).unwrap_or_else(|| "node".into())
}

fn failed(results: &Results) -> Vec<&str> {
    let failed = results.iter().filter(|(_, checks)| checks.iter().any(|(_, status)| status == "FAILURE"));
    failed.map(|(scenario, _)| scenario.as_str()).collect()
}

#[test]
fn the_conformance_suite_has_the_same_results_with_and_without_the_proxy() {
    let Some(packages) = Need::Conformance.path() else { return };
    let server = ["node".to_owned(), script("conforming.mjs").to_str().unwrap().to_owned()];
    let folder = folder(&[]);
    allowing(&server, &folder, &[], &[]);
    // A session has its own proxy, and so its own log.
    let omen = env!("CARGO_BIN_EXE_omen");
    let start = format!(
        "d=$(mktemp -d \"$PWD/session.XXXXXX\") && cp gate.toml audit.key \"$d\" && \
         exec '{omen}' gate proxy --config \"$d/gate.toml\" --no-socket \"$@\""
    );
    let proxied = |more: &[&str]| {
        let cd = format!("cd '{}' && {start}", folder.path().display());
        let words = ["sh", "-c", &cd, "sh"].into_iter().chain(more.iter().copied());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let over_http = |command: &[String]| {
        let mut bridge = std::process::Command::new("node");
        let serving = Serving::start(bridge.arg(script("bridge.mjs")).arg(&packages).args(command));
        suite(&packages, "@modelcontextprotocol/conformance", &["--suite", "all"], &serving.url)
    };
    let open = ["--pass", "sampling,secrets,urls,subscriptions,tasks"];
    let (bare, through, strict) = std::thread::scope(|scope| {
        let bare = scope.spawn(|| over_http(&server));
        let through = scope.spawn(|| over_http(&proxied(&open)));
        let strict = scope.spawn(|| over_http(&proxied(&[])));
        (bare.join().unwrap(), through.join().unwrap(), strict.join().unwrap())
    });
    assert_eq!(bare.len(), 32);
    assert_eq!(failed(&bare), Vec::<&str>::new());
    for (scenario, checks) in &bare {
        assert_eq!(Some(checks), through.get(scenario), "{scenario}");
    }
    // By default, the proxy blocks actions that are not calls, as listed in docs/proxy.md.
    assert_eq!(
        failed(&strict),
        ["server-resources-subscribe", "server-resources-unsubscribe", "server-tools-call-sampling"]
    );
}

#[test]
fn the_conformance_suite_of_2026_has_the_same_results_with_and_without_the_proxy() {
    let Some(packages) = Need::Conformance.path() else { return };
    let command = conforming_2026(&packages, "http");
    let server = Serving::start(std::process::Command::new(&command[0]).args(&command[1..]));
    let started = folder(&[]);
    allowing(&conforming_2026(&packages, "stdio"), &started, &[], &[]);
    let reached = folder(&[]);
    allowing_of(&format!("url = '{}'\n", server.url), &reached, &[], &[]);
    let strict = folder(&[]);
    allowing(&conforming_2026(&packages, "stdio"), &strict, &[], &[]);
    let required = |url: &str| {
        let mut results = suite(&packages, "conformance-2026", &["--requirements", "2026-07-28"], url);
        // An extension that the official package does not have.
        results.retain(|scenario, _| !scenario.starts_with("server-tasks-"));
        results
    };
    let through = |folder: &TempDir, pass: &[&str]| {
        let proxy = Listening::start(folder, pass);
        let results = required(&format!("http://{}/mcp", proxy.address));
        proxy.signal("-TERM");
        proxy.end();
        assert_eq!(log(folder).0, "sound");
        results
    };
    let open = ["--pass", "sampling,secrets,urls,subscriptions,roots"];
    let (bare, started, reached, strict) = std::thread::scope(|scope| {
        let bare = scope.spawn(|| required(&server.url));
        let started = scope.spawn(|| through(&started, &open));
        let reached = scope.spawn(|| through(&reached, &open));
        let strict = scope.spawn(|| through(&strict, &[]));
        (bare.join().unwrap(), started.join().unwrap(), reached.join().unwrap(), strict.join().unwrap())
    });
    assert_eq!(bare.len(), 40);
    assert_eq!(failed(&bare), Vec::<&str>::new());
    for (scenario, checks) in &bare {
        assert_eq!(Some(checks), started.get(scenario), "{scenario}, in front of a process");
        assert_eq!(Some(checks), reached.get(scenario), "{scenario}, in front of an address");
    }
    // By default, servers do not use the client's model and folders, and clients do not subscribe, as listed in docs/proxy.md.
    assert_eq!(
        failed(&strict),
        [
            "server-input-required-result-basic-list-roots",
            "server-input-required-result-basic-sampling",
            "server-input-required-result-capability-check",
            "server-input-required-result-multiple-input-requests",
            "server-server-stateless",
        ]
    );
}
