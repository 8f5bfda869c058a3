// SCHEMA: unchecked JSON in `fields!` -> E0277
use omen::*;

fn agent(answer: serde_json::Value) -> Fields {
    fields!({ "pool": 40, "found": answer })
}

fn main() {}
