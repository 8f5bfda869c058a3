// SCHEMA: a belief of free-form JSON whose depth and size nobody has checked -> E0277
use omen::prelude::*;

fn agent(answer: serde_json::Value) -> Belief {
    Belief::new("db", "pool", answer)
}

fn main() {}
