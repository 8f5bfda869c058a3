//! The machine agrees with the second implementation on the origins and links of packets, useless tokens, late tasks,
//! contradictions, and times that go backwards: for every layer and kind of packet, and along random episodes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use fastrand::Rng;
use omen_fsm::{Event, Machine, SENDERS};
use omen_testkit::proofs::Proofs;
use omen_types::evidence::PriorValues;
use omen_types::facts::{LoadBearingAssumptionFacts, RetryPolicyFacts};
use omen_types::{
    Code, Count, Diagnostic, Instant, PacketFacts, PayloadFacts, PositiveCount, Severity, StakesLevel, UpdateType,
    VerificationRequirement,
};

use crate::exhaustive::{Symbol, instance, symbols};
use crate::origins::{Found, Happened, Origins, awaited, newly_late};
use crate::simple::Packet;

/// Returns the findings that the second implementation covers.
fn known(findings: &[Diagnostic], facts: &PacketFacts<'_>) -> Vec<Found> {
    let is_token = matches!(facts.payload, PayloadFacts::ToolAuthorizationToken(_));
    let is_of_two_classes = |finding: &Diagnostic| {
        finding.severity == Severity::Warning && finding.pointer.as_deref() == Some("/payload/execution_method/tool_id")
    };
    let mut found: Vec<Found> = findings
        .iter()
        .filter(|finding| match finding.code {
            Code::Layer | Code::Chain | Code::Claim | Code::Time | Code::Inv008 | Code::Inv011 => true,
            Code::Inv007 => is_token || is_of_two_classes(finding),
            _ => false,
        })
        .map(|finding| {
            assert_eq!(finding.severity, Severity::Warning, "{finding}");
            assert!(finding.also.is_empty(), "{finding}");
            let pointer = match finding.pointer.as_deref().unwrap() {
                "/header/layer_source" => "/header/layer_source",
                "/payload/issuer_layer" => "/payload/issuer_layer",
                "/header/previous_packet_id" => "/header/previous_packet_id",
                "/header/campaign_id" => "/header/campaign_id",
                place if place.starts_with("/payload/evidence_integration/") => "/payload/evidence_integration/",
                place if place.starts_with("/payload/contradiction_details/conflicting_packet_ids/") => {
                    "/payload/contradiction_details/conflicting_packet_ids/"
                }
                place if place.starts_with("/payload/related_packet_ids/") => "/payload/related_packet_ids/",
                "/payload/blocking_decision_packet_id" => "/payload/blocking_decision_packet_id",
                "/payload/decision_packet_id" => "/payload/decision_packet_id",
                "/payload/expiry" => "/payload/expiry",
                "/payload/usage_count" => "/payload/usage_count",
                "/payload/decision_outcome" => "/payload/decision_outcome",
                "/payload/task_id" => "/payload/task_id",
                "/header/created_at" => "/header/created_at",
                "/header/packet_type" => "/header/packet_type",
                "/payload/execution_method/tool_id" => "two classes",
                "/payload/result_data" => "result_data",
                "/payload/execution_metadata/retry_count" => "retry_count",
                "/payload/constraints_satisfied/verification_check" => "verification_check",
                "/here" => "placeholder",
                prior if prior.ends_with("/prior_value") => "prior_value",
                other => panic!("{other}"),
            };
            (finding.code.as_str(), pointer)
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn every_layer_and_every_kind_of_packet_agree() {
    let origins = Origins::new();
    let (mut pairs, mut legal) = (0, 0);
    for symbol in symbols() {
        for sender in SENDERS {
            for issuer in SENDERS {
                let mut facts = symbol.facts.clone();
                facts.header.layer_source = sender.layer;
                if let PayloadFacts::ToolAuthorizationToken(token) = &mut facts.payload {
                    token.issuer_layer = issuer.layer;
                } else if issuer.layer != sender.layer {
                    continue;
                }
                let event = Event::of(&facts);
                let expected = origins.layer(&facts, event.as_str());
                // The layer does not depend on the state, so any state will do in which the packet is legal.
                let found = from_anywhere(&facts).map(|findings| {
                    known(&findings, &facts).into_iter().filter(|(code, _)| *code == "LAYER").collect::<Vec<_>>()
                });
                if let Some(found) = found {
                    assert_eq!(found, expected, "{} from {}", event.as_str(), sender.name());
                    pairs += 1;
                    legal += usize::from(expected.is_empty());
                }
            }
        }
    }
    println!("{pairs} pairs of layer and packet, {legal} without a finding");
    assert!(pairs > 200 && legal > 60, "{pairs} {legal}");
}

/// Returns the findings of the invariants on a packet, at the first position of an example log where one of its kind is legal.
fn from_anywhere(facts: &PacketFacts<'static>) -> Option<Vec<Diagnostic>> {
    let event = Event::of(facts);
    for (_, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with("valid/") && path.ends_with("l")) {
        let mut machine = Machine::default();
        for line in log.lines() {
            let Ok(next) = PacketFacts::parse(line) else { continue };
            if Event::of(&next) == event {
                let mut own = next.clone();
                own.header.layer_source = facts.header.layer_source;
                if let (PayloadFacts::ToolAuthorizationToken(own), PayloadFacts::ToolAuthorizationToken(token)) =
                    (&mut own.payload, &facts.payload)
                {
                    own.issuer_layer = token.issuer_layer;
                }
                let verdict = machine.judge(&own, None);
                if verdict.ids.is_empty() && verdict.fsm.is_none() {
                    return Some(verdict.invariants);
                }
            }
            let verdict = machine.judge(&next, None);
            if verdict.errors().next().is_none() {
                machine.accept(&next, &verdict);
            }
        }
    }
    None
}

const BEGINNING: &str = "2026-03-01T10:00:00Z";

/// Returns the id of a packet of the episode, of another episode, or an invalid one.
fn link(rng: &mut Rng, ids: &[String]) -> Cow<'static, str> {
    match (rng.u8(..4), rng.choice(ids)) {
        (0, _) | (_, None) => "pkt_elsewhere".into(),
        (1, _) => "memo 4711".into(),
        (_, Some(id)) => id.clone().into(),
    }
}

/// Returns the details of a contradiction, from an example.
fn contradiction() -> omen_types::packet::ContradictionDetailsFacts<'static> {
    let log = omen_schema::example("valid/contradiction-resolved.jsonl").unwrap();
    let details = log.lines().find_map(|line| match PacketFacts::parse(line).ok()?.payload {
        PayloadFacts::BeliefUpdate(belief) => belief.contradiction_details,
        _ => None,
    });
    details.expect("a contradiction")
}

/// Gives a packet a random time, origin and links.
fn vary(rng: &mut Rng, at: &mut u64, facts: &mut PacketFacts<'static>, ids: &[String]) {
    *at += if rng.u8(..5) == 0 { rng.u64(0..120) } else { rng.u64(0..5) };
    let back = if rng.u8(..6) == 0 { rng.u64(0..150).min(*at) } else { 0 };
    let ahead = if rng.u8(..24) == 0 { rng.u64(0..500) } else { 0 };
    facts.header.created_at = BEGINNING.parse::<Instant>().unwrap().plus_seconds(*at - back + ahead);
    if rng.u8(..8) == 0 {
        facts.placeholders = vec!["/here".to_owned(); rng.usize(1..3)];
    }
    facts.header.layer_source = rng.choice(SENDERS).unwrap().layer;
    facts.header.previous_packet_id = match rng.u8(..4) {
        0 => None,
        1 => Some(facts.header.packet_id.clone()),
        2 => Some("pkt_elsewhere".into()),
        _ => rng.choice(ids).map(|id| id.clone().into()),
    };
    facts.header.campaign_id = match rng.u8(..8) {
        0 => Some("camp_one".into()),
        1 => Some("camp_two".into()),
        _ => None,
    };
    facts.mcp.stakes.stakes_level = if rng.bool() { StakesLevel::Critical } else { StakesLevel::Low };
    match &mut facts.payload {
        PayloadFacts::TaskDirective(directive) => {
            directive.timeout_seconds = rng.bool().then(|| PositiveCount::new(rng.u64(1..60)).unwrap());
            facts.mcp.budgets.time_budget_seconds = Count::new(rng.u64(1..60)).unwrap();
            directive.execution_method.tool_id =
                rng.choice([None, Some("tool_a".into()), Some("tool_b".into())]).unwrap();
            directive.execution_method.tool_params = rng
                .choice([None, Some(r#"{"operation":"READ"}"#), Some(r#"{"\u006fperation":"Delete"}"#), Some("{}")])
                .unwrap();
            directive.retry_policy = rng.bool().then(|| samples().retries.clone());
        }
        PayloadFacts::TaskResult(result) => {
            result.result_data = rng.choice([None, Some(false), Some(true)]).unwrap();
            if let Some(details) = &mut result.error_details {
                details.error_code = rng.choice([None, Some("PG-4".into()), Some("E".into())]).unwrap();
            }
            result.observation_packet_id = rng.bool().then(|| match rng.bool() {
                true => link(rng, ids),
                // An observation may come later.
                false => format!("pkt_{}", ids.len() + rng.usize(1..4)).into(),
            });
            if let Some(metadata) = &mut result.execution_metadata {
                metadata.retry_count = rng.bool().then(|| Count::new(rng.u64(0..5)).unwrap());
            }
        }
        PayloadFacts::BeliefUpdate(belief) => {
            belief.update_type = rng.choice([UpdateType::NewBelief, UpdateType::Revision]).unwrap();
            belief.belief_changes = *rng.choice(&samples().changes).unwrap();
            if rng.bool() {
                let cited = (0..rng.usize(0..3)).map(|_| link(rng, ids)).collect::<Vec<_>>();
                belief.evidence_integration.get_or_insert_default().extend(cited);
            }
            let conflicting = rng.bool().then(|| (0..rng.usize(0..3)).map(|_| link(rng, ids)).collect());
            let mut details = contradiction();
            details.conflicting_packet_ids = conflicting;
            belief.contradiction_details = Some(details);
        }
        PayloadFacts::VerificationPlan(plan) => {
            plan.decision_packet_id = link(rng, ids);
            plan.max_tool_calls = rng.bool().then(|| Count::new(rng.u64(0..3)).unwrap());
            plan.time_budget_seconds = rng.bool().then(|| PositiveCount::new(rng.u64(1..60)).unwrap());
        }
        PayloadFacts::ToolAuthorizationToken(token) => {
            token.issuer_layer = rng.choice(SENDERS).unwrap().layer;
            token.max_usage_count = PositiveCount::new(rng.u64(1..4)).unwrap();
            token.usage_count = rng.bool().then(|| Count::new(rng.u64(0..5)).unwrap());
            token.expiry = facts.header.created_at.plus_seconds(rng.u64(0..8));
            token.revoked = rng.bool().then(|| rng.u8(..4) == 0);
        }
        PayloadFacts::Escalation(escalation) => {
            escalation.blocking_decision_packet_id = rng.bool().then(|| link(rng, ids));
        }
        PayloadFacts::IntegrityAlert(alert) => {
            alert.related_packet_ids = Some((0..rng.usize(0..3)).map(|_| link(rng, ids)).collect());
        }
        PayloadFacts::Decision(decision) => {
            decision.constraints_satisfied.verification_check = rng.choice([None, Some(false), Some(true)]).unwrap();
            decision.load_bearing_assumptions = rng.choice(&samples().assumptions).cloned();
            facts.mcp.quality.verification_requirement = *rng.choice(VerificationRequirement::ALL).unwrap();
            // Budgets and tiers are not tested here, so they must not stop an episode.
            facts.mcp.budgets.time_budget_seconds = Count::new(1_000_000).unwrap();
            facts.mcp.quality.quality_tier = omen_types::QualityTier::Superb;
        }
        _ => {}
    }
}

/// Parts of facts that only a parser creates, from the examples.
struct Samples {
    retries: RetryPolicyFacts,
    changes: Vec<PriorValues>,
    assumptions: Vec<Vec<LoadBearingAssumptionFacts<'static>>>,
}

fn samples() -> &'static Samples {
    static SAMPLES: LazyLock<Samples> = LazyLock::new(|| {
        let (mut retries, mut changes, mut assumptions) = (None, Vec::new(), Vec::new());
        let logs = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
        for facts in logs.flat_map(|(_, log)| log.lines()).filter_map(|line| PacketFacts::parse(line).ok()) {
            match facts.payload {
                PayloadFacts::TaskDirective(directive) => {
                    let policy = directive.retry_policy.filter(|policy| policy.max_retries == Count::new(2).ok());
                    retries = retries.or(policy);
                }
                PayloadFacts::BeliefUpdate(belief) => changes.push(belief.belief_changes),
                PayloadFacts::Decision(decision) => assumptions.extend(decision.load_bearing_assumptions),
                _ => {}
            }
        }
        // Equally many updates with and without a contradiction.
        changes.sort_unstable_by_key(|one| one.first());
        changes.dedup_by_key(|one| one.first());
        Samples { retries: retries.expect("a directive that may be retried twice"), changes, assumptions }
    });
    &SAMPLES
}

/// Runs one random episode, and counts its findings.
fn episode(seed: u64, symbols: &[Symbol], origins: &Origins, counts: &mut BTreeMap<Found, u64>) {
    let mut rng = Rng::with_seed(seed);
    let mut machine = Machine::default();
    let (mut history, mut accepted): (Vec<Happened>, Vec<Packet>) = (Vec::new(), Vec::new());
    let (mut ids, mut at) = (Vec::new(), 0);
    for _ in 0..200 {
        if rng.u8(..10) == 0 {
            let now = BEGINNING.parse::<Instant>().unwrap().plus_seconds(at + rng.u64(0..40));
            let expected = newly_late(&history, now).len();
            let found = machine.tick(now);
            assert_eq!(found.len(), expected, "seed {seed}: a tick after {history:#?}");
            assert!(machine.tick(now).is_empty(), "seed {seed}: reported twice");
            history.push(Happened::Tick(now));
            *counts.entry(("INV-011", "tick")).or_default() += found.len() as u64;
            continue;
        }
        let symbol = rng.choice(symbols).unwrap();
        // An episode that is mostly in safe mode would test little.
        if symbol.facts.payload.packet_type() == omen_types::PacketType::IntegrityAlertPacket && rng.bool() {
            continue;
        }
        let (packet, mut facts) = instance(symbol, &accepted);
        vary(&mut rng, &mut at, &mut facts, &ids);
        let verdict = machine.judge(&facts, None);
        if !verdict.ids.is_empty() || verdict.fsm.is_some() {
            continue;
        }
        let mut found = known(&verdict.invariants, &facts);
        found.extend(verdict.ahead.iter().map(|_| ("TIME", "ahead")));
        found.sort_unstable();
        let expected = origins.of(&history, &facts, verdict.event.as_str());
        assert_eq!(found, expected, "seed {seed}: {} after {history:#?}", verdict.event.as_str());
        for one in found {
            *counts.entry(one).or_default() += 1;
        }
        if verdict.errors().next().is_none() {
            machine.accept(&facts, &verdict);
            ids.push(packet.id.clone());
            accepted.push(packet);
            history.push(Happened::Packet(Box::new(facts), verdict.event.as_str()));
        }
    }
    let ends = machine.finish();
    let dangling = ends.iter().filter(|(_, found)| found.code == Code::Chain);
    let dangling: Vec<_> = dangling.map(|(id, _)| id.expect("a result").to_owned()).collect();
    assert_eq!(dangling, awaited(&history), "seed {seed}: at the end of {history:#?}");
    *counts.entry(("CHAIN", "end")).or_default() += dangling.len() as u64;
    *counts.entry(("packets", "accepted")).or_default() += accepted.len() as u64;
}

#[test]
fn random_episodes_agree() {
    let (symbols, origins) = (symbols(), Origins::new());
    let mut counts = BTreeMap::new();
    let (episodes, least) = Proofs::wanted().choose((400, 2), (3_000, 20));
    for seed in 0..episodes {
        episode(seed, &symbols, &origins, &mut counts);
    }
    println!("{counts:#?}");
    for (code, pointer) in [
        ("LAYER", "/header/layer_source"),
        ("LAYER", "/payload/issuer_layer"),
        ("CHAIN", "/header/previous_packet_id"),
        ("CHAIN", "/header/campaign_id"),
        ("CHAIN", "/payload/evidence_integration/"),
        ("CHAIN", "/payload/contradiction_details/conflicting_packet_ids/"),
        ("CHAIN", "/payload/related_packet_ids/"),
        ("CHAIN", "/payload/blocking_decision_packet_id"),
        ("CHAIN", "/payload/decision_packet_id"),
        ("CHAIN", "end"),
        ("INV-007", "/payload/expiry"),
        ("INV-007", "/payload/usage_count"),
        ("INV-011", "/payload/decision_outcome"),
        ("INV-011", "/payload/task_id"),
        ("INV-011", "/header/created_at"),
        ("INV-011", "tick"),
        ("INV-008", "/header/packet_type"),
        ("CLAIM", "placeholder"),
        ("CLAIM", "prior_value"),
        ("CLAIM", "result_data"),
        ("CLAIM", "retry_count"),
        ("CLAIM", "verification_check"),
        ("TIME", "/header/created_at"),
        ("TIME", "ahead"),
    ] {
        assert!(counts.get(&(code, pointer)).is_some_and(|count| *count > least), "too few of {code} at {pointer}");
    }
}
