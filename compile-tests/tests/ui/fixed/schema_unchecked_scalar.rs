// SCHEMA: check the id
use omen::*;

fn agent() -> Result<TokenId, Invalid> {
    "tok_7".parse()
}

fn main() {}
