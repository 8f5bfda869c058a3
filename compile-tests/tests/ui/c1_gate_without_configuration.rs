// C1: a gate is built without a configuration -> E0061
use omen_gate::{BuildError, Gate};

fn operator() -> Result<Gate, BuildError> {
    Gate::builder().build()
}

fn main() {}
