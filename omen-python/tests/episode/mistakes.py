"""Mistakes that a type checker reports. Each function has one, on its last line.

The comment before a function has the code of the rule, or `-` if the checker uses its own words, and a title.
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Literal

from omen.episode import (
    ActOrder,
    AllVerified,
    AnyEnvelope,
    AnyEpisode,
    Arbitration,
    Alert,
    Attempted,
    Authorize,
    CanObserve,
    Claims,
    Closed,
    DecideAct,
    Deferrable,
    Envelope,
    Epistemics,
    Evidence,
    Escalated,
    Execute,
    Idle,
    Layer1,
    Layer1Order,
    ManyExecute,
    Model,
    Modify,
    OpenExecute1,
    OpenExecute2,
    OpenVerify1,
    Order,
    OrderUnder,
    Overridden,
    Payload,
    Permit,
    Plan,
    Planned,
    Proven,
    Quality,
    ReadTool,
    Review,
    Routing,
    Ruling,
    RulingUnder,
    SafeMode,
    Scope,
    Seen,
    Sense,
    Settled,
    Setup,
    Stakes,
    Task,
    Unplanned,
    Unseen,
    Verify,
    WriteTool,
)


class ConfigGet(ReadTool, name="config.get"): ...


class ConfigSet(WriteTool, name="config.set"): ...


class ConfigDrop(WriteTool, name="config.drop"): ...


class RaisePool(Scope[ConfigSet, Modify]): ...


STAKES = Stakes.of(impact="LOW", irreversibility="REVERSIBLE", uncertainty="LOW", adversariality="BENIGN")


def watch(ep: CanObserve[Sense]) -> None: ...


GUESS = Epistemics.of(status="INFERRED", freshness="OPERATIONAL", confidence=0.5, calibration="a guess")
UNFOUNDED = Envelope(
    intent={},
    stakes=STAKES,
    quality=Quality.par("d", ["c"]),
    budgets={},
    epistemics=GUESS,
    evidence=Evidence.memory_item("last year", "2025-03-01T10:00:00Z"),
    routing=Routing("FIND", "tools_ok"),
)


# E1: Acting before a belief update
def m01(ep: Sense, order: OrderUnder) -> None:
    ep.act(order)


# E1: Deferring in `Idle`
def m02(ep: Idle, ruling: RulingUnder[Deferrable]) -> None:
    ep.defer(ruling)


# E1: Verifying first in `Sense`
def m03(ep: Sense, ruling: RulingUnder[Any]) -> None:
    ep.verify_first(ruling)


# E1: Deciding at run time in `Sense`
def m04(ep: Sense, order: ActOrder[Any], mcp: AnyEnvelope) -> None:
    ep.decide("ACT", order, mcp)


# E2: Sending a directive before a decision
def m05(ep: Model, order: Order[Literal["READ"]]) -> None:
    ep.execute(order)


# E2: Calling a tool in `Idle`
def m06(ep: Idle, order: Order[Literal["READ"]], tool: Callable[[Task], int]) -> None:
    ep.execute_with(order, tool)


# E2: Calling a tool in `Review`
def m07(ep: Review, order: Order[Literal["READ"]], tool: Callable[[Task], int]) -> None:
    ep.execute_with(order, tool)


# E2: Sending a directive while a human is asked
def m08(ep: Escalated, order: Order[Literal["READ"]]) -> None:
    ep.execute(order)


# E3: Checking before a plan
def m09(ep: Verify[Unplanned, Unseen], order: Order[Literal["READ"]]) -> None:
    ep.check(order, lambda task: task.success(1))


# E3: Closing a loop without an observation
def m10(ep: Verify[Proven, Unseen], belief: Payload) -> None:
    ep.believe(belief)


# E3: Closing a loop whose check has failed
def m11(ep: Verify[Planned, Seen], order: Order[Literal["READ"]], belief: Payload) -> None:
    ep.check(order, lambda task: task.failure("no")).believe(belief)


# E3: Closing a loop after a derivation
def m12(ep: Verify[Proven, Unseen], seen: Payload, belief: Payload) -> None:
    ep.observe("DERIVED", seen).believe(belief)


# E3: Writing in a verification loop
def m13(ep: Verify[Planned, Unseen], order: Order[Literal["WRITE"]]) -> None:
    sent, tasks = ep.execute(order)


# E3: Deciding inside a verification loop
def m14(ep: Verify[Proven, Seen], order: OrderUnder) -> None:
    ep.act(order)


# E3: Issuing a token inside a verification loop
def m15(ep: Verify[Proven, Seen]) -> None:
    ep.authorize(RaisePool, ttl_seconds=60, rationale="r")


# E3: Closing the episode inside a loop
def m16(ep: Verify[Proven, Seen]) -> None:
    ep.close()


# E3: Escalating inside a loop
def m17(ep: Verify[Planned, Unseen], escalation: Payload) -> None:
    ep.escalate(escalation)


# E6: Closing a loop with an open directive
def m18(ep: OpenVerify1[Attempted, Seen], belief: Payload) -> None:
    ep.believe(belief)


# FSM: No token before a directive that writes
def m19(ep: DecideAct) -> None:
    sent, (task,) = ep.execute(ConfigSet.modify({"k": 1}))


# -: Three directives of a token with two uses
def m20(ep: DecideAct) -> None:
    token, (one, two, three) = ep.authorize(RaisePool, ttl_seconds=60, rationale="r", uses=2)


# INV-007: A token without a use
def m21(ep: DecideAct) -> None:
    token, permits = ep.authorize(RaisePool, ttl_seconds=60, rationale="r", uses=0)


# INV-007: A directive that writes without a permit
def m22(ep: Authorize) -> None:
    sent, (task,) = ep.execute(ConfigSet.modify({"k": 1}))


# -: A permit for another tool
def m23(permit: Permit[ConfigSet, Modify]) -> None:
    ConfigDrop.modify().with_permit(permit)


# -: A permit for another operation
def m24(permit: Permit[ConfigSet, Modify]) -> None:
    ConfigSet.delete().with_permit(permit)


# INV-007: Reading with a tool that writes
def m25() -> None:
    ConfigSet.read()


# INV-007: Writing with a tool that reads
def m26() -> None:
    ConfigGet.write()


# -: Checking with a directive that writes
def m27(ep: Verify[Planned, Unseen], order: Order[Literal["WRITE"]]) -> None:
    ep.check(order, lambda task: task.success(1))


# FSM: Reading first after a token
def m28(ep: Authorize, order: Order[Literal["READ"]]) -> None:
    sent, tasks = ep.execute(order)


# FSM: A second token after directives were sent
def m29(ep: Execute) -> None:
    ep.authorize(RaisePool, ttl_seconds=60, rationale="r")


# FSM: A token before a decision
def m30(ep: Model) -> None:
    ep.authorize(RaisePool, ttl_seconds=60, rationale="r")


# E6: Reviewing while a directive is open
def m31(ep: OpenExecute1, belief: Payload) -> None:
    ep.review(belief)


# E6: Updating beliefs while a directive is open
def m32(ep: OpenExecute2, belief: Payload) -> None:
    ep.believe(belief)


# E6: Closing while directives are open
def m33(ep: ManyExecute) -> None:
    ep.close()


# E6: Settling when nothing is open
def m34(ep: Execute, done: Settled[Proven]) -> None:
    ep.settle(done)


# -: Too few results
def m35(ep: OpenExecute2, done: Settled[Proven]) -> None:
    ep.settle(done)


# -: Too many results
def m36(ep: OpenExecute1, done: Settled[Proven]) -> None:
    ep.settle(done, done)


# -: Results in a list
def m37(ep: OpenExecute2, done: Settled[Proven]) -> None:
    ep.settle([done, done])


# -: A task in place of its result
def m38(ep: OpenExecute1, task: Task) -> None:
    ep.settle(task)


# E6: All settled before the count is dropped
def m39(ep: OpenExecute2) -> None:
    ep.all_settled()


# E7: Observing in safe mode
def m40(ep: SafeMode, seen: Payload) -> None:
    ep.observe("OBSERVED", seen)


# E7: Acting in safe mode
def m41(ep: SafeMode, order: OrderUnder) -> None:
    ep.act(order)


# E7: Issuing a token in safe mode
def m42(ep: SafeMode) -> None:
    ep.authorize(RaisePool, ttl_seconds=60, rationale="r")


# E7: Sending a directive in safe mode
def m43(ep: SafeMode, order: Order[Literal["READ"]]) -> None:
    ep.execute(order)


# E7: Closing in safe mode
def m44(ep: SafeMode) -> None:
    ep.close()


# -: Ending safe mode without an order of layer 1
def m45(ep: SafeMode) -> None:
    ep.clear()


# FSM: Ending safe mode elsewhere
def m46(ep: Review, signed: Layer1Order) -> None:
    ep.clear(signed)


# FSM: Closing before the review
def m47(ep: Model) -> None:
    ep.close()


# FSM: Believing before observing
def m48(ep: Idle, belief: Payload) -> None:
    ep.believe(belief)


# FSM: Observing in place of a decision
def m49(ep: Model, seen: Payload) -> None:
    ep.observe("OBSERVED", seen)


# FSM: A plan without a loop
def m50(ep: Model, plan: Plan) -> None:
    ep.verify(plan)


# FSM: A check after a decision to act
def m51(ep: DecideAct, order: Order[Literal["READ"]]) -> None:
    ep.check(order, lambda task: task.success(1))


# FSM: Escalating without a decision
def m52(ep: Model, escalation: Payload) -> None:
    ep.escalate(escalation)


# FSM: An answer without a question
def m53(ep: Sense, answer: Payload) -> None:
    ep.answered(answer)


# FSM: Updating beliefs while a human is asked
def m54(ep: Escalated, belief: Payload) -> None:
    ep.believe(belief)


# FSM: Reviewing without results
def m55(ep: DecideAct, belief: Payload) -> None:
    ep.review(belief)


# FSM: A queue in an episode
def m56(ep: Model, queue: Payload) -> None:
    ep.enqueue(queue)


# INV-002: Acting at tier SUBPAR
def m57(ep: Model, order: ActOrder[AllVerified], mcp: Envelope[Literal["LOW"], Literal["SUBPAR"], Literal["tools_ok"]]) -> None:
    ep.act(order.under(mcp))


# INV-003: Acting at high stakes and tier PAR
def m58(ep: Model, order: ActOrder[AllVerified], mcp: Envelope[Literal["HIGH"], Literal["PAR"], Literal["tools_ok"]]) -> None:
    ep.act(order.under(mcp))


# INV-003: Acting on an assumption that was not verified
def m59(ep: Model, order: ActOrder[AllVerified], mcp: Envelope[Literal["CRITICAL"], Literal["SUPERB"], Literal["tools_ok"]]) -> None:
    ep.act(order.assumes("it holds").under(mcp))


# INV-003: Acting in an envelope that is known at run time
def m60(ep: Model, order: ActOrder[AllVerified], mcp: AnyEnvelope) -> None:
    ep.act(order.under(mcp))


# INV-010: Acting without tools at high stakes
def m61(ep: Model, order: ActOrder[AllVerified], mcp: Envelope[Literal["HIGH"], Literal["SUPERB"], Literal["tools_down"]]) -> None:
    ep.act(order.under(mcp))


# INV-010: Deferring without tools at high stakes
def m62(ep: Model, ruling: Ruling, mcp: Envelope[Literal["HIGH"], Literal["SUPERB"], Literal["tools_down"]]) -> None:
    ep.defer(ruling.under(mcp))


# INV-006: Weighing options before the veto
def m63() -> None:
    Arbitration("a", "b").tradeoff("safety", "r")


# INV-006: Feasibility before the veto
def m64() -> None:
    Arbitration("a", "b").feasible(lambda option: True)


# INV-006: Weighing options before feasibility
def m65() -> None:
    Arbitration("a").veto(lambda option: True).tradeoff("safety", "r")


# -: An order without its envelope
def m66(ep: Model, order: ActOrder[AllVerified]) -> None:
    ep.act(order)


# -: An envelope without evidence
def m67(guess: Epistemics[Claims]) -> None:
    Envelope(intent={}, stakes=STAKES, quality=Quality.par("d", ["c"]), budgets={}, epistemics=guess, routing=Routing("FIND", "tools_ok"))


# -: A level that the axes do not justify
def m68() -> None:
    low: Stakes[Literal["LOW"]] = Stakes.of(impact="CRITICAL", irreversibility="PARTIAL", uncertainty="LOW", adversariality="BENIGN")


# -: An axis with an unknown value
def m69() -> None:
    Stakes.of(impact="HUGE", irreversibility="PARTIAL", uncertainty="LOW", adversariality="BENIGN")


# -: An unknown status
def m70(ep: Idle, seen: Payload) -> None:
    ep.observe("SEEN", seen)


# -: Returning before the close
def m71(ep: Review) -> None:
    closed: Closed = ep


# E1: A state that is one of two
def m72(ep: Sense | Model, order: OrderUnder) -> None:
    ep.act(order)


# -: A helper for another state
def m73(ep: Model) -> None:
    watch(ep)


# -: A coroutine that is not awaited
def m74(ep: DecideAct, order: Order[Literal["READ"]], tool: Callable[[Task], Awaitable[int]]) -> None:
    done, value = ep.execute_with_async(order, tool)


# -: An episode at run time in place of a state
def m75(ep: AnyEpisode) -> None:
    watch(ep)


# INV-004: Observing what was inferred
def m76(ep: Sense, seen: Payload, belief: Payload) -> None:
    ep.observe("INFERRED", seen).believe(belief)


# INV-004: Beginning an episode with a claim that has no evidence
def m77() -> None:
    Setup("corr_pool", UNFOUNDED)


# INV-004: Changing to an envelope whose claim has no evidence
def m78(ep: Model) -> None:
    ep.under(UNFOUNDED)


# INV-004: Acting on a claim that has no evidence
def m79(ep: Model, order: ActOrder[AllVerified]) -> None:
    ep.act(order.under(UNFOUNDED))


# -: Evidence that no type knows
def m80(guess: Epistemics[Claims]) -> None:
    Envelope(intent={}, stakes=STAKES, quality=Quality.par("d", ["c"]), budgets={}, epistemics=guess, evidence={}, routing=Routing("FIND", "tools_ok"))


# -: Overriding INV-003 without an order of layer 1
def m81(order: ActOrder[AllVerified]) -> None:
    order.layer1_override()


# -: Overriding INV-003 for a reason alone
def m82(order: ActOrder[AllVerified]) -> None:
    order.layer1_override("it is urgent")


# INV-002: Acting at tier SUBPAR by an order of layer 1
def m83(ep: Model, order: ActOrder[Overridden], mcp: Envelope[Literal["HIGH"], Literal["SUBPAR"], Literal["tools_ok"]]) -> None:
    ep.act(order.under(mcp))


# INV-010: Acting without tools by an order of layer 1
def m84(ep: Model, order: ActOrder[Overridden], mcp: Envelope[Literal["HIGH"], Literal["SUPERB"], Literal["tools_down"]]) -> None:
    ep.act(order.under(mcp))


# INV-003: An assumption after the order of layer 1
def m85(ep: Model, order: ActOrder[Overridden], mcp: Envelope[Literal["HIGH"], Literal["SUPERB"], Literal["tools_ok"]]) -> None:
    ep.act(order.assumes("it holds").under(mcp))


# -: Ending safe mode for a reason alone
def m86(ep: SafeMode) -> None:
    ep.clear("it was checked")


# -: Making an order of layer 1 without its authority
def m87(ep: SafeMode) -> None:
    ep.clear(Layer1Order("it was checked"))


# -: Making the authority of layer 1 in place of assuming it
def m88() -> None:
    Layer1().order("it was checked")


# -: Revoking a permit in place of its token
def m89(ep: DecideAct, permit: Permit[ConfigSet, Modify]) -> None:
    ep.alert(Alert.warning("token_revocation", "the ticket was withdrawn").revoking(permit))


# -: Making a decision out of nothing
def m90(ep: Model) -> None:
    ep.act(OrderUnder())


# -: Making an episode out of nothing
def m91() -> None:
    Review().close()


# -: Exceeding the budgets for a reason alone
def m92(ep: DecideAct) -> None:
    ep.alert(Alert.budget_override("it is worth it"))


# FSM: Answering by an order of layer 1 where nobody was asked
def m93(ep: Model, signed: Layer1Order) -> None:
    ep.answered(signed)


# -: Spending a claimed use on another tool
def m94(ep: Execute) -> None:
    ConfigDrop.modify().with_permit(ep.claim_any(RaisePool)[0])


# -: More permits than uses that are claimed
def m95(ep: Execute) -> None:
    one, two = ep.claim_any(RaisePool)
