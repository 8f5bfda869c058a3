"""A resumed episode: its live tokens, and permits for their remaining uses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from episode_world import SEEN, Drop, Set, SetScope, WideScope, belief, envelope, findings, ruling, start

from omen.episode import Alert, AnyEpisode, IllegalMove, ManyExecute, Setup, StateUsed

NOW = "2026-03-01T10:00:00Z"


def resumed(uses: int, clock: Callable[[], str] = lambda: NOW) -> AnyEpisode:
    """Returns an episode that was resumed when one use of a token was spent, by a directive that is still open."""
    model = start(on_drop="leave").observe("OBSERVED", SEEN).believe(belief())
    acting = model.act(ruling().to_act().under(envelope()))
    authorized, permits = acting.authorize(SetScope, ttl_seconds=600, rationale="ticket", uses=uses)
    sent, _ = authorized.execute(Set.modify({"k": 1}).with_permit(permits[0]))
    return Setup(sent.correlation_id, envelope(), clock=clock, is_copy=True).resume(sent.lines)


def test_a_resumed_episode_spends_the_remaining_uses_of_its_token() -> None:
    episode = resumed(3)
    (token,) = episode.live_tokens()
    assert (token.tools, token.operations, token.uses_left) == (["config.set"], ["modify"], 2)
    assert token.expiry == "2026-03-01T10:10:00Z"
    (permit,) = episode.claim_any(SetScope)
    (other,) = episode.claim(token.token_id, SetScope)
    assert permit.token_id == other.token_id == token.token_id
    one, two = episode.claim_any(SetScope, uses=2)
    assert isinstance(episode, ManyExecute)
    execute = episode.settle([task.success(1) for task in episode.tasks()]).all_settled()
    sent, (task,) = execute.execute(Set.modify({"k": 2}).with_permit(permit))
    with pytest.raises(StateUsed, match="`claim_any` cannot"):
        execute.claim_any(SetScope)
    done, _ = sent.settle(task.success(2)).execute_with(Set.modify({"k": 3}).with_permit(one), lambda task: 3)
    assert done.live_tokens() == []
    # A use that was claimed twice is refused when it is spent.
    with pytest.raises(IllegalMove) as error:
        done.execute(Set.modify({"k": 4}).with_permit(two))
    assert error.value.code == "E4"
    assert findings(done.review(belief()).close().lines)[-1]["summary"]["errors"] == 0


def test_a_claim_that_no_token_covers_is_refused_with_the_reason() -> None:
    episode = resumed(3)
    (token,) = episode.live_tokens()
    for claim, message in (
        (lambda: episode.claim_any(WideScope), f"and has 1 or more uses left; live tokens: `{token.token_id}` (2 left)"),
        (lambda: episode.claim_any(SetScope, uses=3), "no live token covers `config.set` and has 3 or more uses left"),
        (lambda: episode.claim(token.token_id, WideScope), "does not allow the tool `config.drop`"),
        (lambda: episode.claim(token.token_id, SetScope, uses=3), "cannot claim 3 uses"),
        (lambda: episode.claim("token_other", SetScope), "no live token `token_other`"),
    ):
        with pytest.raises(IllegalMove) as error:
            claim()
        assert (error.value.code, error.value.state) == ("E4", "ManyExecute")
        assert message in error.value.message
        assert error.value.fix
    with pytest.raises(ValueError, match="token_id"):
        episode.claim("", SetScope)
    revoked = episode.alert(Alert.warning("token_revocation", "it was withdrawn").revoking(token.token_id))
    assert revoked.live_tokens() == []
    with pytest.raises(IllegalMove, match="live tokens: none"):
        revoked.claim_any(SetScope)


def test_a_clock_that_uses_its_episode_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", lambda reported: refused.append(reported.exc_value))
    episode: AnyEpisode | None = None
    episode = resumed(2, clock=lambda: NOW if episode is None else episode.lines[0])
    for read in (episode.live_tokens, episode.moves, lambda: episode.claim_any(SetScope)):
        with contextlib.suppress(IllegalMove):
            read()
        assert isinstance(refused.pop(), StateUsed)
    assert len(episode.lines) == 5


def test_more_than_8_claimed_uses_are_counted_at_run_time() -> None:
    episode = resumed(11)
    many: Any = episode.claim_any(SetScope, uses=10)
    assert (type(many), len(many)) == (list, 10)
    assert episode.claim_any(SetScope, uses=0) == ()
    (permit,) = episode.claim_any(SetScope)
    Drop.delete().with_permit(permit)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        type(episode.live_tokens()[0])()
