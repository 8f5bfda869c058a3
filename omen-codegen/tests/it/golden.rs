//! Golden pairs: for each `golden/<case>.json`, a few lines of schema, the generated code is exactly
//! `golden/<case>.rs`.
//!
//! A case says what is emitted of it: one definition, or one of the parts of [`emit`]. After an
//! intended change `OMEN_BLESS=1 cargo test -p omen-codegen golden` writes the `.rs` files anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use omen_codegen::Source;
use omen_codegen::emit::{self, Lens, Markers, Setters};
use omen_codegen::lint::lint;
use omen_codegen::load::{DECISIONS_FILE, FSM_FILE, GATE_FILE, RULES_FILE, SchemaSet};
use omen_codegen::mistake::{Mistake, Mistakes};
use omen_codegen::model::Model;
use serde::Deserialize;
use serde_json::value::RawValue;
use similar::TextDiff;

/// One case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// `definition NAME`, `typify`, `packets`, `codes`, `helps CODE ..`, `machine`, `refusals`, `obligations`, `verification_loop`,
    /// `layers`, `episode`, `gate`, `pipeline`, `markers`, `predicates` or `setters`.
    emit: String,
    /// Members that facts keep; none by default.
    lens: Option<Box<RawValue>>,
    /// Marker types; none by default.
    markers: Option<Box<RawValue>>,
    /// Types of the typed API; required for `setters`.
    setters: Option<Box<RawValue>>,
    /// Functions of moves or steps, by method.
    #[serde(default)]
    moves: BTreeMap<String, Vec<String>>,
    /// Files by path, as text to preserve the order of members. Whatever else the model needs is added.
    files: BTreeMap<String, Box<RawValue>>,
}

#[test]
fn generated_code_is_as_reviewed() {
    let bless = std::env::var_os("OMEN_BLESS").is_some_and(|value| value == "1");
    let mut drift = String::new();
    for name in cases("json") {
        let made = generate(&name).unwrap_or_else(|mistakes| panic!("{name}: {mistakes}"));
        let path = folder().join(&name).with_extension("rs");
        let reviewed = fs::read_to_string(&path).unwrap_or_default();
        if made.as_str() == reviewed {
            continue;
        }
        if bless {
            fs::write(&path, made.as_str()).unwrap();
        } else {
            let diff = TextDiff::from_lines(reviewed.as_str(), made.as_str());
            drift += &diff.unified_diff().header(&format!("golden/{name}.rs"), "generated now").to_string();
        }
    }
    assert!(drift.is_empty(), "{drift}\nIf this is intended: OMEN_BLESS=1 cargo test -p omen-codegen golden");
}

#[test]
fn each_case_is_a_pair() {
    assert_eq!(cases("json"), cases("rs"));
}

/// The lint phase accepts the definitions; only the other files are missing.
#[test]
fn definitions_of_cases_have_no_mistake() {
    let elsewhere = ["unused-definition", "unknown-code"];
    for name in cases("json") {
        let case = read(&name);
        if case.emit.starts_with("definition ") {
            let found = lint(&load(&case).unwrap()).unwrap_err();
            let in_defs = |mistake: &&Mistake| mistake.pointer.starts_with("/$defs/");
            let own: Vec<_> =
                found.iter().filter(in_defs).filter(|mistake| !elsewhere.contains(&mistake.kind)).collect();
            assert!(own.is_empty(), "{name}: {own:#?}");
        }
    }
}

fn generate(name: &str) -> Result<Source, Mistakes> {
    let case = read(name);
    let model = Model::build(&load(&case)?)?;
    let lens = case.lens.map_or(Ok(Lens::default()), |lens| Lens::parse(lens.get()))?;
    let markers = case.markers.map_or(Ok(Markers::default()), |markers| Markers::parse(markers.get()))?;
    match case.emit.split_once(' ').unwrap_or((&case.emit, "")) {
        ("definition", definition) => emit::definition(&model, &lens, definition),
        ("typify", "") => emit::typify(&model),
        ("packets", "") => emit::packets(&model, &lens),
        ("codes", "") => emit::codes(&model),
        ("helps", codes) => emit::helps(&model, |rule| codes.split(' ').any(|code| code == rule.code)),
        ("markers", "") => emit::markers(&model, &markers),
        ("predicates", "") => emit::predicates(&model, &markers),
        ("setters", "") => emit::setters(&model, &Setters::parse(case.setters.unwrap().get())?),
        ("gate", "") => emit::gate(&model),
        ("pipeline", "") => emit::pipeline(&model, &functions(case.moves)),
        ("machine", "") => emit::machine(&model),
        ("refusals", "") => emit::refusals(&model),
        ("obligations", "") => emit::obligations(&model),
        ("verification_loop", "") => emit::verification_loop(&model),
        ("layers", "") => emit::layers(&model),
        ("episode", "") => emit::episode(&model, &functions(case.moves)),
        _ => panic!("{name}: nothing is called `{}`", case.emit),
    }
}

fn functions(moves: BTreeMap<String, Vec<String>>) -> Vec<(String, String)> {
    moves.into_iter().map(|(method, lines)| (method, lines.join("\n"))).collect()
}

fn read(name: &str) -> Case {
    let text = fs::read_to_string(folder().join(name).with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}.json: {error}"))
}

/// Loads the files of a case, and the four files that every model needs.
fn load(case: &Case) -> Result<SchemaSet, Mistakes> {
    let mut files = BTreeMap::from([
        (RULES_FILE, NO_RULES),
        (FSM_FILE, NO_FSM),
        (GATE_FILE, NO_GATE),
        (DECISIONS_FILE, NO_DECISIONS),
    ]);
    files.extend(case.files.iter().map(|(path, file)| (path.as_str(), file.get())));
    SchemaSet::load(files)
}

fn cases(extension: &str) -> BTreeSet<String> {
    fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

const NO_RULES: &str = r#"{ "version": "0.7" }"#;

const NO_GATE: &str = r#"{ "version": "0.7", "again": { "code": "A1", "message": "-", "note": "-" } }"#;

const NO_DECISIONS: &str = r#"{ "version": "0.7" }"#;

const NO_FSM: &str = r#"{
    "version": "0.7",
    "verification_loop": { "state": "", "opened_by": "", "closed_by": "", "evidence": { "missing": "" } }
}"#;
