// PG-6: it is put back before, if its tool was not called
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, running: Running) -> Settled {
    gate.run(running.not_called()).await
}

fn main() {}
