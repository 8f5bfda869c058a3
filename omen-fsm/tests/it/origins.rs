//! Second implementation of LAYER, CHAIN, and the parts of INV-007 and INV-011 about the issue of tokens and late tasks, as
//! simple as possible: it keeps every accepted packet, and computes everything from the beginning each time.

use omen_types::{DecisionOutcome, Instant, LayerSource, PacketFacts, PayloadFacts, StakesLevel};
use serde_json::Value;

use crate::own_words;

/// An event of an episode's history.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// A packet was accepted.
    Packet(Box<PacketFacts<'static>>, &'static str),
    /// The clock was read without a packet.
    Tick(Instant),
}

pub(crate) struct Origins {
    layers: Value,
    packets: Vec<(String, String)>,
}

/// A code and the member that the finding is about.
pub(crate) type Found = (&'static str, &'static str);

impl Origins {
    pub(crate) fn new() -> Self {
        let file: Value = serde_json::from_str(omen_schema::file("episode.fsm.json").unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let packets = file["events"].as_array().unwrap().iter().map(|e| (text(&e["id"]), text(&e["packet"]))).collect();
        Self { layers: file["layers"].clone(), packets }
    }

    /// Returns the findings on a packet after a history.
    pub(crate) fn of(&self, history: &[Happened], facts: &PacketFacts<'static>, event: &'static str) -> Vec<Found> {
        let mut found = self.layer(facts, event);
        found.extend(chain(history, facts));
        let now = clock(history).map_or(facts.header.created_at, |clock| clock.max(facts.header.created_at));
        if let PayloadFacts::ToolAuthorizationToken(token) = &facts.payload {
            let spent = token.usage_count.map_or(0, omen_types::Count::get) >= token.max_usage_count.get();
            if token.expiry <= now {
                found.push(("INV-007", "/payload/expiry"));
            } else if spent {
                found.push(("INV-007", "/payload/usage_count"));
            }
        }
        if let PayloadFacts::Decision(decision) = &facts.payload
            && decision.decision_outcome != DecisionOutcome::Escalate
            && owes_escalation(history)
        {
            found.push(("INV-011", "/payload/decision_outcome"));
        }
        for at in newly_late(history, now) {
            let answered = match (&facts.payload, &history[at]) {
                (PayloadFacts::TaskResult(result), Happened::Packet(sent, _)) => {
                    result.directive_packet_id == sent.header.packet_id
                }
                _ => false,
            };
            found.push(("INV-011", if answered { "/payload/task_id" } else { "/header/created_at" }));
        }
        found.extend(own_words::of(history, facts, event));
        found.sort_unstable();
        found
    }

    /// Returns the findings of LAYER, according to the file.
    pub(crate) fn layer(&self, facts: &PacketFacts<'_>, event: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let has = |list: &Value, what: &str| list.as_array().unwrap().iter().any(|entry| entry == what);
        let packet = &self.packets.iter().find(|(id, _)| id == event).unwrap().1;
        let own = name(facts.header.layer_source);
        let judged = !has(&self.layers["anywhere"], event) && !has(&self.layers["unjudged"], packet);
        let entry = self.layers["senders"].as_array().unwrap().iter().find(|sender| sender["layer"] == *own).unwrap();
        if judged && !has(&entry["sends"], packet) {
            found.push(("LAYER", "/header/layer_source"));
        }
        if let PayloadFacts::ToolAuthorizationToken(token) = &facts.payload
            && name(token.issuer_layer) != own
            && own != "1"
            && own != "Integrity"
        {
            found.push(("LAYER", "/payload/issuer_layer"));
        }
        found
    }
}

fn name(layer: LayerSource) -> String {
    match layer {
        LayerSource::LayerNumber(number) => number.to_string(),
        LayerSource::IntegrityLayer(overlay) => overlay.to_string(),
    }
}

pub(crate) fn packets(history: &[Happened]) -> impl Iterator<Item = &PacketFacts<'static>> {
    history.iter().filter_map(|happened| match happened {
        Happened::Packet(facts, _) => Some(&**facts),
        Happened::Tick(_) => None,
    })
}

fn chain(history: &[Happened], facts: &PacketFacts<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(previous) = &facts.header.previous_packet_id
        && !packets(history).any(|packet| packet.header.packet_id == *previous)
    {
        found.push(("CHAIN", "/header/previous_packet_id"));
    }
    let first = packets(history).find_map(|packet| packet.header.campaign_id.clone());
    if let (Some(first), Some(own)) = (first, &facts.header.campaign_id)
        && first != *own
    {
        found.push(("CHAIN", "/header/campaign_id"));
    }
    let accepted = |id: &str| packets(history).any(|packet| packet.header.packet_id == *id);
    let dangling = |ids: &[&str]| ids.iter().filter(|id| !accepted(id)).count();
    let mut add = |count, place| found.extend(std::iter::repeat_n(("CHAIN", place), count));
    match &facts.payload {
        PayloadFacts::BeliefUpdate(belief) => {
            let cited: Vec<_> = belief.evidence_integration.iter().flatten().map(|id| &**id).collect();
            let packets: Vec<_> = cited.into_iter().filter(|id| id.starts_with("pkt_") && id.len() > 4).collect();
            add(dangling(&packets), "/payload/evidence_integration/");
            let details = belief.contradiction_details.iter();
            let conflicting: Vec<_> =
                details.flat_map(|details| details.conflicting_packet_ids.iter().flatten()).map(|id| &**id).collect();
            add(dangling(&conflicting), "/payload/contradiction_details/conflicting_packet_ids/");
        }
        PayloadFacts::Escalation(escalation) => {
            let blocking: Vec<_> = escalation.blocking_decision_packet_id.iter().map(|id| &**id).collect();
            add(dangling(&blocking), "/payload/blocking_decision_packet_id");
        }
        PayloadFacts::IntegrityAlert(alert) => {
            let related: Vec<_> = alert.related_packet_ids.iter().flatten().map(|id| &**id).collect();
            add(dangling(&related), "/payload/related_packet_ids/");
        }
        PayloadFacts::VerificationPlan(plan) => {
            // A plan is legal only inside its loop, where the latest decision is the one in force.
            let is_decision = |packet: &&PacketFacts<'_>| matches!(packet.payload, PayloadFacts::Decision(_));
            let decision = packets(history).filter(is_decision).last().expect("the loop has its decision");
            add(usize::from(decision.header.packet_id != plan.decision_packet_id), "/payload/decision_packet_id");
        }
        _ => {}
    }
    found
}

/// Returns the results whose observation was never accepted, at the end of a history.
pub(crate) fn awaited(history: &[Happened]) -> Vec<String> {
    let results = packets(history).filter_map(|packet| match &packet.payload {
        PayloadFacts::TaskResult(result) => Some((packet, result.observation_packet_id.as_deref()?)),
        _ => None,
    });
    let is_observed = |id: &str| {
        packets(history)
            .any(|packet| matches!(packet.payload, PayloadFacts::Observation(_)) && packet.header.packet_id == *id)
    };
    results.filter(|(_, id)| !is_observed(id)).map(|(packet, _)| packet.header.packet_id.to_string()).collect()
}

fn clock(history: &[Happened]) -> Option<Instant> {
    packets(history).map(|packet| packet.header.created_at).max()
}

/// Returns the directives of a history that are open and late at a time, and were not reported late before.
pub(crate) fn newly_late(history: &[Happened], now: Instant) -> Vec<usize> {
    (0..history.len())
        .filter(|at| is_open(history, *at) && is_late(&history[*at], now))
        .filter(|at| reported(history, *at).is_none())
        .collect()
}

/// Returns the position in the history at which a directive was reported late.
fn reported(history: &[Happened], directive: usize) -> Option<usize> {
    (directive + 1..history.len()).find(|at| {
        let then = match &history[*at] {
            Happened::Tick(now) => Some(*now),
            Happened::Packet(..) => clock(&history[..=*at]),
        };
        is_open(&history[..*at], directive) && then.is_some_and(|then| is_late(&history[directive], then))
    })
}

/// Returns whether the entry at a position is a directive that has no result and was not cancelled.
fn is_open(history: &[Happened], at: usize) -> bool {
    let Some(Happened::Packet(sent, _)) = history.get(at) else { return false };
    let ends = |happened: &Happened| match happened {
        Happened::Packet(_, "release") => true,
        Happened::Packet(facts, _) => match &facts.payload {
            PayloadFacts::TaskResult(result) => result.directive_packet_id == sent.header.packet_id,
            _ => false,
        },
        Happened::Tick(_) => false,
    };
    matches!(sent.payload, PayloadFacts::TaskDirective(_)) && !history[at + 1..].iter().any(ends)
}

fn is_late(directive: &Happened, now: Instant) -> bool {
    let Happened::Packet(sent, _) = directive else { return false };
    let PayloadFacts::TaskDirective(payload) = &sent.payload else { return false };
    let timeout =
        payload.timeout_seconds.map_or(sent.mcp.budgets.time_budget_seconds.get(), omen_types::PositiveCount::get);
    now.since(sent.header.created_at).exceeds_seconds(timeout)
}

/// Returns whether a CRITICAL directive was reported, and no decision was accepted since.
fn owes_escalation(history: &[Happened]) -> bool {
    let is_decision = |happened: &Happened| match happened {
        Happened::Packet(facts, _) => matches!(facts.payload, PayloadFacts::Decision(_)),
        Happened::Tick(_) => false,
    };
    (0..history.len()).any(|at| {
        let Happened::Packet(sent, _) = &history[at] else { return false };
        sent.mcp.stakes.stakes_level == StakesLevel::Critical
            && reported(history, at).is_some_and(|when| !history[when + 1..].iter().any(is_decision))
    })
}
