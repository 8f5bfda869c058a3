//! What an episode is to the compiler.

use std::mem::size_of;

use omen::prelude::*;

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
