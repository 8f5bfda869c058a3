// G3: somebody is asked
use omen_gate::{Call, Confirmations, Confirmed, Ruling};

async fn agent(confirmations: &Confirmations, call: &Call) -> Ruling<Confirmed> {
    confirmations.ask(call).await
}

fn main() {}
