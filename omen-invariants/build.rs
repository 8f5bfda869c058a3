//! Generates the markers, the predicates and the setters of `facts` from the schema files.

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit::{self, Markers, Setters};

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    let markers = Markers::parse(include_str!("facts.json"))?;
    emit::markers(&model, &markers)?.write_to_out_dir("facts.rs")?;
    emit::predicates(&model, &markers)?.write_to_out_dir("predicates.rs")?;
    let setters = Setters::parse(include_str!("setters.json"))?;
    emit::setters(&model, &setters)?.write_to_out_dir("setters.rs")?;
    Ok(())
}
