//! Generates the codes of the gate and the steps of a request from the schema files.

use std::path::Path;

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit;

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::gate(&model)?.write_to_out_dir("codes.rs")?;
    let steps = emit::functions(Path::new(STEPS))?;
    emit::pipeline(&model, &steps)?.write_to_out_dir("pipeline.rs")?;
    println!("cargo::rerun-if-changed={STEPS}");
    Ok(())
}

/// Where each step of a request is written out once.
const STEPS: &str = "src/request/pipeline/steps";
