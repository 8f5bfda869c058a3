// E4: a token id given instead of a permit -> E0308
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(token_id: TokenId) -> Permit<Deploy> {
    Permit::<Deploy>::from(token_id)
}

fn main() {}
