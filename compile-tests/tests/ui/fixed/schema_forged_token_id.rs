// SCHEMA: check the id
use omen::*;

fn agent() -> Result<TokenId, Invalid> {
    TokenId::new("tok_7")
}

fn main() {}
