// INV-004: it was seen
use omen::*;

fn agent(data: Fields) {
    let _ = Observation::tool_output(Observed, "config.get", data);
}

fn main() {}
