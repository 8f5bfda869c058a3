//! Generates states, events, the transition table, the help texts of the rules and the typed API from
//! `episode.fsm.json`.

use std::error::Error;
use std::hash::Hasher as _;
use std::path::Path;

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit::{self, Setters};
use omen_codegen::model::Stage;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::fsm(&model)?.write_to_out_dir("fsm.rs")?;
    emit::helps(&model, |rule| rule.stage == Stage::Fsm || BESIDES.contains(&rule.code.as_str()))?
        .write_to_out_dir("helps.rs")?;
    let setters = Setters::parse(include_str!("setters.json"))?;
    emit::setters(&model, &setters)?.write_to_out_dir("setters.rs")?;
    let moves = emit::functions(Path::new(MOVES))?;
    emit::episode(&model, &moves)?.write_to_out_dir("episode.rs")?;
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("schema_fingerprint"), fingerprint())?;
    println!("cargo::rerun-if-changed={MOVES}");
    Ok(())
}

/// Returns a fingerprint of all schema files.
fn fingerprint() -> [u8; 16] {
    let mut hasher = SipHasher13::new();
    for text in omen_schema::FILES.iter().flat_map(|(path, text)| [path, text]) {
        hasher.write_u64(text.len() as u64);
        hasher.write(text.as_bytes());
    }
    hasher.finish128().as_bytes()
}

/// Rules that belong to other stages but are checked in this crate, or whose help depends on the state machine.
const BESIDES: [&str; 4] = ["SCHEMA", "ID", "INV-005", "LAYER"];

/// Folder with the functions of the moves.
const MOVES: &str = "src/episode/moves";
