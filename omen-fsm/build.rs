//! Generates states, events, the transition table and the typed API from `episode.fsm.json`.

#![expect(clippy::print_stderr, reason = "what is wrong in the schema files is for whoever builds")]

use std::error::Error;
use std::path::Path;

use omen_codegen::emit;

fn main() {
    if let Err(error) = generate() {
        // A mistake in a schema file is for its author to read, not a backtrace.
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn generate() -> Result<(), Box<dyn Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::fsm(&model)?.write_to_out_dir("fsm.rs")?;
    let moves = emit::functions(Path::new(MOVES))?;
    emit::episode(&model, &moves)?.write_to_out_dir("episode.rs")?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={MOVES}");
    Ok(())
}

/// Where each move is written out once.
const MOVES: &str = "src/episode/moves";
