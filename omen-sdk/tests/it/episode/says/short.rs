//! Programs that use only the methods of the typed API.

use omen::packet::{
    ContradictionDetails, EstimatedCost, ExecutionMetadata, IntentScope, NonNegativeNumber, PacketId, RealNumber,
    ReliabilityMetadata, ResolutionMethod, RetryPolicy,
};
use omen::*;
use omen_codegen::model::Kind;
use serde_json::Value;

use super::super::log::{Hands, setup};
use super::super::refusals::{modelling, ruling};

tool!(pub Get = "config.get", Read);
tool!(pub Set = "config.set", Write);
tool!(pub Move = "config.move", Mixed);
scope!(pub Deploy: tools [Set, Move], operations [Write, Modify, Delete, Read]);

pub(super) fn logs() -> Vec<String> {
    let mut logs = vec![works(), inquires(), asks(), defers(), halts()];
    logs.extend(envelopes());
    logs
}

/// Returns an envelope with all optional members, low stakes and a budget for all that the programs do.
pub(super) fn envelope() -> Envelope<LowStakes, Par, ToolsOk> {
    omen::facts::OpenEnvelope {
        intent: Intent::new(text!("look after the pool"), text!("database orders")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the pool is healthy"), ["pool.ok"])
            .satisficing()
            .verification(VerificationRequirement::Optional),
        budgets: Budgets { tokens: 1_000, tool_calls: 30, seconds: 600, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("read from the live configuration"))
            .assuming("nobody else writes")
            .stale_after(600),
        evidence: Evidence::tool_output(text!("config.get#1"), "2026-03-01T09:59:00Z".parse().unwrap())
            .reliability(unit!(0.9))
            .and_user_observation(text!("ticket 7"), "2026-03-01T09:59:00Z".parse().unwrap())
            .and_memory_item(text!("note 7"), "2026-03-01T09:59:00Z".parse().unwrap())
            .and_derived_calc(text!("sum 7"), "2026-03-01T09:59:00Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Lookup, tools: ToolsOk },
    }
    .seal()
}

pub(super) fn begin(id: &str) -> Setup {
    setup(id, Hands::new()).campaign("camp_spring".parse().unwrap())
}

pub(super) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(id: &str) -> T {
    id.parse().unwrap()
}

/// Returns each value of an enum, by its name in the schemas.
pub(super) fn each<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> Vec<T> {
    match &super::model().def(name).unwrap().kind {
        Kind::Enum(values) => values.iter().map(|value| id(&value.wire)).collect(),
        _ => panic!("`{name}` is not an enum"),
    }
}

/// Verifies, acts, writes under a token, and closes.
fn works() -> String {
    let envelope = envelope();
    let seen = Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 }))
        .queried(fields!({ "key": "pool" }))
        .reliability_metadata(
            ReliabilityMetadata::builder()
                .tool_success(true)
                .latency_ms(NonNegativeNumber::new(3.0).unwrap())
                .partial_result(false)
                .build(),
        );
    let mut episode = begin("corr_works").start().unwrap().under(&envelope).observe(seen);
    for kind in each::<ObservationType>("ObservationType") {
        episode = episode.observe(Observation::new(Observed, kind, fields!({ "value": 1 })));
    }
    let belief = Belief::new("db", "pool", 20).epistemic_upgrade(true).citing([id::<PacketId>("pkt_works_1")]).unwrap();
    let methods = each::<VerificationMethod>("VerificationMethod");
    let target = |method| Target::of(text!("nobody writes"), method, text!("it is quiet"));
    let [tool, user, calculation, memory] = <[VerificationMethod; 4]>::try_from(methods).unwrap().map(target);
    let (plan, [assumption, ..]) = Plan::of([
        Target::tool(text!("the pool is 20"), text!("config.get reports 20"), Get),
        tool,
        user,
        calculation,
        memory,
    ]);
    let plan = plan.max_tool_calls(3).time_budget_seconds(60).on_failure(OnFailure::Retry);
    let read = Directive::new(Get, op::Read, fields!({ "key": "pool" })).verifying().timeout_seconds(9);
    let policy =
        RetryPolicy::builder().max_retries(2_u32.into()).backoff_multiplier(BackoffFactor::new(2.0).unwrap()).build();
    let (mut episode, proof) = episode
        .believe(belief)
        .verify_first(ruling(), &envelope)
        .unwrap()
        .verify(plan)
        .unwrap()
        .check(read.retry_policy(policy).ready(), |task| task.success(20))
        .unwrap()
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 })))
        .believe(Belief::revision("db", "pool", 20, 20));
    for after in each::<OnFailure>("OnFailure") {
        let (plan, _) = Plan::one(Target::of(text!("it is quiet"), VerificationMethod::User, text!("they say so")));
        (episode, _) = episode
            .verify_first(ruling(), &envelope)
            .unwrap()
            .verify(plan.on_failure(after))
            .unwrap()
            .check(Inquiry::llm_call(None).ready(), |task| task.success("quiet"))
            .unwrap()
            .observe(Observation::user_input(Observed, fields!({ "quiet": true })))
            .believe(Belief::confidence("db", "quiet", unit!(0.5), unit!(0.9)));
    }
    // An assumption that no later loop has verified (D53).
    drop((proof, assumption));
    let (plan, again) = Plan::one(Target::tool(text!("the pool is 20"), text!("config.get reports 20"), Get));
    let (episode, proof) = episode
        .verify_first(ruling(), &envelope)
        .unwrap()
        .verify(plan)
        .unwrap()
        .check(Directive::bare(Get, op::Read).ready(), |task| task.success(20))
        .unwrap()
        .observe(Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 })))
        .believe(Belief::refreshed("db", "pool", 20));
    let options = [
        Candidate { id: "raise".into(), description: Some("to 40".into()) },
        Candidate { id: "restart".into(), description: None },
    ];
    let chosen = Arbitration::of(options).veto(|_| true).unwrap().feasible(|_| true).unwrap();
    let order = chosen
        .tradeoff(Tradeoff::MinRegret, &text!("it can be undone"))
        .may_fail("the pool is too large", "lower it again")
        .expected_value(RealNumber::new(2.5).unwrap())
        .risk_profile("small")
        .to_act()
        .relies_on(proof.verifies(again));
    let spec = TokenSpec::new(60, text!("ticket 7")).constrained(fields!({ "max_value": 40 }));
    let (episode, [one, other]) = episode.act(order, &envelope).unwrap().authorize::<Deploy, 2>(spec).unwrap();
    let writes = [
        Directive::new(Set, op::Modify, fields!({ "value": 40 })).with(one),
        Directive::new(Move, op::Write, fields!({ "value": 40 })).with(other),
    ];
    let (episode, [set, moved]) = episode.execute(writes).unwrap();
    let used = ExecutionMetadata::builder()
        .execution_time_ms(NonNegativeNumber::new(4.0).unwrap())
        .tokens_used(5_u32.into())
        .tool_calls_used(1_u32.into())
        .retry_count(1_u32.into())
        .build();
    let mut error = ErrorDetails::builder().error_message("locked").error_code("E7").build();
    (error.is_transient, error.retry_recommended) = (Some(true), Some(false));
    let results = [
        set.success(json!({ "value": 40 })).execution_metadata(used).observation_packet_id("pkt_works_2"),
        moved.failed(error),
    ];
    let episode = episode.settle(results).unwrap();
    let closed = episode.review(Belief::revision("db", "pool", 20, 40)).close().unwrap();
    closed.lines().join("\n")
}

/// Queries code, a model and memory, and resolves contradictions.
fn inquires() -> String {
    let envelope = envelope();
    let episode = modelling(begin("corr_inquires")).act(ruling().to_act(), &envelope).unwrap();
    let orders = [
        Inquiry::code(text!("git:sum.py@7"), Some(fields!({ "n": 7 }))).timeout_seconds(9).ready(),
        Inquiry::llm_call(Some(fields!({ "prompt": "is it quiet?" }))).verifying().ready(),
        Inquiry::memory_query(None).ready(),
    ];
    let (episode, [code, llm, memory]) = episode.execute(orders).unwrap();
    let mut episode = episode.settle([code.success(28), llm.cancelled(), memory.failure(text!("lost"))]).unwrap();
    for method in each::<ResolutionMethod>("ResolutionMethod") {
        let conflicting = vec!["pkt_inquires_1".to_owned()];
        let details =
            ContradictionDetails::builder().conflicting_packet_ids(conflicting).resolution_method(method).build();
        episode = episode
            .remodel(Belief::resolved("db", "pool", 20, 28, details))
            .act(ruling().to_act(), &envelope)
            .unwrap()
            .execute_with(Inquiry::memory_query(None).ready(), |_| Ok::<_, String>(28))
            .unwrap()
            .0;
    }
    episode.review(Belief::new("db", "sum", 28)).close().unwrap().lines().join("\n")
}

fn question(trigger: EscalationTrigger) -> Escalation<2, 1> {
    let choice = |id: &str| Choice {
        id: id.into(),
        description: id.into(),
        pros: vec!["cheap".into()],
        cons: vec!["slow".into()],
    };
    Escalation {
        trigger,
        options: [choice("wait"), choice("go")],
        gaps: [Gap { gap: "load".into(), impact_if_unknown: "unknown".into() }],
        next_step: Recommendation { step: text!("ask"), rationale: "it is free".into() },
    }
}

/// Escalates for every reason, and cancels.
fn asks() -> String {
    let envelope = envelope();
    let decided = modelling(begin("corr_asks")).to_escalate(ruling(), &envelope);
    let blocking = decided.decision().unwrap().clone();
    let cost =
        EstimatedCost::builder().tokens(5_u32.into()).time_seconds(6_u32.into()).tool_calls(7_u32.into()).build();
    let full = question(EscalationTrigger::UserOverrideRequired)
        .full()
        .risk_summaries(["it grows", "it breaks"])
        .verification_methods(["measure it"])
        .blocking_decision_packet_id(blocking)
        .estimated_cost(cost);
    let mut episode = decided.escalate(full);
    for trigger in each::<EscalationTrigger>("EscalationTrigger") {
        episode = episode.escalate(question(trigger));
    }
    let episode = episode.answered(Answer::text(&text!("wait"))).cancel(ruling(), &envelope);
    episode.believe(Belief::new("db", "change", "dropped")).close().unwrap().lines().join("\n")
}

fn defers() -> String {
    let envelope = envelope();
    let episode = modelling(begin("corr_defers")).defer(ruling(), &envelope);
    episode.believe(Belief::new("db", "change", "later")).close().unwrap().lines().join("\n")
}

/// Sends alerts of every type, halts, and is cleared.
fn halts() -> String {
    let mut episode = modelling(begin("corr_halts"));
    for sort in each::<AlertType>("AlertType") {
        let alert = Alert::warning(sort, text!("for the record"))
            .revoking([id::<TokenId>("token_old")])
            .related_packet_ids([id::<PacketId>("pkt_halts_1")]);
        episode = episode.alert(alert);
    }
    let authority = Layer1::assume();
    let episode = episode
        .alert(Alert::budget_override(authority.order(text!("it is worth it"))))
        .halt(text!("the disk is full"))
        .clear(authority.order(text!("the disk was emptied")));
    episode.close().unwrap().lines().join("\n")
}

/// Returns an episode for each value of each enum of the envelope.
pub(super) fn envelopes() -> Vec<String> {
    let whole = serde_json::to_value(envelope().mcp()).unwrap();
    let places = [
        ("/stakes/impact", "Impact"),
        ("/stakes/irreversibility", "Irreversibility"),
        ("/stakes/uncertainty", "Uncertainty"),
        ("/stakes/adversariality", "Adversariality"),
        ("/quality/quality_tier", "QualityTier"),
        ("/quality/verification_requirement", "VerificationRequirement"),
        ("/epistemics/status", "EpistemicStatus"),
        ("/epistemics/freshness_class", "FreshnessClass"),
        ("/routing/task_class", "TaskClass"),
        ("/routing/tools_state", "ToolsState"),
    ];
    let mut logs = Vec::new();
    let mut observe = |mcp: &Value| {
        let envelope = DynEnvelope::from_value(mcp).unwrap_or_else(|errors| panic!("{errors:?}\n{mcp}"));
        let clock = Hands::new();
        let setup = Setup::new(id(&format!("corr_envelope_{}", logs.len())), &envelope, clock).claims(&Claims::new());
        let alert = Alert::info(AlertType::Other, text!("in this envelope"));
        let episode = setup.on_drop(OnDrop::Leave).start().unwrap().alert(alert);
        logs.push(episode.lines().join("\n"));
    };
    for (pointer, name) in places {
        for value in each_text(name) {
            let mut mcp = whole.clone();
            *mcp.pointer_mut(pointer).unwrap() = value.into();
            // The level follows from the axes.
            mcp["stakes"].as_object_mut().unwrap().remove("stakes_level");
            observe(&mcp);
        }
    }
    // All axes are high at once, or the level is in between.
    for impact in ["HIGH", "CRITICAL"] {
        let mut mcp = whole.clone();
        mcp["stakes"] = json!({ "impact": impact, "irreversibility": "IRREVERSIBLE", "uncertainty": "MEDIUM", "adversariality": "BENIGN" });
        observe(&mcp);
        mcp["stakes"]["uncertainty"] = "HIGH".into();
        observe(&mcp);
    }
    let guess = omen::facts::OpenEnvelope {
        intent: Intent::new(
            text!("guess"),
            IntentScope::JsonObject(serde_json::Map::from_iter([("db".into(), "orders".into())])),
        ),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::subpar(text!("a guess"), ["said"]),
        budgets: Budgets { tokens: 1, tool_calls: 1, seconds: 1, risk: Risk::new(text!("none"), text!("none")) },
        epistemics: Epistemics::new(Hypothesized, Strategic, unit!(0.1), text!("nobody has looked")),
        evidence: Evidence::absent(text!("nobody has looked")),
        routing: Routing { task_class: TaskClass::Find, tools: ToolsOk },
    };
    observe(&serde_json::to_value(guess.seal().mcp()).unwrap());
    logs
}

fn each_text(name: &str) -> Vec<String> {
    match &super::model().def(name).unwrap().kind {
        Kind::Enum(values) => values.iter().map(|value| value.wire.clone()).collect(),
        _ => panic!("`{name}` is not an enum"),
    }
}
