// INV-004: observe it
use omen::*;

fn agent(data: Fields) {
    let _ = Observation::tool_output(Observed, "config.get", data);
}

fn main() {}
