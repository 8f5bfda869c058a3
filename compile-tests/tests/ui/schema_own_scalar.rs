// SCHEMA: a scalar defined by the program -> E0277
use omen_types::scalar::TextScalar;

struct Anything;

impl TextScalar for Anything {
    const EXPECTS: &'static str = "anything";

    fn holds(_: &str) -> bool {
        true
    }
}

fn main() {}
