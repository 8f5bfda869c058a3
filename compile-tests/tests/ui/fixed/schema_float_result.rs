// SCHEMA: a number that JSON does not have is a failure
use omen::prelude::*;

fn agent(task: Pending, load: f64) -> Settled {
    match omen::Json::number(load) {
        Ok(load) => task.success(load),
        Err(_) => task.failure(text!("the load is not a number")),
    }
}

fn main() {}
