// C1: the operator says what is allowed
use omen_gate::{BuildError, Config, Gate};

fn operator(config: Config) -> Result<Gate, BuildError> {
    Gate::builder(config).build()
}

fn main() {}
