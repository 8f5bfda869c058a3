// E6: keep a watch
use omen::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>, kept: &mut Vec<Watch>) {
    let _ = episode.execute_with(read, |task| {
        kept.push(task.watch().clone());
        Ok::<_, String>(50)
    });
}

fn main() {}
