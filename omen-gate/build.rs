//! Generates the codes of the gate and the steps of a request from the schema files.

use std::path::Path;

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit;
use sha2::{Digest as _, Sha256};

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::gate(&model)?.write_to_out_dir("codes.rs")?;
    let steps = emit::functions(Path::new(STEPS))?;
    emit::pipeline(&model, &steps)?.write_to_out_dir("pipeline.rs")?;
    println!("cargo::rerun-if-changed={STEPS}");
    println!("cargo::rustc-env=OMEN_SCHEMA_SHA256={}", schema_hash());
    Ok(())
}

/// SHA-256 over the files of the schema, each behind its name and its length.
fn schema_hash() -> String {
    let mut hash = Sha256::new();
    for (name, text) in omen_schema::FILES {
        hash.update(format!("{name}\n{}\n", text.len()));
        hash.update(text);
    }
    base16ct::lower::encode_string(&hash.finalize())
}

/// Where each step of a request is written out once.
const STEPS: &str = "src/request/pipeline/steps";
