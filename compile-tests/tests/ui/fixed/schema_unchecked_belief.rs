// SCHEMA: check the value where it is made
use omen::*;

fn agent(answer: serde_json::Value) -> Result<Belief, DoesNotFit> {
    Ok(Belief::new("db", "pool", Json::new(answer)?))
}

fn main() {}
