// E6: a tool that keeps the borrowed task -> E0521
use omen::*;

fn agent<'r>(episode: Episode<Execute>, read: Order<ReadOnly>, kept: &mut Vec<&'r Running>) {
    let _ = episode.execute_with(read, |task| Ok::<_, String>(kept.push(task)));
}

fn main() {}
