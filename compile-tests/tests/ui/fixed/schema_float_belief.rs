// SCHEMA: check the number where it is computed
use omen::*;

fn agent(load: f64) -> Result<Belief, DoesNotFit> {
    Belief::new("db", "load", Json::number(load)?).and("db", "limit", (), number!(0.9))
}

fn main() {}
