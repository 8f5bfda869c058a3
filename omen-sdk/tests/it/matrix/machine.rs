//! Reports of the runtime machine for each cell: every kind of packet is checked in every situation that a log can lead to.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use omen_codegen::model::Model;
use omen_fsm::{Event, Machine};
use omen_types::{
    DecisionOutcome, EpistemicStatus, Instant, LayerNumber, LayerSource, PacketFacts, PayloadFacts, PositiveCount,
    ResultStatus, ToolSafetyClass, ToolsState,
};

/// Possible nodes of an episode, whether a directive is open, and the event.
type Cell = (Vec<String>, bool, &'static str);

/// Codes of each finding by cell, the most specific first; no code where the packet is legal.
pub(crate) struct Reports(BTreeMap<Cell, BTreeSet<Vec<String>>>);

impl Reports {
    /// Returns the reports for an event in some nodes: with open directives, without, or either.
    pub(crate) fn of(&self, nodes: &[String], open: Option<bool>, event: &str) -> BTreeSet<Vec<String>> {
        let same =
            |(at, is_open, what): &Cell| at == nodes && *what == event && open.is_none_or(|open| open == *is_open);
        self.0.iter().filter(|(cell, _)| same(cell)).flat_map(|(_, found)| found.clone()).collect()
    }
}

/// An episode so far: the machine, and the ids that later packets may refer to.
#[derive(Clone)]
struct Log {
    machine: Machine,
    packets: usize,
    evidence: Option<String>,
    open: Option<(String, String)>,
}

impl Log {
    /// Returns the key of a log. Logs with the same key get the same reports.
    fn key(&self) -> String {
        let ledger = self.machine.ledger();
        let looped = ledger.verification();
        format!(
            "{:?} {} {:?} {} {} {:?} {:?} {:?} {}",
            self.machine.nodes(),
            ledger.believes(),
            ledger.decision(),
            ledger.owes_decision(),
            ledger.open().len().min(2),
            looped.met,
            looped.waived,
            self.evidence.as_deref().map(|id| ledger.is_loop_evidence(id)),
            ledger.tokens().any_live(now()),
        )
    }
}

/// Checks every kind of packet in every situation that a log can lead to.
pub(crate) fn reports(model: &Model) -> Reports {
    let kinds = kinds();
    let first = Log { machine: Machine::default(), packets: 0, evidence: None, open: None };
    let mut known = HashSet::from([first.key()]);
    let mut waiting = vec![first];
    let mut reports = BTreeMap::<Cell, BTreeSet<Vec<String>>>::new();
    while let Some(log) = waiting.pop() {
        let nodes: Vec<String> = log.machine.nodes().iter().map(|node| node.as_str().to_owned()).collect();
        let is_open = !log.machine.ledger().open().is_empty();
        let mut report = |event: Event, codes: Vec<String>| {
            reports.entry((nodes.clone(), is_open, event.as_str())).or_default().insert(codes);
        };
        let ends = log.machine.finish().iter().map(|(_, found)| found.code.to_string()).collect::<Vec<_>>();
        report(Event::Close, each_once(ends));
        for kind in &kinds {
            let facts = instance(kind, &log);
            let verdict = log.machine.judge(&facts, None);
            assert!(verdict.ids.is_empty());
            report(verdict.event, verdict.fsm.as_ref().map(|found| codes(model, found)).unwrap_or_default());
            if verdict.fsm.is_none() {
                let mut next = log.clone();
                next.machine.accept(&facts, &verdict);
                next.packets += 1;
                if verdict.event.is_evidence() {
                    next.evidence = Some(facts.header.packet_id.to_string());
                }
                let open = next.machine.ledger().open();
                next.open = open.in_order().first().map(|open| (open.packet_id.to_string(), open.task_id.to_string()));
                if known.insert(next.key()) {
                    waiting.push(next);
                }
            }
        }
    }
    println!("the machine was asked about {} kinds of packet in {} places", kinds.len(), known.len());
    Reports(reports)
}

/// Returns the codes of a finding without the invariants, which must be those that share its rules.
fn codes(model: &Model, found: &omen_types::Diagnostic) -> Vec<String> {
    let all: Vec<String> = std::iter::once(&found.code).chain(&found.also).map(ToString::to_string).collect();
    let (invariants, rules): (Vec<_>, Vec<_>) = all.into_iter().partition(|code| code.starts_with("INV-"));
    let shared: BTreeSet<_> = model
        .rules
        .iter()
        .filter(|rule| rules.contains(&rule.code))
        .filter_map(|rule| rule.shared_with.clone())
        .collect();
    assert_eq!(shared, invariants.into_iter().collect(), "the invariants of {rules:?}");
    rules
}

fn each_once(codes: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    codes.into_iter().filter(|code| seen.insert(code.clone())).collect()
}

fn now() -> Instant {
    "2026-03-01T10:00:00Z".parse().unwrap()
}

/// A kind of packet, made from an example.
struct Kind {
    facts: PacketFacts<'static>,
    /// Whether the packet refers to others: a belief update that cites evidence, or the result of an open directive.
    refers: bool,
}

/// Returns the first packet among the examples with this event.
fn example(event: Event) -> PacketFacts<'static> {
    let lines = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let mut packets = lines.flat_map(|(_, text)| text.lines()).filter_map(|line| PacketFacts::parse(line).ok());
    packets.find(|facts| Event::of(facts) == event).unwrap_or_else(|| panic!("no example is the event {event}"))
}

/// Returns every kind of packet that the table and the sequence rules can distinguish.
fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for event in Event::ALL.iter().copied().filter(|event| event.packet_type().is_some()) {
        let mut facts = example(event);
        facts.header.created_at = now();
        facts.mcp.routing.tools_state = ToolsState::ToolsOk;
        facts.mcp.epistemics.status = EpistemicStatus::Observed;
        for variant in variants(&facts) {
            assert_eq!(Event::of(&variant), event);
            let may_refer = matches!(variant.payload, PayloadFacts::BeliefUpdate(_) | PayloadFacts::TaskResult(_));
            if may_refer {
                kinds.push(Kind { facts: variant.clone(), refers: false });
            }
            kinds.push(Kind { facts: variant, refers: may_refer });
        }
    }
    kinds
}

fn variants(facts: &PacketFacts<'static>) -> Vec<PacketFacts<'static>> {
    let with = |edit: &dyn Fn(&mut PayloadFacts<'static>)| {
        let mut facts = facts.clone();
        edit(&mut facts.payload);
        facts
    };
    match &facts.payload {
        PayloadFacts::Decision(decision) if decision.decision_outcome == DecisionOutcome::VerifyFirst => {
            vec![facts.clone()]
        }
        PayloadFacts::ToolAuthorizationToken(_) => vec![with(&|payload| {
            let PayloadFacts::ToolAuthorizationToken(token) = payload else { return };
            token.token_id = "token_1".into();
            token.max_usage_count = PositiveCount::new(1).unwrap();
            (token.usage_count, token.revoked) = (None, None);
            token.expiry = "2027-01-01T00:00:00Z".parse().unwrap();
        })],
        PayloadFacts::TaskDirective(_) if Event::of(facts) == Event::DirectWrite => [None, Some("token_1")]
            .into_iter()
            .map(|token| {
                with(&|payload| {
                    let PayloadFacts::TaskDirective(directive) = payload else { return };
                    directive.tool_safety_class = Some(ToolSafetyClass::Write);
                    directive.authorization_token_id = token.map(Into::into);
                })
            })
            .collect(),
        PayloadFacts::TaskResult(_) => vec![with(&|payload| {
            let PayloadFacts::TaskResult(result) = payload else { return };
            result.result_status = ResultStatus::Success;
        })],
        PayloadFacts::IntegrityAlert(_) => [1, 5]
            .into_iter()
            .map(|layer| {
                let mut facts = with(&|payload| {
                    let PayloadFacts::IntegrityAlert(alert) = payload else { return };
                    alert.revoked_token_ids = None;
                });
                facts.header.layer_source = LayerSource::LayerNumber(LayerNumber::new(layer).unwrap());
                facts
            })
            .collect(),
        _ => vec![facts.clone()],
    }
}

/// Returns a packet of a kind as the next one of a log: with new ids, and references to existing packets.
fn instance(kind: &Kind, log: &Log) -> PacketFacts<'static> {
    let mut facts = kind.facts.clone();
    facts.header.packet_id = format!("pkt_{}", log.packets).into();
    match &mut facts.payload {
        PayloadFacts::BeliefUpdate(belief) => {
            let cited = log.evidence.clone().filter(|_| kind.refers);
            belief.evidence_integration = Some(cited.into_iter().map(Into::into).collect());
        }
        PayloadFacts::TaskDirective(directive) => directive.task_id = format!("task_{}", log.packets).into(),
        PayloadFacts::TaskResult(result) => {
            let unknown = || ("pkt_none".to_owned(), "task_none".to_owned());
            let (directive, task) = log.open.clone().filter(|_| kind.refers).unwrap_or_else(unknown);
            (result.directive_packet_id, result.task_id) = (directive.into(), task.into());
        }
        _ => {}
    }
    facts
}
