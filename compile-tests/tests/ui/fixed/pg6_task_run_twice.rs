// PG-6: two tasks are run
use omen_fsm::episode::*;
use omen_gate::Gate;

async fn agent(gate: &Gate, [one, other]: [Pending; 2]) -> [Settled; 2] {
    [gate.run(one).await, gate.run(other).await]
}

fn main() {}
