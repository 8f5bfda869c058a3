// SCHEMA: it is checked
use omen::*;

fn agent() -> Result<TokenId, Invalid> {
    TokenId::new("tok_7")
}

fn main() {}
