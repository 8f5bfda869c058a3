// E4: make an order with `ready`
use omen::*;

tool!(Get = "config.get", Read);

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>) {
    let _ = episode.check(Directive::bare(Get, op::Read).ready(), |task| task.success(1));
}

fn main() {}
