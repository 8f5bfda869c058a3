// E4: claim the remaining uses from the episode
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(episode: &AnyEpisode, token_id: &TokenId) -> Option<[Permit<Deploy>; 1]> {
    episode.claim(token_id).ok()
}

fn main() {}
