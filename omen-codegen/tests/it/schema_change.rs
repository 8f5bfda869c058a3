//! A field added to a schema appears, after a plain build, in the type, its builder and its check,
//! with no Rust edited.
//!
//! The crates from the schema to the packet types are copied, one schema file is changed, and a
//! program that uses the new members is built and run. The copy stays where it is, so that only the
//! first run has to build all of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::edits;

const SCHEMA: &str = "schema/v0.7/packets/ObservationPacket.schema.json";
const TYPES: [&str; 4] = ["schema", "omen-codegen", "omen-types", "testkit"];
const TYPED_API: [&str; 6] = ["schema", "omen-codegen", "omen-types", "omen-invariants", "omen-fsm", "testkit"];

#[test]
fn a_field_added_to_a_schema_appears_everywhere() {
    let mut trial = Trial::of_workspace("schema_change", &TYPES);
    trial.write(SCHEMA, &changed(&read(SCHEMA)));
    trial.write("program/Cargo.toml", PROGRAM);
    trial.write("program/src/bin/uses.rs", include_str!("../schema_change/uses.rs"));
    trial.write("program/src/bin/leaves_out.rs", include_str!("../schema_change/leaves_out.rs"));
    trial.tidy(&trial.root);

    let output = trial.cargo(&["run", "--bin", "uses"], &packets());
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success(), "{stdout}{stderr}");
    assert_eq!(stdout, EXPECTED, "{stderr}");

    let output = trial.cargo(&["build", "--bin", "leaves_out"], "");
    let (_, stderr) = texts(&output);
    assert!(!output.status.success(), "a required member may be left out");
    assert!(stderr.contains("error[E0277]") && stderr.contains("sample_size"), "{stderr}");
}

/// Shows what generated tokens cannot: no hand-written code names all members of an object or all values of an enum, so
/// that additions to the schema do not break it, and programs can use them.
#[test]
fn additions_to_the_schema_break_no_rust_and_are_there_in_the_typed_api() {
    let mut trial = Trial::of_workspace("schema_additions", &TYPED_API);
    for (file, text) in edits::additions() {
        trial.write(file, &text);
    }
    trial.write(
        "program/Cargo.toml",
        &format!("{PROGRAM}omen-fsm = {{ workspace = true }}\nomen-invariants = {{ workspace = true }}\n"),
    );
    trial.write("program/src/main.rs", include_str!("../schema_change/typed.rs"));
    trial.tidy(&trial.root);
    let (stdout, stderr) = texts(&trial.cargo(&["build"], ""));
    assert!(stdout.is_empty() && stderr.is_empty(), "{stdout}{stderr}");
}

/// Returns the schema of observations with additional members, two of which have reserved names.
fn changed(text: &str) -> String {
    let mut schema: Value = serde_json::from_str(text).unwrap();
    let payload = &mut schema["$defs"]["ObservationPayload"];
    payload["properties"]["sample_size"] =
        json!({ "$ref": "#/$defs/SampleSize", "description": "How many were seen." });
    payload["properties"]["lighting"] = json!({ "$ref": "#/$defs/Lighting", "description": "How bright it was." });
    payload["properties"]["witnesses"] =
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "Who saw it, too." });
    for name in ["type", "self"] {
        payload["properties"][name] = json!({ "type": "string", "description": "A keyword of Rust." });
    }
    payload["required"].as_array_mut().unwrap().push(json!("sample_size"));
    schema["$defs"]["SampleSize"] =
        json!({ "type": "integer", "minimum": 1, "maximum": 1000, "description": "How many were seen." });
    schema["$defs"]["Lighting"] = json!({
        "description": "How bright it was.",
        "oneOf": [
            { "type": "string", "enum": ["DAY"], "description": "Bright." },
            { "type": "string", "enum": ["NIGHT"], "description": "Dark." },
        ],
    });
    format!("{schema:#}")
}

/// Returns an observation without the new members, and with them in several forms.
fn packets() -> String {
    let log = omen_schema::example("valid/read-only.jsonl").unwrap();
    let packet: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    [
        json!({}),
        json!({ "sample_size": 12 }),
        json!({ "sample_size": 1000, "lighting": "DAY", "witnesses": ["the cat"] }),
        json!({ "sample_size": 0, "lighting": "NIHGT", "witnesses": [] }),
    ]
    .into_iter()
    .map(|members| {
        let mut packet = packet.clone();
        packet["payload"].as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        format!("{packet}\n")
    })
    .collect()
}

fn texts(output: &Output) -> (String, String) {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).into()
}

/// Copy of a part of the workspace.
struct Trial {
    root: PathBuf,
    /// Files that belong to it.
    files: BTreeSet<PathBuf>,
}

impl Trial {
    /// Copies the crates' sources and their common manifest.
    fn of_workspace(name: &str, packages: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut trial = Self { root, files: BTreeSet::new() };
        trial.write("Cargo.toml", &with_members(&read("Cargo.toml"), packages));
        trial.write("Cargo.lock", &read("Cargo.lock"));
        for package in packages {
            trial.copy(Path::new(package));
        }
        trial
    }

    fn copy(&mut self, folder: &Path) {
        for entry in fs::read_dir(workspace().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if !entry.file_type().unwrap().is_dir() {
                self.write(&path, &read(&path));
            } else if !["tests", "benches", "target"].iter().any(|name| path.ends_with(name)) {
                self.copy(&path);
            }
        }
    }

    /// Writes a file unless it is unchanged, because cargo rebuilds newer files.
    fn write(&mut self, path: impl AsRef<Path>, text: &str) {
        let path = self.root.join(path);
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
        self.files.insert(path);
    }

    /// Removes files that an earlier run wrote and this one did not.
    fn tidy(&self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if !entry.file_type().unwrap().is_dir() {
                if !self.files.contains(&path) {
                    fs::remove_file(path).unwrap();
                }
            } else if !path.ends_with("target") {
                self.tidy(&path);
            }
        }
    }

    fn cargo(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = omen_testkit::cargo()
            .args(arguments)
            .args(["--quiet", "--offline", "--package", "program", "--target-dir", TARGET])
            .current_dir(&self.root)
            .envs(omen_testkit::programs::PROFILE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The pipe has no reader if the build fails.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }
}

/// Returns the manifest of the workspace, with the copied packages and the program as members.
fn with_members(manifest: &str, packages: &[&str]) -> String {
    let mut members = packages.to_vec();
    members.push("program");
    // Without the profiles, the generator is built as for `trybuild`.
    let mut manifest = manifest.split("\n[profile.").next().unwrap().to_owned();
    for key in ["\nmembers = ", "\ndefault-members = "] {
        let start = manifest.find(key).unwrap() + key.len();
        let end = start + manifest[start..].find(']').unwrap() + 1;
        manifest.replace_range(start..end, &format!("{members:?}"));
    }
    manifest
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Target folder relative to a copy. All copies and the tests with `trybuild` share it, because all of them build what the
/// generator depends on.
const TARGET: &str = "../../tests/trybuild";

/// Expected output of the program.
const EXPECTED: &str = r#"built {"data":{"value":1},"lighting":"NIGHT","observation_type":"tool_output","sample_size":12,"self":"me","type":"glance","witnesses":["the cat"]}
checked /witnesses
  expected at least 1 element in `witnesses`, found 0
bounds 1 to 1000
new false
refused /payload
  missing field `sample_size` in ObservationPayload
accepted pkt_obs_1
accepted pkt_obs_1
refused /payload/lighting /payload/sample_size /payload/witnesses
  invalid value `NIHGT` for `lighting`; expected one of `DAY`, `NIGHT`
  invalid value `0` for `sample_size`; expected an integer from 1 to 1000
  expected at least 1 element in `witnesses`, found 0
"#;

/// Manifest of the program.
const PROGRAM: &str = r#"
[package]
name = "program"
version.workspace = true
edition.workspace = true

[dependencies]
omen-types = { workspace = true }
serde_json = { workspace = true }
"#;
