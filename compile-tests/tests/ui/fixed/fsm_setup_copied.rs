// FSM: use one id for each
use omen::*;

fn agent(envelope: &DynEnvelope, ids: [CorrelationId; 2], now: Instant) -> [Setup; 2] {
    ids.map(|id| Setup::new(id, envelope, move || now))
}

fn main() {}
