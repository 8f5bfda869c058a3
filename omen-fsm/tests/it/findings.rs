//! Required content of findings, whatever their wording: the packets, obligations, layers and moves that they are about.

use omen_fsm::{Event, Machine, Node, NodeSet, SENDERS, Verdict};
use omen_types::{Code, Diagnostic, PacketFacts};
use serde_json::{Value, json};

use crate::exhaustive::symbols;

/// An episode after the first packets of an example.
struct Begun {
    machine: Machine,
    /// Remaining packets of the example.
    rest: Vec<Value>,
}

fn begun(example: &str, packets: usize) -> Begun {
    let log = omen_schema::example(&format!("valid/{example}.jsonl")).unwrap_or_else(|| panic!("no example {example}"));
    let mut rest: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut begun = Begun { machine: Machine::default(), rest: Vec::new() };
    rest.drain(..packets).for_each(|packet| begun.accept(&packet));
    begun.rest = rest;
    begun
}

impl Begun {
    fn judge<T>(&mut self, packet: &Value, then: impl FnOnce(&mut Machine, &PacketFacts<'_>, Verdict) -> T) -> T {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let verdict = self.machine.judge(&facts, None);
        then(&mut self.machine, &facts, verdict)
    }

    fn accept(&mut self, packet: &Value) {
        self.judge(packet, |machine, facts, verdict| {
            assert_eq!(verdict.errors().count(), 0, "{verdict:?}");
            machine.accept(facts, &verdict);
        });
    }

    /// Returns the finding of the table or of E1 to E7.
    fn refused(&mut self, packet: &Value) -> Diagnostic {
        self.judge(packet, |_, _, verdict| *verdict.fsm.expect("it is refused"))
    }

    /// Returns the next packet of a type, with members set by their JSON pointers; `null` removes one.
    fn next(&self, packet_type: &str, members: &[(&str, Value)]) -> Value {
        let found = self.rest.iter().find(|packet| packet["header"]["packet_type"] == packet_type);
        let mut packet = found.unwrap_or_else(|| panic!("no {packet_type} is left")).clone();
        for (pointer, value) in members {
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            let object = packet.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Value::Null => drop(object.remove(member)),
                value => drop(object.insert(member.to_owned(), value.clone())),
            }
        }
        packet
    }
}

/// Returns all texts of a finding.
fn words(finding: &Diagnostic) -> String {
    let parts = [Some(&finding.message), finding.label.as_ref(), finding.help.as_ref()];
    parts.into_iter().flatten().chain(&finding.notes).map(String::as_str).collect::<Vec<_>>().join(" | ")
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The help for a step outside the loop is about this loop, and shorter when less is left to do (E3).
#[test]
fn a_step_outside_the_loop_has_the_help_of_this_loop() {
    // With the plan alone, and with everything but the belief update that closes the loop.
    let [begun, complete] = [(4, false), (9, true)].map(|(packets, is_complete)| {
        let mut episode = begun("verify-then-write", packets);
        assert_eq!(episode.machine.ledger().verification().unmet().next().is_none(), is_complete);
        let refused = episode.refused(&episode.next("DecisionPacket", &[]));
        assert_eq!(refused.code, Code::E3);
        refused.help.expect("a help")
    });
    assert!(complete.len() < begun.len(), "{complete}; {begun}");
    assert!([&begun, &complete].iter().all(|help| **help != Code::E3.info().help), "{complete}; {begun}");
}

/// Inside the loop, every packet without a row is E3 first, and its other rules are in `also` (D72).
#[test]
fn inside_the_loop_whatever_has_no_row_is_e3_first() {
    let machine = begun("verify-then-write", 4).machine;
    assert_eq!(machine.nodes(), NodeSet::of(Node::Verify));
    let mut refused = Vec::new();
    for symbol in symbols() {
        let mut facts = symbol.facts;
        facts.header.packet_id = "pkt_new".into();
        let event = Event::of(&facts);
        if !machine.nodes().after(event).is_empty() {
            continue;
        }
        let finding = machine.judge(&facts, None).fsm.unwrap_or_else(|| panic!("{event} passes"));
        assert_eq!(finding.code, Code::E3, "{event}");
        let mut also = vec![Code::Fsm, Code::Inv008];
        if event == Event::DirectWrite {
            also.extend([Code::E2, Code::E4, Code::Inv007]);
        }
        also.sort_unstable();
        let mut found = finding.also.clone();
        found.sort_unstable();
        assert_eq!(found, also, "{event}");
        refused.push(event);
    }
    refused.dedup();
    assert!(refused.len() > 6, "{refused:?}");
}

/// A directive that is labelled READ and whose operation writes needs a token, and the finding states the reason (D88).
#[test]
fn a_read_whose_operation_writes_is_a_write() {
    let refused = |operation: &str| {
        let mut episode = begun("verify-then-write", 12);
        let members = [
            ("/payload/authorization_token_id", Value::Null),
            ("/payload/task_type", json!("tool_read")),
            ("/payload/tool_safety_class", json!("READ")),
            ("/payload/execution_method/tool_params", json!({"operation": operation})),
        ];
        let packet = episode.next("TaskDirectivePacket", &members);
        episode.judge(&packet, |_, _, verdict| verdict.fsm.map(|found| (found.code, found.message)))
    };
    for operation in ["write", "DELETE", "Modify"] {
        let (code, message) = refused(operation).unwrap_or_else(|| panic!("{operation} passes"));
        assert_eq!(code, Code::E4, "{message}");
        let words = ["READ", "WRITE", &operation.to_ascii_lowercase()];
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    // In S5 the table has no row for a directive that reads.
    for operation in ["read", "rewrite", ""] {
        assert_eq!(refused(operation).map(|(code, _)| code), Some(Code::Fsm), "{operation}");
    }
}

/// The finding on an end inside the loop names what the loop lacks; a finding on an end after the loop does not (E3).
#[test]
fn an_end_inside_the_loop_names_what_the_loop_lacks() {
    let at_end = |packets| {
        let machine = begun("verify-then-write", packets).machine;
        let missing: Vec<_> = machine.ledger().verification().unmet().collect();
        let mut found = machine.finish().into_iter().filter(|(_, found)| found.code == Code::E3);
        let finding = found.next().expect("E3").1;
        (missing, finding.message)
    };
    let (missing, inside) = at_end(5);
    assert!(!missing.is_empty() && missing.iter().all(|one| inside.contains(one.missing())), "{inside}");
    let (missing, complete) = at_end(9);
    assert!(missing.is_empty() && complete != inside, "{complete}");
    let (_, after) = at_end(10);
    assert!(after != complete && after != inside, "{after}");
}

/// The finding on a packet that leaves directives open names the first, and counts the others (E6).
#[test]
fn a_packet_that_leaves_directives_behind_names_them() {
    let mut episode = begun("read-only", 3);
    let belief = episode.next("BeliefUpdatePacket", &[]);
    for (packet, task, count) in [("pkt_first", "task_first", ""), ("pkt_second", "task_second", "1")] {
        let directive = [
            ("/header/packet_id", json!(packet)),
            ("/payload/task_id", json!(task)),
            ("/header/previous_packet_id", Value::Null),
        ];
        let directive = episode.next("TaskDirectivePacket", &directive);
        episode.accept(&directive);
        let refused = episode.refused(&belief);
        assert_eq!(refused.code, Code::E6);
        assert!(refused.message.contains("pkt_first") && refused.message.contains("task_first"), "{}", refused.message);
        assert_eq!(digits(&refused.message), count, "{}", refused.message);
    }
}

/// The finding on a directive whose stated class differs from its effective class names both (E4).
#[test]
fn a_directive_without_a_token_has_the_class_it_counts_as_in_its_finding() {
    let message = |class: Value| {
        let mut episode = begun("verify-then-write", 12);
        let members = [("/payload/authorization_token_id", Value::Null), ("/payload/tool_safety_class", class)];
        let refused = episode.refused(&episode.next("TaskDirectivePacket", &members));
        assert_eq!(refused.code, Code::E4);
        refused.message
    };
    // With the class WRITE, the schema requires the token.
    let (other, none) = (message(json!("READ")), message(Value::Null));
    assert!(other.contains("WRITE") && other.contains("READ") && other.contains("tool_write"), "{other}");
    assert!(none.contains("WRITE") && !none.contains("READ"), "{none}");
}

/// An illegal packet in safe mode has the same label as a CLEAR from the wrong layer (E7).
#[test]
fn what_is_illegal_in_safe_mode_is_locked_down() {
    let mut episode = begun("safe-mode-and-clear", 0);
    while episode.machine.nodes() != NodeSet::of(Node::SafeMode) {
        let packet = episode.rest.remove(0);
        episode.accept(&packet);
    }
    let clear = episode.rest.iter().find(|packet| packet["payload"]["severity"] == "CLEAR").expect("a CLEAR").clone();
    let mut from_below = clear;
    from_below["header"]["layer_source"] = json!(5);
    let [illegal, withheld] = [begun("read-only", 0).rest[0].clone(), from_below].map(|mut packet| {
        packet["header"]["packet_id"] = json!("pkt_new");
        episode.refused(&packet)
    });
    assert_eq!((illegal.code, withheld.code), (Code::E7, Code::E7));
    assert!(illegal.label.is_some() && illegal.label == withheld.label, "{illegal:?} {withheld:?}");
}

/// The help for an illegal packet lists all events that the table allows instead, except alerts, which it allows everywhere
/// (FSM).
#[test]
fn the_help_for_an_illegal_packet_lists_what_is_legal() {
    let refused = begun("read-only", 0).refused(&begun("read-only", 0).next("BeliefUpdatePacket", &[]));
    assert_eq!(refused.code, Code::Fsm);
    let help = refused.help.expect("a help");
    for event in NodeSet::of(Node::INITIAL).legal() {
        let is_alert = matches!(event, Event::Alert | Event::Halt);
        assert_eq!(help.contains(event.description()), !is_alert, "{event}: {help}");
    }
}

/// Without a packet, a late directive is reported once, with the id of its packet (INV-011).
#[test]
fn a_late_directive_is_reported_without_a_packet() {
    let mut machine = begun("read-only", 4).machine;
    let clock = machine.ledger().clock().expect("a time");
    assert!(machine.tick(clock).is_empty(), "in time");
    let late = machine.tick("2031-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(
        late.iter().map(|(id, found)| (&**id, found.code)).collect::<Vec<_>>(),
        [("pkt_directive_1", Code::Inv011)]
    );
    assert_eq!(machine.ledger().clock(), Some(clock), "its clock has not moved");
    assert!(machine.tick("2032-01-01T00:00:00Z".parse().unwrap()).is_empty(), "once");
}

/// The finding on a packet from the wrong layer names all layers that send it (LAYER).
#[test]
fn the_finding_on_a_packet_from_another_layer_names_those_that_send_it() {
    let mut episode = begun("read-only", 4);
    let result = episode.next("TaskResultPacket", &[("/header/layer_source", json!(2))]);
    let found = episode.judge(&result, |_, facts, verdict| {
        let finding = verdict.invariants.into_iter().find(|found| found.code == Code::Layer).expect("LAYER");
        (Event::of(facts).senders().expect("a list"), words(&finding))
    });
    let (senders, words) = found;
    assert!(!senders.is_empty());
    for sender in SENDERS.iter().filter(|one| senders.contains(&one.layer)) {
        assert!(words.contains(&sender.name()), "{}: {words}", sender.name());
    }
}
