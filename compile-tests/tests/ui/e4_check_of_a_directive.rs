// E4: a directive given instead of an order for a check -> E0277
use omen::*;

tool!(Get = "config.get", Read);

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>) {
    let _ = episode.check(Directive::bare(Get, op::Read), |task| task.success(1));
}

fn main() {}
