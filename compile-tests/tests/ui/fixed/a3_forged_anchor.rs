// A3: the log gives it, and the key seals it
use omen_gate::Gate;
use omen_gate::audit::{Anchor, AuditError};

fn agent(gate: &Gate) -> Result<Anchor, AuditError> {
    gate.anchor()
}

fn main() {}
