// SCHEMA: data that is known at run time is checked
use omen::*;

fn agent(data: &str) -> Option<Fields> {
    Fields::new(json!({ "answer": data }))
}

fn main() {}
