// SCHEMA: it is checked
use omen::prelude::*;

fn agent() -> Result<TokenId, Invalid> {
    "tok_7".parse()
}

fn main() {}
