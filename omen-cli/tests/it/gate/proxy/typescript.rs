//! Official TypeScript packages, one for each era of the protocol, with and without the proxy. `.ci/install conformance` installs
//! them.

use std::path::PathBuf;

use super::official::{allowing, official};
use super::*;

pub(super) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy").join(name)
}

/// Returns the lines that the client prints.
fn client(name: &str, packages: &Path, mode: &str, command: &[String], folder: &TempDir) -> Vec<String> {
    let mut client = std::process::Command::new("node");
    client.arg(script(name)).arg(packages).arg(mode).args(command).current_dir(folder);
    let output = client.output().expect("node starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said.lines().map(str::to_owned).collect()
}

#[test]
fn the_typescript_client_has_the_same_session_and_confirms_what_its_user_does() {
    let Some(packages) = Need::Conformance.path() else { return };
    let Some(command) = official("server-everything", &[]) else { return };
    let folder = folder(&[]);
    let bare = client("client.mjs", &packages, "bare", &command, &folder);
    allowing(&command, &folder, &["get-sum"], &["get-env"]);
    let omen = env!("CARGO_BIN_EXE_omen");
    let through = [omen, "gate", "proxy", "--config", "gate.toml", "--no-socket", "--elicitation"].map(str::to_owned);
    let gated = client("client.mjs", &packages, "gated", &through, &folder);
    // The output is the same, except for the one tool that is not allowed.
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
    // Each call that was made has its outcome; the cancelled one may have run.
    assert_eq!((count(&entries, "intent"), count(&entries, "outcome")), (6, 6));
    let unknown = entries.iter().filter(|entry| entry["data"]["ran"] == "unknown").count();
    assert_eq!(unknown, 1);
}

#[test]
fn the_typescript_client_of_2026_has_the_same_session_and_confirms_what_its_user_does() {
    let Some(packages) = Need::Conformance.path() else { return };
    let command = conforming_2026(&packages, "stdio");
    let folder = folder(&[]);
    let bare = client("client_2026.mjs", &packages, "bare", &command, &folder);
    allowing(&command, &folder, &["test_x_mcp_header"], &["test_audio_content"]);
    let omen = env!("CARGO_BIN_EXE_omen");
    let through = [omen, "gate", "proxy", "--config", "gate.toml", "--no-socket", "--elicitation"].map(str::to_owned);
    let gated = client("client_2026.mjs", &packages, "gated", &through, &folder);
    assert_eq!((bare[1].as_str(), gated[1].as_str()), ("tools: many true", "tools: many false"));
    let (same, more) = gated.split_at(bare.len());
    assert_eq!((&same[0], &same[2..]), (&bare[0], &bare[2..]));
    assert_eq!(bare[0], "version: 2026-07-28");
    assert_eq!(
        bare[2..],
        [
            "text: This is a simple text response for testing.",
            "error: true",
            "progress: true",
            "two rounds: Hello, Ada!",
            "prompt: 1",
            "resource: This is the content of the static text resource."
        ]
    );
    assert_eq!(
        more,
        [
            "asked about files/test_x_mcp_header",
            "confirmed: region: eu",
            "asked about files/test_x_mcp_header",
            "too fast: G3",
            "asked about files/test_x_mcp_header",
            "declined: G3",
            "not allowed: PG-3",
        ]
    );
    let (verdict, entries) = log(&folder);
    assert_eq!(verdict, "sound");
    // A call in two rounds is recorded as two.
    assert_eq!((count(&entries, "intent"), count(&entries, "outcome")), (6, 6));
}

/// Returns the command of the server with the official package of 2026-07-28: on its standard streams, or over HTTP.
pub(super) fn conforming_2026(packages: &Path, transport: &str) -> Vec<String> {
    let script = script("conforming_2026.mjs");
    ["node", script.to_str().unwrap(), packages.to_str().unwrap(), transport].map(str::to_owned).into()
}
