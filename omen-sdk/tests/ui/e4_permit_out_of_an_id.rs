// E4: a permit is made of the id of a token -> E0308
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(token_id: TokenId) -> Permit<Deploy> {
    Permit::<Deploy>::from(token_id)
}

fn main() {}
