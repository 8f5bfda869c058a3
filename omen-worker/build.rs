//! Generates the help of the findings on packets that are on the subject of another episode.

use std::error::Error;

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit;

fn main() {
    run(Turn::Later, generate);
}

fn generate() -> Result<(), Box<dyn Error>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
    emit::helps(&model, |rule| rule.code.as_str() == "SCHEMA")?.write_to_out_dir("helps.rs")?;
    Ok(())
}
