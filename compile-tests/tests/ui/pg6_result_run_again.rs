// PG-6: a task is run that has its result -> E0308
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, result: Settled) -> Settled {
    gate.run(result).await
}

fn main() {}
