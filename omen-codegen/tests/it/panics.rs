//! A panic in a dependency becomes an ordinary mistake, and is not printed.
//!
//! The lint phase refuses everything that typify, syn and quote are known not to support. These schemas bypass it.

use std::process::Command;

use omen_codegen::load::SchemaSet;
use omen_codegen::mistake::Mistakes;
use omen_codegen::model::Model;
use serde_json::{Value, json};

#[test]
fn a_panic_comes_back_as_a_mistake() {
    // typify panics. The text comes from this crate, so the case is still a panic.
    check(conditional(), "no Rust type can be declared for `Pace`");
    check(conditional(), "if/then/else schemas are not supported");
    check(conditional(), "common.schema.json:");
    check(conditional(), "at: /$defs/Pace\n");
}

#[test]
fn what_rust_cannot_express_is_a_mistake() {
    check(enumeration(&["SO-SO", "SO_SO"]), "unique variant names for [SO-SO,SO_SO]");
    let dangling = json!({ "$ref": "#/$defs/Nothing", "description": "A reference to nothing." });
    check(object("way", &dangling), "Nothing is missing");
}

#[test]
fn nothing_is_printed() {
    // The output of a test is captured in this process, so another process runs it.
    let this = std::env::current_exe().unwrap();
    let test = "panics::a_panic_comes_back_as_a_mistake";
    let output = Command::new(this).args(["--exact", test, "--nocapture", "--test-threads=1"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("1 passed"), "{stdout}{stderr}");
    assert_eq!(stderr, "");
    assert!(!stdout.contains("panicked"), "{stdout}");
}

#[test]
fn other_threads_may_go_on_to_complain() {
    assert!(build(conditional()).is_err());
    let before = std::panic::take_hook();
    let (heard, says) = std::sync::mpsc::channel();
    let heard = std::sync::Mutex::new(heard);
    std::panic::set_hook(Box::new(move |panic| drop(heard.lock().map(|heard| heard.send(panic.to_string())))));
    let _ = std::thread::spawn(|| panic!("heard")).join();
    std::panic::set_hook(before);
    assert!(says.recv().unwrap().contains("heard"));
}

#[track_caller]
fn check(pace: Value, says: &str) {
    match build(pace) {
        Ok(_) => panic!("{says}: no mistake"),
        Err(mistakes) => {
            let text = mistakes.to_string();
            assert!(text.contains(says), "{says}: {text}");
        }
    }
}

/// Builds the model of the real files with one more definition, without linting.
fn build(pace: Value) -> Result<Model, Mistakes> {
    let mut files: Vec<_> = omen_schema::FILES.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    for (path, text) in &mut files {
        if *path == "common.schema.json" {
            let mut common: Value = serde_json::from_str(text).unwrap();
            common["$defs"]["Pace"] = pace.clone();
            *text = common.to_string();
        }
    }
    Model::build(&SchemaSet::load(files.iter().map(|(path, text)| (*path, text.as_str())))?)
}

fn conditional() -> Value {
    let mut pace = object("way", &json!({ "type": "string", "description": "Which way." }));
    pace["if"] = json!({ "required": ["way"] });
    pace
}

fn object(member: &str, schema: &Value) -> Value {
    json!({
        "description": "How fast to go.",
        "type": "object",
        "additionalProperties": false,
        "properties": { member: schema },
        "required": [member],
    })
}

fn enumeration(values: &[&str]) -> Value {
    let branch = |wire| json!({ "type": "string", "enum": [wire], "description": "A value." });
    json!({ "description": "How fast to go.", "oneOf": values.iter().map(branch).collect::<Vec<_>>() })
}
