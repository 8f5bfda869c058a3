//! The generated parts of the page on the gate.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use omen_codegen::model::Gate;

use crate::evidence::{Evidence, Proof};
use crate::markdown::{code, table};

/// The pipeline of a request as a diagram. The function of a step shows to which early ends it leads.
pub(super) fn way(gate: &Gate) -> Result<String, Box<dyn Error + Send + Sync>> {
    let steps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-gate/src/request/pipeline/steps");
    let mut out = "```mermaid\nflowchart LR\n".to_owned();
    for pair in gate.pipeline.windows(2) {
        let [from, to] = pair else { continue };
        let Some(next) = &from.next else { continue };
        writeln!(out, "    {} -- \"{} ({})\" --> {}", from.state, next.method, next.refused.code, to.state)?;
        let function = fs::read_to_string(steps.join(&next.method).with_extension("rs"))?;
        for end in gate.ends.iter().filter(|end| function.contains(&format!("Request<{}>", end.state))) {
            writeln!(out, "    {} -- \"{} ({})\" --> {}", from.state, next.method, end.refused.code, end.state)?;
        }
    }
    if let Some(lost) = gate.ends.iter().find(|end| !out.contains(&format!("--> {}\n", end.state))) {
        return Err(format!("no step leads to `{}`", lost.state).into());
    }
    Ok(out + "```\n")
}

/// What is known of a request in each state, and the step that follows.
pub(super) fn steps(gate: &Gate) -> String {
    let steps = gate.pipeline.iter().map(|step| {
        let next = step.next.as_ref().map_or(String::new(), |next| code(&format!("{}()", next.method)));
        let held = step.next.as_ref().map_or(String::new(), |next| next.refused.code.clone());
        vec![code(&step.state), step.description.clone(), next, held]
    });
    let ends =
        gate.ends.iter().map(|end| vec![code(&end.state), end.description.clone(), String::new(), String::new()]);
    table(&["State", "What is known", "Step", "Rule"], steps.chain(ends))
}

/// All codes with their evidence.
pub(super) fn codes(gate: &Gate, evidence: &Evidence) -> Result<String, Box<dyn Error + Send + Sync>> {
    let faults = evidence.faults(gate.codes.iter().map(|code| code.code.as_str()));
    if !faults.is_empty() {
        return Err(faults.join("\n").into());
    }
    let links = |proofs: &[Proof]| proofs.iter().map(Proof::link).collect::<Vec<_>>().join("<br>");
    let rows = gate.codes.iter().filter_map(|code| {
        let row = evidence.row(&code.code)?;
        let name = format!("**{}** {}", code.code, code.title);
        Some(vec![name, code.statement.clone(), links(&row.enforced), links(&row.shown), row.outside.clone()])
    });
    Ok(table(&["Code", "Rule", "Enforced by", "Shown by", "Not covered"], rows))
}
