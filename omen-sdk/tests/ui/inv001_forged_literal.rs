// INV-001: an empty text is passed off as a checked constant -> E0624
use omen::*;

fn agent() -> Text {
    Text::from(omen_types::scalar::TextLiteral::trusted(""))
}

fn main() {}
