//! Generates states, events and the transition table from `episode.fsm.json`.

#![expect(clippy::print_stderr, reason = "what is wrong in the schema files is for whoever builds")]

fn main() {
    if let Err(error) = generate() {
        // A mistake in a schema file is for its author to read, not a backtrace.
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    omen_codegen::emit::fsm(&model)?.write_to_out_dir("fsm.rs")?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
