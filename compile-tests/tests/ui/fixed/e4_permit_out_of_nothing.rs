// E4: take the permit from a token
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: Episode<Decide<Act>>) -> Option<Permit<Deploy>> {
    let (_, [permit]) = episode.authorize(TokenSpec::new(60, text!("ticket OPS-77"))).ok()?;
    Some(permit)
}

fn main() {}
