//! Better example values in help texts on the header of an invalid packet, derived from the log instead of the schema.

use omen_fsm::sender;
use omen_invariants::Ledger;
use omen_invariants::ledger::OpenDirective;
use omen_types::shape::SUCH_AS;
use omen_types::{Diagnostic, PacketType};
use serde_json::Value;

/// Replaces literals in helps by the layer that sends such a packet, and by a time that is not before the episode: following a
/// help must not cause the next mistake, such as an episode of one packet. A result belongs to the open directive, if there is only
/// one, and a plan to the decision in force. `packet_type` is that of the packet, if it is readable; `ledger` is that of its episode.
pub(super) fn refine(errors: &mut [Diagnostic], packet_type: Option<PacketType>, ledger: Option<&Ledger>) {
    // The example of a complete header has this packet type.
    let layer = serde_json::to_value(sender(packet_type.unwrap_or(PacketType::ObservationPacket)));
    let clock = ledger.and_then(Ledger::clock).map(|clock| Value::from(clock.to_string()));
    let open =
        ledger.filter(|_| packet_type == Some(PacketType::TaskResultPacket)).map(|ledger| ledger.open().in_order());
    // Of several, only the author knows which one the result belongs to.
    let named = |id: fn(&OpenDirective) -> &str| match open.as_deref()? {
        [] => None,
        [only] => Some(Value::from(id(only))),
        _ => Some(Value::from("…")),
    };
    // Any name would be that of another episode.
    let unnamed = ledger.is_none().then(|| Value::from("…"));
    let literals = [
        ("/header/", "correlation_id", unnamed),
        ("/header/", "layer_source", layer.ok()),
        ("/header/", "created_at", clock),
        ("/payload/", "directive_packet_id", named(|open| &open.packet_id)),
        ("/payload/", "decision_packet_id", ledger.and_then(Ledger::verifying_decision).map(Value::from)),
        // Which approval a call rests on, only its author knows.
        ("/payload/", "authorization_token_id", Some(Value::from("…"))),
        ("/payload/", "task_id", named(|open| &open.task_id)),
    ];
    for error in errors {
        let Some(help) = &mut error.help else { continue };
        for (place, name, value) in &literals {
            let Some(value) = value else { continue };
            let is_own = error.pointer.as_deref().and_then(|pointer| pointer.strip_prefix(place)) == Some(*name);
            let before = if is_own && help.contains(SUCH_AS) { SUCH_AS.to_owned() } else { format!("\"{name}\": ") };
            *help = replaced(help, &before, &value.to_string());
        }
    }
}

/// Replaces the literal after the first `before` in a text. No replaced literal contains a comma, a bracket or a backtick.
fn replaced(text: &str, before: &str, literal: &str) -> String {
    match text.split_once(before) {
        None => text.to_owned(),
        Some((start, rest)) => {
            let rest = rest.find([',', '}', '`']).and_then(|end| rest.get(end..)).unwrap_or_default();
            format!("{start}{before}{literal}{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::finding::Finding;
    use crate::validator::{Validator, ValidatorOptions};

    /// Returns the first help for a log in which the fifth line, the result of a task, is changed.
    fn help(from: &str, to: &str) -> String {
        let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
        let changed = |(at, line): (usize, &str)| if at == 4 { line.replacen(from, to, 1) } else { line.to_owned() };
        let log: String = log.split_inclusive('\n').enumerate().map(changed).collect();
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
        findings.into_iter().next().and_then(|first| first.diagnostic.help).unwrap_or_default()
    }

    /// The previous packet has the time 09:14:21.
    #[test]
    fn literals_are_those_of_the_log() {
        let layer = help("\"layer_source\":6", "\"layer_source\":\"execution\"");
        assert!(layer.starts_with("write a value such as `6`"), "{layer}");
        assert!(help("\"layer_source\":6,", "").starts_with("add `\"layer_source\": 6`: "));
        let episode = help("\"correlation_id\":\"corr_support_invoice_4471\"", "\"campaign_id\":\"camp_1\"");
        assert!(episode.starts_with("add `\"correlation_id\": \"…\"`: "), "{episode}");
        let task = help("\"task_id\":\"task_invoices_4471\",", "");
        assert!(task.starts_with("add `\"task_id\": \"task_invoices_4471\"`: "), "{task}");
        let directive = help("\"directive_packet_id\":\"pkt_directive_1\",", "");
        assert!(directive.starts_with("add `\"directive_packet_id\": \"pkt_directive_1\"`: "), "{directive}");
        assert_eq!(help("\"layer_source\":6", "\"layer_source\":\"6\""), "write `6` without the quotes");
        let time = help("\"created_at\":\"2026-03-02T09:14:25Z\"", "\"created_at\":\"soon\"");
        assert!(time.starts_with("write a value such as `\"2026-03-02T09:14:21Z\"`"), "{time}");
        let time = help("\"created_at\":\"2026-03-02T09:14:25Z\",", "");
        assert!(time.starts_with("add `\"created_at\": \"2026-03-02T09:14:21Z\"`: "), "{time}");
    }
}
