// SCHEMA: a belief with unchecked JSON -> E0277
use omen::prelude::*;

fn agent(answer: serde_json::Value) -> Belief {
    Belief::new("db", "pool", answer)
}

fn main() {}
