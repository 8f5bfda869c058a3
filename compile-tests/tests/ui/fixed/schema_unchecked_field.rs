// SCHEMA: check the value where it is made
use omen::*;

fn agent(answer: serde_json::Value) -> Result<Fields, DoesNotFit> {
    Ok(fields!({ "pool": 40, "found": Json::new(answer)? }))
}

fn main() {}
