// SCHEMA: an unchecked token id -> E0599
use omen::*;

fn agent() -> TokenId {
    TokenId::trusted("whatever".to_owned())
}

fn main() {}
