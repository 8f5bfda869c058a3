//! Generates the markers and the predicates of `facts` from the schema files.

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit::{self, Markers};

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    let markers = Markers::parse(include_str!("facts.json"))?;
    emit::markers(&model, &markers)?.write_to_out_dir("facts.rs")?;
    emit::predicates(&model, &markers)?.write_to_out_dir("predicates.rs")?;
    Ok(())
}
