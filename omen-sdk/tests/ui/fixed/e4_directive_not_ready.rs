// E4: a directive that reads is ready
use omen::prelude::*;

tool!(Get = "config.get", Read);

fn agent(episode: Episode<Decide<Act>>) {
    let _ = episode.execute([Directive::bare(Get, op::Read).ready()]);
}

fn main() {}
