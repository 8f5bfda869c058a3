// INV-004: an observation with an inferred status -> E0277
use omen::*;

fn agent(data: Fields) {
    let _ = Observation::tool_output(Inferred, "config.get", data);
}

fn main() {}
