// E4: make an order with `ready`
use omen::prelude::*;

tool!(Get = "config.get", Read);

fn agent(episode: Episode<Decide<Act>>) {
    let _ = episode.execute([Directive::bare(Get, op::Read).ready()]);
}

fn main() {}
