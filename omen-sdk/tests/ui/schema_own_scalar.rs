// SCHEMA: a scalar that the schema does not have -> E0277
use omen_types::scalar::TextScalar;

struct Anything;

impl TextScalar for Anything {
    const EXPECTS: &'static str = "anything";

    fn holds(_: &str) -> bool {
        true
    }
}

fn main() {}
