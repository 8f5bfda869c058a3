//! Types match the pipeline: a program is generated and compiled for every state of a request and every step. The step
//! that continues from the state compiles; every other one gives exactly one error, with the state and a code.

use omen_gate::GateCode;
use serde_json::Value;

use omen_testkit::programs::{self, Cell, Program};

/// Common start of the programs. The answers need no import.
const HEAD: &str = "use omen_gate::*;\nuse omen_gate::summary::Summary;";

/// Step as a program calls it.
struct Step {
    method: String,
    /// Type of the argument, if it has one.
    takes: Option<&'static str>,
    generics: &'static str,
    /// Type of its refusal.
    refusal: &'static str,
}

fn step(method: &str) -> Step {
    let (takes, generics, refusal) = match method {
        "plan" => (Some("&str"), "", "Blocked"),
        "dispatch" => (None, "", "Stopped"),
        "type_output" => (None, "::<String>", "Request<Untyped>"),
        "ground" => (Some("Summary"), "", "Blocked"),
        _ => (None, "", "Blocked"),
    };
    Step { method: method.to_owned(), takes, generics, refusal }
}

/// Type of a request in a state.
fn request(state: &str) -> String {
    match state {
        "Typed" | "Grounded" => format!("Request<{state}<String>>"),
        _ => format!("Request<{state}>"),
    }
}

impl Step {
    /// Adds the step as programs write it: by itself, awaited, and followed by the remaining steps.
    fn add_to(&self, program: &mut Program, state: &str) {
        let Self { method, takes, generics, refusal } = self;
        let parameter = takes.map_or(String::new(), |ty| format!(", value: {ty}"));
        let call = format!("request.{method}{generics}({})", takes.map_or("", |_| "value"));
        let bodies = [
            format!("let _ = {call}; Ok(())"),
            format!("match {call}.await {{ Ok(_) => Ok(()), Err(why) => Err(why) }}"),
            format!("let request = {call}.await?; drop(request); Ok(())"),
        ];
        for body in bodies {
            let cell = Cell { name: format!("`{method}` of `{state}`"), state: state.to_owned() };
            let signature = format!("(request: {}{parameter}) -> Result<(), {refusal}>", request(state));
            program.add(cell, "async fn", &signature, &body);
        }
    }
}

#[test]
fn what_the_pipeline_allows_compiles_and_nothing_else() {
    let file: Value = serde_json::from_str(omen_schema::file("gate.json").unwrap()).unwrap();
    let [pipeline, ends] = ["pipeline", "ends"].map(|key| file[key].as_array().unwrap());
    let steps: Vec<_> = pipeline.iter().filter_map(|state| state["method"].as_str()).map(step).collect();
    let mut programs = [Program::new(HEAD), Program::new(HEAD)];
    let mut cells = [0, 0];
    for state in pipeline.iter().chain(ends) {
        for step in &steps {
            let legal = state["method"] == step.method;
            cells[usize::from(legal)] += 1;
            step.add_to(&mut programs[usize::from(legal)], state["state"].as_str().unwrap());
        }
    }
    let [illegal, legal] = programs;
    let errors = programs::check("omen-gate", &[("illegal", &illegal), ("legal", &legal)]);

    let mut failures = errors.amiss("illegal", &illegal.cells, |code| code.parse::<GateCode>().is_ok());
    for (line, cell) in &legal.cells {
        failures.extend(errors.on_line("legal", *line).iter().map(|error| format!("{}:\n{error}", cell.name)));
    }
    println!(
        "matrix: {} states x {} steps = {} cells: {} legal ones compile, {} illegal ones give one error each, in {} \
         programs each",
        pipeline.len() + ends.len(),
        steps.len(),
        cells[0] + cells[1],
        cells[1],
        cells[0],
        illegal.cells.len() / cells[0],
    );
    assert_eq!(cells, [63, 7], "every state with every step");
    assert!(failures.is_empty(), "{} of the matrix's programs are amiss:\n{}", failures.len(), failures.join("\n"));
}
