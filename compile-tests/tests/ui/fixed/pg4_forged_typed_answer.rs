// PG-4: it is made of an answer, by its schemas
use omen_gate::catalog::Listed;
use omen_gate::output::{Outputs, TypedAnswer};
use omen_gate::tool::Answer;

fn agent(outputs: &Outputs, tool: &Listed, answer: Answer) -> Option<TypedAnswer<u64>> {
    outputs.type_output(tool, answer).ok()
}

fn main() {}
