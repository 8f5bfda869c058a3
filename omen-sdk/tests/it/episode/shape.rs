//! Properties of the type of an episode.

use std::mem::size_of;

use omen::*;

fn lives_anywhere<T: Send + Sync + 'static>() {}

#[test]
fn an_episode_is_one_pointer_wide_whatever_its_state() {
    assert_eq!(size_of::<Episode<Idle>>(), size_of::<usize>());
    assert_eq!(size_of::<Episode<Open<Verify<Attempted, Seen, ToolsDown>, 7>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Episode<Many<Execute>>>>(), size_of::<usize>());
    assert_eq!(size_of::<AnyEpisode>(), 2 * size_of::<usize>());
    lives_anywhere::<Episode<Idle>>();
    lives_anywhere::<Episode<Verify<Planned, Unseen, ToolsOk>>>();
    lives_anywhere::<AnyEpisode>();
    lives_anywhere::<Halt>();
}

#[test]
fn a_future_that_holds_an_episode_can_move_between_threads() {
    async fn agent(episode: Episode<Idle>) -> Episode<Model> {
        // Held across an `.await`, and again after a change.
        std::future::ready(()).await;
        let episode = episode.observe(Observation::user_input(Observed, fields!({ "ask": "go on" })));
        std::future::ready(()).await;
        episode.believe(Belief::new("db", "answer", 42))
    }
    fn spawned<F: Future<Output: Send> + Send + 'static>(_: impl Fn(Episode<Idle>) -> F) {}
    spawned(agent);
}
