// E4: a refused order sent again after it was moved -> E0382
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: Order<ReadWrite>, again: Episode<Authorize>) {
    if episode.execute_with(write, |_task| Ok::<_, String>(50)).is_err() {
        let _ = again.execute_with(write, |_task| Ok::<_, String>(50));
    }
}

fn main() {}
