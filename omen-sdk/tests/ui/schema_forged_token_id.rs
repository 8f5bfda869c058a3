// SCHEMA: a token id that nothing has checked -> E0599
use omen::*;

fn agent() -> TokenId {
    TokenId::trusted("whatever".to_owned())
}

fn main() {}
