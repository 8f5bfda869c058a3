"""An agent that continues wherever its log ends: it resumes the episode and matches on the state. The model is scripted.

    python examples/resumed_agent.py > resumed.jsonl && omen check resumed.jsonl

Leave a case out, and run mypy or pyright: `assert_never` names the state that is missing.
"""

from __future__ import annotations

from typing_extensions import assert_never

from first_agent import ConfigGet, arbitrate, belief, envelope
from omen.episode import (
    AnyEpisode,
    Authorize,
    Closed,
    DecideAct,
    DecideEscalate,
    DecideStop,
    DecideUndecided,
    Escalated,
    Execute,
    Fork,
    Idle,
    Layer1,
    ManyExecute,
    ManyVerify,
    Model,
    OpenExecute,
    OpenVerify,
    Review,
    SafeMode,
    Sense,
    Setup,
    Verify,
)


def step(episode: AnyEpisode) -> AnyEpisode | Closed:
    """Makes the next move of an agent that reads one value."""
    match episode:
        case Idle():
            return episode.observe("OBSERVED", observation_type="user_input", data={"ask": "how large is the pool?"})
        case Sense():
            return episode.believe(belief(None, 50))
        case Model() | DecideUndecided():
            return episode.decide("CANCEL", arbitrate("stop").to_act(), envelope())
        case DecideStop():
            return episode.believe(belief(50, 50))
        case DecideAct() | Execute():
            return episode.execute_with(ConfigGet.read({"key": "pool"}), lambda task: 50)[0].review(belief(50, 50))
        case OpenExecute() | ManyExecute():
            open_ = episode.many() if isinstance(episode, OpenExecute) else episode
            return open_.settle([task.cancelled() for task in episode.tasks()]).all_settled()
        case Fork() | Review():
            return episode.close()
        case SafeMode():
            return episode.clear(Layer1.assume().order("it was checked"))
        case DecideEscalate() | Escalated() | Authorize() | Verify() | OpenVerify() | ManyVerify():
            return episode.halt("this agent neither escalates nor writes")
        case _:
            assert_never(episode)


def setup(*, is_copy: bool) -> Setup:
    """Returns the setup of the episode: for the episode itself, or for one on a copy of its log."""
    clock = "2026-03-01T10:00:00Z"
    return Setup("corr_resumed", envelope(), clock=lambda: clock, on_drop="leave", is_copy=is_copy)


def main() -> None:
    """Runs an agent that stops after two moves, and one that resumes it."""
    episode: AnyEpisode | Closed = setup(is_copy=False).start()
    for _ in range(2):
        assert not isinstance(episode, Closed)
        episode = step(episode)
    lines = episode.lines
    episode = setup(is_copy=True).resume(lines)
    while not isinstance(episode, Closed):
        episode = step(episode)
    print("\n".join(episode.lines))


if __name__ == "__main__":
    main()
