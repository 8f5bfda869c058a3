//! E4, as `episode.fsm.json` states it (also INV-007). The ledger determines whether a token is live.

use omen_invariants::Ledger;
use omen_invariants::derived::{needs_token, safety_class, writing_operation};
use omen_invariants::ledger::{Allowance, NotLive};
use omen_types::suggest::recalled;
use omen_types::{Code, Diagnostic, Instant, OperationType, PayloadFacts, TaskDirectivePayloadFacts, TaskType};

use super::route;
use super::transition::Transition;
use crate::help::e4 as help;
use crate::table::Event;

pub(super) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    let PayloadFacts::TaskDirective(directive) = &transition.context.facts.payload else { return None };
    if !needs_token(&transition.context.facts.header, directive) {
        return None;
    }
    let Some(token_id) = directive.authorization_token_id.as_deref() else {
        return Some(without_token(transition, directive));
    };
    let now = transition.context.now;
    let error = |message| error(transition, message);
    let issued = |allowance: &Allowance| format!("`{token_id}` was issued in `{}`", allowance.issued_by);
    Some(match transition.context.ledger.tokens().live(token_id, now).err()? {
        NotLive::Unknown => {
            let tokens = transition.context.ledger.tokens();
            let finding = error(format!("no token `{token_id}` was issued in this episode")).label("unknown token");
            match recalled(token_id, |id| tokens.live(id, now).is_ok()) {
                Some(meant) => finding.help(help::misspelt(meant)),
                None => finding,
            }
        }
        NotLive::Revoked => error(format!("the token `{token_id}` was revoked")).label("revoked"),
        NotLive::Expired(allowance) => error(format!("the token `{token_id}` has expired"))
            .label(format!("expired at {}, {} s before this packet", allowance.expiry, now.since(allowance.expiry)))
            .note(issued(allowance)),
        NotLive::UsedUp(allowance) => error(format!("the token `{token_id}` has no use left"))
            .label(format!("used {} of {} times", allowance.uses, allowance.max_uses))
            .note(issued(allowance)),
    })
}

/// Returns whether any live token exists.
pub(super) fn has_live_token(ledger: &Ledger, now: Instant) -> bool {
    ledger.tokens().any_live(now)
}

fn without_token(transition: &Transition<'_>, directive: &TaskDirectivePayloadFacts<'_>) -> Diagnostic {
    let class = safety_class(&transition.context.facts.header, directive);
    // The task type is sufficient by itself (D23).
    let operation = writing_operation(directive).filter(|_| directive.task_type != TaskType::ToolWrite);
    let why = match (directive.tool_safety_class, operation) {
        (Some(stated), _) if stated == class => String::new(),
        (Some(stated), Some(operation)) => {
            format!(" (`{stated}` with the operation `{operation}` counts as `{class}`)")
        }
        (Some(stated), None) => format!(" (`{stated}` with `task_type` `{}` counts as `{class}`)", directive.task_type),
        (None, _) => format!(" (without `tool_safety_class` it counts as `{class}`)"),
    };
    let mut finding =
        error(transition, format!("missing field `authorization_token_id` in a `{class}` directive{why}"));
    if directive.tool_safety_class.is_none() {
        finding.help = finding.help.map(help::unlabelled);
    }
    finding
}

fn error(transition: &Transition<'_>, message: String) -> Diagnostic {
    Diagnostic::error(Code::E4, message).at("/payload/authorization_token_id").help(remedy(transition))
}

/// Returns the packet that issued the only live token for the tool of a directive.
fn only_token<'t>(transition: &Transition<'t>) -> Option<&'t str> {
    let PayloadFacts::TaskDirective(directive) = &transition.context.facts.payload else { return None };
    let tool = directive.execution_method.tool_id.as_deref()?;
    let mut live = transition.context.ledger.tokens().live_for(tool, transition.context.now);
    let only = live.next().filter(|_| live.next().is_none())?;
    Some(&only.issued_by)
}

/// Returns advice on how to get a live token, depending on the episode's state.
fn remedy(transition: &Transition<'_>) -> String {
    let Transition { context, nodes, .. } = transition;
    let Some(mut events) = route::to(*nodes, Event::Authorize, context.ledger) else {
        return Code::E4.info().help.to_owned();
    };
    events.push(Event::Authorize);
    let (packets, names) = (route::words(&events), route::names(&events));
    let is_legal = !nodes.after(transition.event).is_empty();
    if let Some(issued_by) = only_token(transition).filter(|_| is_legal) {
        help::name_one(issued_by)
    } else if is_legal && has_live_token(context.ledger, context.now) {
        help::name_live(packets, names)
    } else {
        help::issue(packets, names, scope(transition))
    }
}

/// Returns the minimal `authorized_scope` of a token for a directive.
fn scope(transition: &Transition<'_>) -> String {
    let PayloadFacts::TaskDirective(directive) = &transition.context.facts.payload else { return "{}".to_owned() };
    let tool = directive.execution_method.tool_id.as_deref().unwrap_or("…");
    let operation = writing_operation(directive).unwrap_or(OperationType::Write);
    // In schema order.
    format!("{{\"tool_ids\": [\"{tool}\"], \"operation_types\": [\"{operation}\"]}}")
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{DecisionPacket, IntegrityAlertPacket, TaskDirectivePacket, ToolAuthorizationToken};
    use serde_json::{Value, json};

    use super::super::fixture::{TestEpisode, packet};
    use crate::table::Node;

    const NOW: &str = "2026-03-01T10:00:00Z";

    /// Returns an episode with a token for two uses that expires at the given time.
    fn issued(expiry: &str) -> TestEpisode {
        let token = [
            ("/header/created_at", NOW.into()),
            ("/payload/token_id", "token_t".into()),
            ("/payload/expiry", expiry.into()),
            ("/payload/max_usage_count", 2.into()),
            ("/payload/usage_count", Value::Null),
            ("/payload/revoked", Value::Null),
        ];
        TestEpisode::at(Node::Authorize)
            .accept(&packet(
                DecisionPacket,
                &[("/payload/decision_outcome", "ACT".into()), ("/header/created_at", NOW.into())],
            ))
            .accept(&packet(ToolAuthorizationToken, &token))
    }

    fn write(token: Value) -> Value {
        let members = [
            ("/header/created_at", NOW.into()),
            ("/payload/task_type", "tool_write".into()),
            ("/payload/tool_safety_class", if token.is_null() { Value::Null } else { "WRITE".into() }),
            ("/payload/authorization_token_id", token),
        ];
        packet(TaskDirectivePacket, &members)
    }

    const LATER: &str = "2026-03-01T11:00:00Z";

    #[test]
    fn a_live_token_passes() {
        let episode = issued(LATER).accept(&write("token_t".into()));
        assert_eq!(episode.refused(&write("token_t".into())), []);
    }

    /// Its id is not kept, but the packet that issued it is.
    #[test]
    fn the_only_token_for_the_tool_is_named() {
        let help = |episode: &TestEpisode, tool: &str| {
            let mut write = write("token_other".into());
            if let Some(named) = write.pointer_mut("/payload/execution_method/tool_id") {
                *named = tool.into();
            }
            episode.with(&write, super::check).and_then(|found| found.help).unwrap_or_default()
        };
        let token = |id: &str, packet_id: &str| {
            let members = [
                ("/header/created_at", NOW.into()),
                ("/header/packet_id", packet_id.into()),
                ("/payload/token_id", id.into()),
                ("/payload/expiry", LATER.into()),
                ("/payload/authorized_scope/tool_ids", json!(["pool.resize"])),
                ("/payload/usage_count", Value::Null),
                ("/payload/revoked", Value::Null),
            ];
            packet(ToolAuthorizationToken, &members)
        };
        let act = [("/payload/decision_outcome", "ACT".into()), ("/header/created_at", NOW.into())];
        let episode =
            TestEpisode::at(Node::Authorize).accept(&packet(DecisionPacket, &act)).accept(&token("token_1", "pkt_t1"));
        assert!(help(&episode, "pool.resize").contains("`pkt_t1`"), "{}", help(&episode, "pool.resize"));
        assert!(!help(&episode, "another.tool").contains("`pkt_t1`"));
        let two = episode.accept(&token("token_2", "pkt_t2"));
        assert!(!help(&two, "pool.resize").contains("`pkt_t1`"));
    }

    #[test]
    fn a_token_that_is_misspelt_is_named() {
        let help = |id: &str| {
            let found = issued(LATER).with(&write(id.into()), super::check);
            found.and_then(|found| found.help).unwrap_or_default()
        };
        for id in ["token_T", "token__t"] {
            assert_eq!(help(id), "did you mean `token_t`?", "{id}");
        }
        assert!(!help("token_u").contains("did you mean"), "another letter is another token");
    }

    #[test]
    fn every_other_token_is_refused() {
        let refused = [Code::E4, Code::Inv007];
        assert_eq!(issued(LATER).refused(&write(Value::Null)), refused, "none");
        assert_eq!(issued(LATER).refused(&write("token_other".into())), refused, "unknown");
        assert_eq!(issued(NOW).refused(&write("token_t".into())), refused, "expired");
        let used_up = issued(LATER).accept(&write("token_t".into())).accept(&write("token_t".into()));
        assert_eq!(used_up.refused(&write("token_t".into())), refused, "used up");
        let revoked = [("/header/created_at", NOW.into()), ("/payload/revoked_token_ids", json!(["token_t"]))];
        let revoked = issued(LATER).accept(&packet(IntegrityAlertPacket, &revoked));
        assert_eq!(revoked.refused(&write("token_t".into())), refused, "revoked");
    }
}
