// INV-004: an observation of what was only inferred -> E0277
use omen::*;

fn agent(data: Fields) {
    let _ = Observation::tool_output(Inferred, "config.get", data);
}

fn main() {}
