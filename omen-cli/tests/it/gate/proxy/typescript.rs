//! The official TypeScript package and the official conformance suite, with and without the proxy. `.ci/run` says how to
//! install them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::official::{allowing, official, say};
use super::*;

/// Names the folder with the `node_modules` of the package, the suite, and the Node.js that the suite needs.
const PACKAGES: &str = "OMEN_MCP_CONFORMANCE";

fn packages() -> Option<PathBuf> {
    let folder = std::env::var_os(PACKAGES).map(PathBuf::from);
    if folder.is_none() {
        say(&format!("{PACKAGES} is not set: the TypeScript client and the conformance suite are not tried"));
    }
    folder
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy").join(name)
}

/// What the client prints, line by line.
fn client(packages: &Path, mode: &str, command: &[String], folder: &TempDir) -> Vec<String> {
    let mut client = std::process::Command::new("node");
    client.arg(script("client.mjs")).arg(packages).arg(mode).args(command).current_dir(folder);
    let output = client.output().expect("node starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said.lines().map(str::to_owned).collect()
}

#[test]
fn the_typescript_client_has_the_same_session_and_confirms_what_its_user_does() {
    let Some(packages) = packages() else { return };
    let Some(command) = official("server-everything", &[]) else { return };
    let folder = folder(&[]);
    let bare = client(&packages, "bare", &command, &folder);
    allowing(&command, &folder, &["get-sum"], &["get-env"]);
    let omen = env!("CARGO_BIN_EXE_omen");
    let through = [omen, "gate", "proxy", "--config", "gate.toml", "--no-socket", "--elicitation"].map(str::to_owned);
    let gated = client(&packages, "gated", &through, &folder);
    // The same, but for the one tool that is not allowed.
    assert_eq!(bare[0], "tools: many true");
    assert_eq!(gated[0], "tools: many false");
    let (same, more) = gated.split_at(bare.len());
    assert_eq!(same[1..], bare[1..]);
    assert_eq!(
        bare[1..],
        [
            "echo: Echo: \u{e9}",
            "structured: conditions,humidity,temperature",
            "progress: true",
            "cancelled: true",
            "echo: Echo: still here"
        ]
    );
    assert_eq!(
        more,
        [
            "asked about files/get-sum",
            "confirmed: The sum of 1 and 2 is 3.",
            "asked about files/get-sum",
            "too fast: G3",
            "asked about files/get-sum",
            "declined: G3",
            "not allowed: PG-3",
            "unknown argument: PG-2",
        ]
    );
    let (verdict, entries) = log(&folder);
    assert_eq!(verdict, "sound");
    // Each call that was made has its outcome; the one that was cancelled may have run.
    assert_eq!((count(&entries, "intent"), count(&entries, "outcome")), (6, 6));
    let unknown = entries.iter().filter(|entry| entry["data"]["ran"] == "unknown").count();
    assert_eq!(unknown, 1);
}

/// The results of the suite against a command: by scenario, each check with its status.
fn suite(packages: &Path, command: &[String]) -> BTreeMap<String, Vec<(String, String)>> {
    let mut bridge = std::process::Command::new("node")
        .arg(script("bridge.mjs"))
        .arg(packages)
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let mut url = String::new();
    BufReader::new(bridge.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let results = folder(&[]);
    let mut suite = std::process::Command::new(node_22(packages));
    suite.arg(packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--suite", "all", "--url", url.trim(), "--output-dir"]).arg(results.path());
    // It exits with an error if a check fails; what failed is compared.
    let output = suite.output().expect("the suite starts");
    drop(bridge.stdin.take());
    bridge.wait().unwrap();
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(results.path()).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        // Behind the name of the scenario stands the time, always as long as this.
        let scenario = name[..name.len() - "-2026-11-23T14-42-49-519Z".len()].to_owned();
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(folder.path().join("checks.json")).unwrap()).unwrap();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
        // Notes say what was sent and when, and judge nothing.
        let judged = checks.iter().filter(|check| check["status"] != "INFO");
        let checks = judged.map(|check| (text(check, "id"), text(check, "status")));
        assert!(found.insert(scenario, checks.collect()).is_none(), "{name}");
    }
    assert!(!found.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    found
}

/// The suite uses functions that older ones do not have.
fn node_22(packages: &Path) -> PathBuf {
    let own = ["x64", "arm64"].map(|machine| packages.join(format!("node_modules/node-linux-{machine}/bin/node")));
    own.into_iter().find(|node| node.is_file()).unwrap_or_else(|| "node".into())
}

#[test]
fn the_conformance_suite_has_the_same_results_with_and_without_the_proxy() {
    let Some(packages) = packages() else { return };
    let server = ["node".to_owned(), script("conforming.mjs").to_str().unwrap().to_owned()];
    let folder = folder(&[]);
    allowing(&server, &folder, &[], &[]);
    // A session has a proxy of its own, and so a log of its own.
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
    let open = ["--pass", "sampling,secrets,urls,subscriptions,tasks"];
    let (bare, through, strict) = std::thread::scope(|scope| {
        let bare = scope.spawn(|| suite(&packages, &server));
        let through = scope.spawn(|| suite(&packages, &proxied(&open)));
        let strict = scope.spawn(|| suite(&packages, &proxied(&[])));
        (bare.join().unwrap(), through.join().unwrap(), strict.join().unwrap())
    });
    assert_eq!(bare.len(), 32);
    let failed = |results: &BTreeMap<String, Vec<(String, String)>>| -> Vec<String> {
        let failed = results.iter().filter(|(_, checks)| checks.iter().any(|(_, status)| status == "FAILURE"));
        failed.map(|(scenario, _)| scenario.clone()).collect()
    };
    assert_eq!(failed(&bare), Vec::<String>::new());
    for (scenario, checks) in &bare {
        assert_eq!(Some(checks), through.get(scenario), "{scenario}");
    }
    // By default, the proxy does not let pass what could act without being a call: docs/proxy.md lists these.
    assert_eq!(
        failed(&strict),
        ["server-resources-subscribe", "server-resources-unsubscribe", "server-tools-call-sampling"]
    );
}
