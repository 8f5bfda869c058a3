//! Generates the packet types and the codes from the schema files.

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit::{self, Lens};

fn main() {
    run(Turn::First, generate);
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    let lens = Lens::parse(include_str!("lens.json"))?;
    let types = match std::env::var_os("CARGO_FEATURE_SCHEMARS") {
        Some(_) => emit::types_with_schemas(&model, &lens)?,
        None => emit::types(&model, &lens)?,
    };
    types.write_to_out_dir("packet.rs")?;
    emit::codes(&model)?.write_to_out_dir("codes.rs")?;
    Ok(())
}
