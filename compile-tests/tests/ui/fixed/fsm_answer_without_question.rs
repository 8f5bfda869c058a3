// FSM: use `observe` for user input without an escalation
use omen::*;

fn agent(episode: Episode<Sense>, said: Fields) {
    let _ = episode.observe(Observation::user_input(Observed, said));
}

fn main() {}
