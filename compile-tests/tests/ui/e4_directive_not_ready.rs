// E4: a directive given instead of an order -> E0277
use omen::prelude::*;

tool!(Get = "config.get", Read);

fn agent(episode: Episode<Decide<Act>>) {
    let _ = episode.execute([Directive::bare(Get, op::Read)]);
}

fn main() {}
