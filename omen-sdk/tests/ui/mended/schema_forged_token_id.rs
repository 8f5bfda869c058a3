// SCHEMA: it is checked
use omen::prelude::*;

fn agent() -> Result<TokenId, Invalid> {
    TokenId::new("tok_7")
}

fn main() {}
