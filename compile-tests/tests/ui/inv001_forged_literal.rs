// INV-001: a forged text literal -> E0624
use omen::*;

fn agent() -> Text {
    Text::from(omen_types::scalar::TextLiteral::trusted(""))
}

fn main() {}
