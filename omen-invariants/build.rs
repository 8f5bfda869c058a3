//! Generates the markers, predicates and setters of `facts`, the obligations of the ledger and the help texts of the
//! rules.

use omen_codegen::build_script::{Turn, run};
use omen_codegen::emit::{self, Markers, Setters};
use omen_codegen::model::Stage;

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
    emit::obligations(&model)?.write_to_out_dir("obligations.rs")?;
    emit::helps(&model, |rule| rule.stage == Stage::Invariant && !ELSEWHERE.contains(&rule.code.as_str()))?
        .write_to_out_dir("helps.rs")?;
    Ok(())
}

/// Rules whose help depends on the state machine and is therefore defined in its crate.
const ELSEWHERE: [&str; 2] = ["INV-005", "LAYER"];
