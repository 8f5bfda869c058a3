// SCHEMA: a token id that nothing has checked -> E0599
use omen::prelude::*;

fn agent() -> TokenId {
    TokenId::trusted("whatever".to_owned())
}

fn main() {}
