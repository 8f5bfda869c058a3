//! Second implementation of CLAIM and TIME, of the limits of a plan (INV-008) and of tools with two classes (INV-007), as simple
//! as possible: it has every accepted packet, and computes everything from the beginning each time.

use omen_fsm::{Event, Machine};
use omen_types::{
    DecisionOutcome, Instant, OperationType, PacketFacts, PayloadFacts, QualityTier, ResultStatus,
    TaskDirectivePayloadFacts, TaskType, ToolSafetyClass, UpdateType, VerificationRequirement,
};

use serde_json::{Value, json};

use crate::origins::{Found, Happened, packets};

/// Returns the findings on a packet after a history.
pub(crate) fn of(history: &[Happened], facts: &PacketFacts<'static>, event: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if !facts.placeholders.is_empty() {
        found.push(("CLAIM", "placeholder"));
    }
    match &facts.payload {
        PayloadFacts::BeliefUpdate(belief) => {
            if belief.update_type == UpdateType::NewBelief && belief.belief_changes.first().is_some() {
                found.push(("CLAIM", "prior_value"));
            }
            if event == "believe" && over_plan(history, facts) {
                found.push(("INV-008", "/header/packet_type"));
            }
        }
        PayloadFacts::TaskResult(result) => {
            let code = result.error_details.as_ref().and_then(|details| details.error_code.as_deref());
            let is_raw_answer = result.result_status == ResultStatus::Failure && code == Some("PG-4");
            if result.result_status != ResultStatus::Success && result.result_data == Some(true) && !is_raw_answer {
                found.push(("CLAIM", "result_data"));
            }
            let named = packets(history).find(|packet| packet.header.packet_id == result.directive_packet_id);
            let most = named.and_then(|packet| match &packet.payload {
                PayloadFacts::TaskDirective(directive) => directive.retry_policy.as_ref()?.max_retries,
                _ => None,
            });
            let retries = result.execution_metadata.as_ref().and_then(|metadata| metadata.retry_count);
            if most.is_some_and(|most| retries.is_some_and(|retries| retries > most)) {
                found.push(("CLAIM", "retry_count"));
            }
        }
        PayloadFacts::Decision(decision) => {
            let verified: Vec<bool> =
                decision.load_bearing_assumptions.iter().flatten().map(|assumption| assumption.verified).collect();
            let (tier, wanted) = (facts.mcp.quality.quality_tier, facts.mcp.quality.verification_requirement);
            let all = tier == QualityTier::Superb || wanted == VerificationRequirement::VerifyAll;
            let one = tier == QualityTier::Par || wanted == VerificationRequirement::VerifyOne;
            let falls_short =
                !verified.is_empty() && if all { verified.contains(&false) } else { one && !verified.contains(&true) };
            if decision.decision_outcome == DecisionOutcome::Act
                && decision.constraints_satisfied.verification_check == Some(true)
                && falls_short
            {
                found.push(("CLAIM", "verification_check"));
            }
        }
        PayloadFacts::TaskDirective(directive) => {
            let own = (directive.execution_method.tool_id.as_deref(), writes(directive));
            let before: Vec<_> = packets(history)
                .filter_map(|packet| match &packet.payload {
                    PayloadFacts::TaskDirective(other) => Some(other),
                    _ => None,
                })
                .filter(|other| own.0.is_some() && other.execution_method.tool_id.as_deref() == own.0)
                .map(writes)
                .collect();
            if before.contains(&!own.1) && !before.contains(&own.1) {
                found.push(("INV-007", "two classes"));
            }
        }
        _ => {}
    }
    if latest(history).is_some_and(|clock| behind(facts.header.created_at, clock)) {
        found.push(("TIME", "/header/created_at"));
    }
    if let Some(ahead) = shows(history, facts)
        && !(ahead + 1..history.len()).any(|at| match &history[at] {
            Happened::Packet(earlier, _) => shows(&history[..at], earlier) == Some(ahead),
            Happened::Tick(_) => false,
        })
    {
        found.push(("TIME", "ahead"));
    }
    found
}

/// Second implementation of D23 and D88.
fn writes(directive: &TaskDirectivePayloadFacts<'_>) -> bool {
    let operation = directive
        .execution_method
        .tool_params
        .and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
        .and_then(|params| params["operation"].as_str().map(str::to_ascii_lowercase));
    let writing = [OperationType::Write, OperationType::Modify, OperationType::Delete];
    directive.task_type == TaskType::ToolWrite
        || directive.tool_safety_class != Some(ToolSafetyClass::Read)
        || writing.iter().any(|one| operation.as_deref() == Some(one.as_str()))
}

fn latest(history: &[Happened]) -> Option<Instant> {
    packets(history).map(|packet| packet.header.created_at).max()
}

fn behind(time: Instant, other: Instant) -> bool {
    other.since(time).exceeds_seconds(60)
}

/// Returns the position in the history of the packet that a packet shows to be ahead: the only one near the latest time, if the
/// packet returns to the time of the others.
fn shows(history: &[Happened], facts: &PacketFacts<'_>) -> Option<usize> {
    let times: Vec<(usize, Instant)> = (0..history.len())
        .filter_map(|at| match &history[at] {
            Happened::Packet(packet, _) => Some((at, packet.header.created_at)),
            Happened::Tick(_) => None,
        })
        .collect();
    let clock = times.iter().map(|(_, time)| *time).max()?;
    let (others, late): (Vec<_>, Vec<_>) = times.into_iter().partition(|(_, time)| behind(*time, clock));
    let before = others.into_iter().map(|(_, time)| time).max()?;
    let returns = behind(facts.header.created_at, clock) && !behind(facts.header.created_at, before);
    (late.len() == 1 && returns).then(|| late[0].0)
}

/// Returns whether a belief update closes a loop that has exceeded its latest plan.
fn over_plan(history: &[Happened], facts: &PacketFacts<'_>) -> bool {
    let opened = history.iter().rposition(|one| matches!(one, Happened::Packet(_, "decide_verify_first")));
    let Some(looped) = opened.map(|at| &history[at..]) else { return false };
    let is_over = looped.iter().any(|one| matches!(one, Happened::Packet(_, "believe" | "halt")));
    let plan = packets(looped).filter_map(|packet| match &packet.payload {
        PayloadFacts::VerificationPlan(plan) => Some((plan, packet.header.created_at)),
        _ => None,
    });
    let Some((plan, since)) = plan.last().filter(|_| !is_over) else { return false };
    let results = packets(looped).filter(|packet| matches!(packet.payload, PayloadFacts::TaskResult(_))).count() as u64;
    let now = latest(history).map_or(facts.header.created_at, |clock| clock.max(facts.header.created_at));
    plan.max_tool_calls.is_some_and(|most| results > most.get())
        || plan.time_budget_seconds.is_some_and(|most| now.since(since).exceeds_seconds(most.get()))
}

/// The directives that a token covers, of two tools and all classes: their lines, in every order up to three of them.
#[test]
fn every_sequence_of_three_directives_agrees_on_the_classes_of_tools() {
    let log = omen_schema::example("valid/read-beside-write.jsonl").unwrap();
    let mut begin: Vec<Value> = log.lines().take(5).map(|line| serde_json::from_str(line).unwrap()).collect();
    let directive = begin.pop().unwrap();
    let token = &mut begin[3]["payload"];
    token["max_usage_count"] = 64.into();
    token["authorized_scope"] = json!({"tool_ids": ["a", "b"], "operation_types": OperationType::ALL});
    let mut machine = Machine::default();
    let mut history = Vec::new();
    for packet in &begin {
        let found = judge(&mut machine, &mut history, packet);
        assert_eq!(found, Some(Vec::new()));
    }
    let mut symbols = Vec::new();
    for tool in ["a", "b"] {
        for (class, operation) in [("READ", "read"), ("READ", "Delete"), ("WRITE", "write"), ("MIXED", "read")] {
            let mut packet = directive.clone();
            packet["payload"]["task_type"] = "tool_read".into();
            packet["payload"]["tool_safety_class"] = class.into();
            let params = json!({"operation": operation});
            packet["payload"]["execution_method"] = json!({"method": "tool", "tool_id": tool, "tool_params": params});
            symbols.push(packet);
        }
    }
    let mut counts = (0, 0);
    walk(&machine, &history, &symbols, &mut counts);
    assert!(counts.0 > 200 && counts.1 > 50, "{counts:?}");
}

fn walk(machine: &Machine, history: &[Happened], symbols: &[Value], counts: &mut (u32, usize)) {
    if history.len() == 7 {
        return;
    }
    for symbol in symbols {
        let (mut machine, mut history, mut packet) = (machine.clone(), history.to_vec(), symbol.clone());
        packet["header"]["packet_id"] = format!("pkt_{}", history.len()).into();
        packet["payload"]["task_id"] = format!("task_{}", history.len()).into();
        // In S5 the table has no row for a directive that reads.
        let Some(found) = judge(&mut machine, &mut history, &packet) else { continue };
        counts.0 += 1;
        counts.1 += found.len();
        walk(&machine, &history, symbols, counts);
    }
}

/// Returns the warnings on classes of tools, which agree with the second implementation; `None` if the packet is refused.
fn judge(machine: &mut Machine, history: &mut Vec<Happened>, packet: &Value) -> Option<Vec<Found>> {
    let facts = PacketFacts::parse(packet.to_string().leak()).unwrap();
    let event = Event::of(&facts).as_str();
    let verdict = machine.judge(&facts, None);
    if verdict.errors().next().is_some() {
        return None;
    }
    let is_of_classes =
        |one: &&omen_types::Diagnostic| one.pointer.as_deref() == Some("/payload/execution_method/tool_id");
    let found: Vec<Found> =
        verdict.invariants.iter().filter(is_of_classes).map(|_| ("INV-007", "two classes")).collect();
    let expected: Vec<Found> = of(history, &facts, event).into_iter().filter(|one| one.1 == "two classes").collect();
    assert_eq!(found, expected, "{packet} after {history:#?}");
    machine.accept(&facts, &verdict);
    history.push(Happened::Packet(Box::new(facts), event));
    Some(found)
}
