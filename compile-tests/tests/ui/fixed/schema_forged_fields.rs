// SCHEMA: check data of run time with `Fields::try_new`
use omen::*;

fn agent(data: &str) -> Option<Fields> {
    Fields::new(json!({ "answer": data }))
}

fn main() {}
