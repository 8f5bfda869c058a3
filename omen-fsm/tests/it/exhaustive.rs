//! The machine agrees with the simple interpreter on every sequence of packets up to length 7, or by default 5.

use std::borrow::Cow;
use std::collections::BTreeSet;

use omen_fsm::{Event, Machine};
use omen_testkit::proofs::Proofs;
use omen_types::{Code, Diagnostic, Instant, PacketFacts, PayloadFacts};

use crate::simple::{BUDGETS, Packet, Simple};

/// Maximum length of the sequences.
const LENGTH: usize = 7;

/// A kind of packet in the sequences: as the simple interpreter sees it, and as the facts of an example line.
pub(crate) struct Symbol {
    name: &'static str,
    packet: Packet,
    pub(crate) facts: PacketFacts<'static>,
}

/// Returns the facts of the first packet among the examples that passes a test.
fn find(test: impl Fn(&PacketFacts<'static>) -> bool) -> PacketFacts<'static> {
    omen_schema::EXAMPLES
        .iter()
        .filter(|(path, _)| path.starts_with("valid/") && path.ends_with(".jsonl"))
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| PacketFacts::parse(line).ok())
        .chain(
            omen_schema::EXAMPLES
                .iter()
                .flat_map(|(_, text)| text.lines())
                .filter_map(|line| PacketFacts::parse(line).ok()),
        )
        .find(|facts| test(facts))
        .expect("an example of each kind")
}

pub(crate) fn symbols() -> Vec<Symbol> {
    use omen_types::{DecisionOutcome as O, EpistemicStatus, ResultStatus, ToolSafetyClass, ToolsState};

    let mut all = Vec::new();
    let mut add = |name, packet: Packet, edit: &dyn Fn(&mut PacketFacts<'static>)| {
        let wanted = Event::ALL.iter().copied().find(|event| event.as_str() == packet.event).expect(packet.event);
        let mut facts = find(|facts| {
            let reports = match &facts.payload {
                PayloadFacts::TaskResult(result) => result.execution_metadata.is_some(),
                _ => true,
            };
            Event::of(facts) == wanted && reports
        });
        let packet = Packet { tools_ok: packet.tools_ok || name != "settle degraded", ..packet };
        facts.mcp.routing.tools_state = if packet.tools_ok { ToolsState::ToolsOk } else { ToolsState::ToolsDown };
        facts.header.created_at = "2026-03-01T10:00:00Z".parse::<Instant>().unwrap();
        let count = |number| omen_types::Count::new(number).unwrap();
        facts.mcp.budgets.token_budget = count(BUDGETS.0);
        facts.mcp.budgets.tool_call_budget = count(BUDGETS.1);
        edit(&mut facts);
        if let PayloadFacts::TaskResult(result) = &mut facts.payload {
            let metadata = result.execution_metadata.as_mut().expect("what it has used");
            metadata.tokens_used = Some(count(packet.spent.0));
            metadata.tool_calls_used = Some(count(packet.spent.1));
        }
        if let PayloadFacts::Escalation(escalation) = &mut facts.payload {
            escalation.escalation_trigger = if packet.approves {
                omen_types::EscalationTrigger::BudgetInsufficient
            } else {
                omen_types::EscalationTrigger::UserOverrideRequired
            };
        }
        assert_eq!(Event::of(&facts), wanted, "{name}");
        all.push(Symbol { name, packet, facts });
    };
    let of = |event| Packet { event, ..Packet::default() };

    for (name, event, observed) in
        [("observe", "observe", true), ("observe inferred", "observe", false), ("observe user", "observe_user", true)]
    {
        add(name, Packet { observed, ..of(event) }, &|facts| {
            facts.mcp.epistemics.status = if observed { EpistemicStatus::Observed } else { EpistemicStatus::Inferred };
        });
    }
    add("believe", of("believe"), &|_| {});
    add("believe citing", of("believe"), &|_| {});
    for (name, event, outcome, variant) in [
        ("verify first", "decide_verify_first", "VERIFY_FIRST", O::VerifyFirst),
        ("act", "decide_act", "ACT", O::Act),
        ("escalate", "decide_escalate", "ESCALATE", O::Escalate),
        ("defer", "decide_stop", "DEFER", O::Defer),
        ("cancel", "decide_stop", "CANCEL", O::Cancel),
    ] {
        add(name, Packet { outcome, ..of(event) }, &|facts| {
            if let PayloadFacts::Decision(decision) = &mut facts.payload {
                decision.decision_outcome = variant;
            }
        });
    }
    add("plan", of("plan"), &|_| {});
    add("token", Packet { token: Some("token_1"), max_uses: 1, ..of("authorize") }, &|facts| {
        if let PayloadFacts::ToolAuthorizationToken(token) = &mut facts.payload {
            token.token_id = "token_1".into();
            token.max_usage_count = omen_types::PositiveCount::new(1).unwrap();
            token.usage_count = None;
            token.revoked = None;
            token.expiry = "2027-01-01T00:00:00Z".parse().unwrap();
        }
    });
    add("read", of("direct_read"), &|_| {});
    for (name, token) in [("write with token", Some("token_1")), ("write without token", None)] {
        add(name, Packet { token, ..of("direct_write") }, &|facts| {
            if let PayloadFacts::TaskDirective(directive) = &mut facts.payload {
                directive.tool_safety_class = Some(ToolSafetyClass::Write);
                directive.authorization_token_id = token.map(Cow::Borrowed);
            }
        });
    }
    for (name, success) in [
        ("settle success", true),
        ("settle failure", false),
        ("settle degraded", false),
        ("settle unknown", true),
        ("settle other task", true),
    ] {
        // A success uses a call, and a failure uses tokens: the second success, or the first failure, exceeds a budget.
        let spent = if success { (60, 1) } else { (101, 0) };
        add(name, Packet { success, spent, ..of("settle") }, &|facts| {
            if let PayloadFacts::TaskResult(result) = &mut facts.payload {
                result.result_status = if success { ResultStatus::Success } else { ResultStatus::Failure };
            }
        });
    }
    add("escalation", Packet { approves: true, ..of("escalate") }, &|_| {});
    add("alert", of("alert"), &|facts| revoke(facts, None));
    add("revoke", Packet { token: Some("token_1"), ..of("alert") }, &|facts| revoke(facts, Some("token_1")));
    add("halt", of("halt"), &|facts| revoke(facts, None));
    for (name, high_layer, layer) in [("release", true, 1), ("release from below", false, 5)] {
        add(name, Packet { high_layer, ..of("release") }, &|facts| {
            let layer = omen_types::LayerNumber::new(layer).unwrap();
            facts.header.layer_source = omen_types::LayerSource::LayerNumber(layer);
            revoke(facts, None);
        });
    }
    add("queue", of("enqueue"), &|_| {});
    all
}

fn revoke(facts: &mut PacketFacts<'static>, token: Option<&'static str>) {
    if let PayloadFacts::IntegrityAlert(alert) = &mut facts.payload {
        alert.revoked_token_ids = token.map(|token| vec![token.into()]);
    }
}

/// Returns a symbol as the next packet of a history, with new ids and references to earlier packets.
pub(crate) fn instance(symbol: &Symbol, history: &[Packet]) -> (Packet, PacketFacts<'static>) {
    let depth = history.len();
    let (mut packet, mut facts) = (symbol.packet.clone(), symbol.facts.clone());
    packet.id = format!("pkt_{depth}");
    facts.header.packet_id = packet.id.clone().into();
    match &mut facts.payload {
        PayloadFacts::BeliefUpdate(belief) => {
            if symbol.name == "believe citing" {
                let evidence = |p: &&Packet| p.event == "settle" || p.event.starts_with("observe");
                packet.cites = history.iter().rev().find(evidence).map(|p| p.id.clone()).into_iter().collect();
            }
            belief.evidence_integration = Some(packet.cites.iter().map(|id| id.clone().into()).collect());
        }
        PayloadFacts::TaskDirective(directive) => {
            packet.task = format!("task_{depth}");
            directive.task_id = packet.task.clone().into();
        }
        PayloadFacts::TaskResult(result) => {
            let directive = history.iter().find(|p| {
                p.event.starts_with("direct_") && !history.iter().any(|q| q.event == "settle" && q.directive == p.id)
            });
            (packet.directive, packet.task) = match (symbol.name, directive) {
                ("settle unknown", _) | (_, None) => ("pkt_none".to_owned(), "task_none".to_owned()),
                ("settle other task", Some(open)) => (open.id.clone(), "task_other".to_owned()),
                (_, Some(open)) => (open.id.clone(), open.task.clone()),
            };
            result.directive_packet_id = packet.directive.clone().into();
            result.task_id = packet.task.clone().into();
        }
        _ => {}
    }
    (packet, facts)
}

struct Walk {
    simple: Simple,
    symbols: Vec<Symbol>,
    /// Length of the longest sequences.
    length: usize,
    judged: u64,
    overruns: u64,
    accepted: [u64; LENGTH + 1],
}

impl Walk {
    fn from(&mut self, machine: &Machine, history: &mut Vec<Packet>) {
        self.accepted[history.len()] += 1;
        let states: BTreeSet<String> = machine.nodes().iter().map(|node| node.as_str().to_owned()).collect();
        assert_eq!(states, self.simple.states(history), "{}", tell(history));
        let ends: Vec<_> = machine.finish().iter().map(|(_, found)| found.code.as_str()).collect();
        assert_eq!(ends, self.simple.at_end(&states, history), "at the end of {}", tell(history));
        if history.len() == self.length {
            return;
        }
        let mut taken = BTreeSet::new();
        for at in 0..self.symbols.len() {
            let (packet, facts) = instance(&self.symbols[at], history);
            let verdict = machine.judge(&facts, None);
            self.judged += 1;
            let found = match &verdict.fsm {
                None => (None, BTreeSet::new()),
                Some(found) => (Some(found.code.as_str()), found.also.iter().map(|code| code.as_str()).collect()),
            };
            assert!(verdict.ids.is_empty());
            let expected = self.simple.broken(&states, history, &packet);
            assert_eq!(found, expected, "{} after {}", self.symbols[at].name, tell(history));
            if found.0.is_none() {
                let overrun = overrun(&verdict.invariants);
                self.overruns += u64::from(overrun.is_some());
                let expected = Simple::overrun(history, &packet);
                assert_eq!(overrun, expected, "{} after {}", self.symbols[at].name, tell(history));
            }
            if found.0.is_none() {
                taken.insert(verdict.event);
                let mut next = machine.clone();
                next.accept(&facts, &verdict);
                if history.len() % 2 == 1 {
                    // A machine that was packed in between is the same machine.
                    next = next.pack("corr_1", &mut Vec::new()).expect("a short episode").unpack();
                }
                history.push(packet);
                self.from(&next, history);
                history.pop();
            }
        }
        // The machine offers exactly what it accepts. The close is not a packet.
        let now = self.symbols[0].facts.header.created_at;
        let offered: BTreeSet<_> = machine.offers(now).filter(|event| event.packet_type().is_some()).collect();
        assert_eq!(offered, taken, "after {}", tell(history));
    }
}

/// Returns the finding of INV-005: its severity and the budgets that it names.
fn overrun(findings: &[Diagnostic]) -> Option<(&'static str, BTreeSet<&'static str>)> {
    let mut all = findings.iter().filter(|finding| finding.code == Code::Inv005);
    let first = all.next()?;
    assert!(all.next().is_none(), "one finding: {findings:?}");
    let named = ["tokens", "tool calls"].into_iter().filter(|budget| first.message.contains(budget));
    Some((first.severity.as_str(), named.collect()))
}

fn tell(history: &[Packet]) -> String {
    history.iter().map(|packet| packet.event).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_sequence_agrees() {
    let (length, most, overruns) = Proofs::wanted().choose((5, 10_000, 5), (LENGTH, 500_000, 3_000));
    let mut walk =
        Walk { simple: Simple::new(), symbols: symbols(), length, judged: 0, overruns: 0, accepted: [0; LENGTH + 1] };
    walk.from(&Machine::default(), &mut Vec::new());
    println!(
        "{} kinds of packet; {} packets judged; legal sequences by length {:?}",
        walk.symbols.len(),
        walk.judged,
        walk.accepted
    );
    // Enough sequences to pass through the loop, through a write and out of safe mode.
    assert!(walk.accepted[length] > most, "{:?}", walk.accepted);
    assert!(walk.overruns > overruns, "{} overruns", walk.overruns);
}
