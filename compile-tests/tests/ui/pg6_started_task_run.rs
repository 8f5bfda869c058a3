// PG-6: a task is run that somebody else has begun -> E0308
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, running: Running) -> Settled {
    gate.run(running).await
}

fn main() {}
