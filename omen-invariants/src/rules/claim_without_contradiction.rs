//! CLAIM, as `rules.json` states it: a packet contradicts neither itself nor its directive, and has no placeholders (D80, D89).

use omen_types::{
    Code, Count, DecisionOutcome, Diagnostic, PayloadFacts, ResultStatus, TaskResultPayloadFacts, UpdateType,
};

use super::inv_003_high_stakes_verified::is_met;
use crate::context::Context;
use crate::help::claim as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(placeholder(&context.facts.placeholders));
    match &context.facts.payload {
        PayloadFacts::BeliefUpdate(belief) if belief.update_type == UpdateType::NewBelief => {
            findings.extend(belief.belief_changes.first().map(|at| {
                let problem = "expected `null` for `prior_value` of a `new_belief`: it was not held before";
                warning(problem, format!("/payload/belief_changes/{at}/prior_value")).help(help::PRIOR_VALUE)
            }));
        }
        PayloadFacts::TaskResult(result) => {
            findings.extend(result_data(result));
            findings.extend(retries(context, result));
        }
        PayloadFacts::Decision(decision) if decision.decision_outcome == DecisionOutcome::Act => {
            let quality = &context.facts.mcp.quality;
            let verified = decision.load_bearing_assumptions.iter().flatten().map(|assumption| assumption.verified);
            if decision.constraints_satisfied.verification_check == Some(true)
                && !is_met(quality.quality_tier, quality.verification_requirement, verified)
            {
                let problem = format!(
                    "`verification_check` is true, but `quality_tier` `{}` with `{}` requires more verified assumptions",
                    quality.quality_tier, quality.verification_requirement
                );
                let place = "/payload/constraints_satisfied/verification_check";
                findings.push(warning(problem, place).help(help::VERIFICATION_CHECK));
            }
        }
        _ => {}
    }
}

fn warning(problem: impl Into<String>, place: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(Code::Claim, problem).at(place)
}

/// Returns a single finding for all texts that are still placeholders.
fn placeholder(all: &[String]) -> Option<Diagnostic> {
    let (first, others) = all.split_first()?;
    let finding = warning("the text is still the placeholder `…`", first.clone()).help(help::PLACEHOLDER);
    Some(match others.len() {
        0 => finding,
        more => finding.note(format!("so {} {more} other{} of this packet", be(more), plural(more))),
    })
}

fn be(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Error code of a result with a raw answer that does not have the promised type (PG-4, D68).
const UNTYPED: &str = "PG-4";

/// Checks that a failed or cancelled task has no data other than a raw answer.
fn result_data(result: &TaskResultPayloadFacts<'_>) -> Option<Diagnostic> {
    let status = result.result_status;
    let code = result.error_details.as_ref().and_then(|details| details.error_code.as_deref());
    if status == ResultStatus::Failure && code == Some(UNTYPED) {
        return None;
    }
    let problem = || format!("a result with `{status}` has no `result_data`; expected `null`, or no such field");
    (status != ResultStatus::Success && result.result_data == Some(true))
        .then(|| warning(problem(), "/payload/result_data").help(help::RESULT_DATA))
}

/// Checks that the number of retries does not exceed what the directive permits.
fn retries(context: &Context<'_>, result: &TaskResultPayloadFacts<'_>) -> Option<Diagnostic> {
    let count = result.execution_metadata.as_ref()?.retry_count.map(Count::get)?;
    let most = context.ledger.open().get(&result.directive_packet_id)?.max_retries?;
    (count > most).then(|| {
        let problem = format!("`retry_count` is {count}, but the directive allows `max_retries` {most}");
        warning(problem, "/payload/execution_metadata/retry_count").help(help::retries(most))
    })
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{
        BeliefUpdatePacket, DecisionPacket, ObservationPacket, TaskDirectivePacket, TaskResultPacket,
    };
    use omen_types::Severity;
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::check;

    #[track_caller]
    fn warns(episode: &Episode, packet: &Value, place: Option<&str>) {
        let expected: Vec<_> = place.map(|place| (Severity::Warning, place.to_owned())).into_iter().collect();
        assert_eq!(episode.check(check, packet), expected, "{packet}");
    }

    #[test]
    fn a_new_belief_has_no_prior_value() {
        let belief = |update_type: &str, priors: [Value; 2]| {
            let change = |prior: Value| json!({"domain": "d", "key": "k", "new_value": 1, "prior_value": prior});
            let members =
                [("/payload/update_type", update_type.into()), ("/payload/belief_changes", json!(priors.map(change)))];
            packet(BeliefUpdatePacket, &members)
        };
        let episode = Episode::default();
        warns(&episode, &belief("new_belief", [Value::Null, Value::Null]), None);
        warns(&episode, &belief("revision", [json!(false), json!(0)]), None);
        for prior in [json!(false), json!(""), json!({}), json!([null])] {
            let place = "/payload/belief_changes/1/prior_value";
            warns(&episode, &belief("new_belief", [Value::Null, prior]), Some(place));
        }
    }

    fn result(status: &str, data: Value, retries: u32) -> Value {
        let payload = json!({
            "task_id": "task_1", "directive_packet_id": "pkt_d", "result_status": status, "result_data": data,
            "error_details": {}, "execution_metadata": {"retry_count": retries},
        });
        packet(TaskResultPacket, &[("/payload", payload)])
    }

    #[test]
    fn what_failed_has_no_data() {
        let episode = Episode::default();
        for status in ["FAILURE", "CANCELLED"] {
            warns(&episode, &result(status, Value::Null, 0), None);
            warns(&episode, &result(status, json!(0), 0), Some("/payload/result_data"));
        }
        warns(&episode, &result("SUCCESS", json!(0), 0), None);
        // Only a failure may hold the raw answer of a call (PG-4).
        for (status, place) in [("FAILURE", None), ("CANCELLED", Some("/payload/result_data"))] {
            let payload = json!({
                "task_id": "task_1", "directive_packet_id": "pkt_d", "result_status": status,
                "result_data": {"typed": false}, "error_details": {"error_code": "PG-4"},
            });
            warns(&episode, &packet(TaskResultPacket, &[("/payload", payload)]), place);
        }
    }

    #[test]
    fn a_directive_bounds_the_retries() {
        let directive = |policy: Value| {
            let members = [("/header/packet_id", "pkt_d".into()), ("/payload/retry_policy", policy)];
            Episode::default().accept(&packet(TaskDirectivePacket, &members), Default::default())
        };
        let bounded = directive(json!({"max_retries": 2}));
        warns(&bounded, &result("SUCCESS", Value::Null, 2), None);
        warns(&bounded, &result("SUCCESS", Value::Null, 3), Some("/payload/execution_metadata/retry_count"));
        warns(&directive(json!({})), &result("SUCCESS", Value::Null, 99), None);
        warns(&Episode::default(), &result("SUCCESS", Value::Null, 99), None);
    }

    #[test]
    fn a_check_is_made_if_the_assumptions_are_verified() {
        let act = |outcome: &str, requirement: &str, check: Value, verified: [bool; 2]| {
            let assumption = |verified| json!({"assumption": "a", "verified": verified});
            packet(
                DecisionPacket,
                &[
                    ("/payload/decision_outcome", outcome.into()),
                    ("/payload/load_bearing_assumptions", json!(verified.map(assumption))),
                    ("/payload/constraints_satisfied/verification_check", check),
                    ("/mcp/quality/quality_tier", "PAR".into()),
                    ("/mcp/quality/verification_requirement", requirement.into()),
                ],
            )
        };
        let (episode, place) = (Episode::default(), Some("/payload/constraints_satisfied/verification_check"));
        for (requirement, verified, expected) in [
            ("VERIFY_ALL", [true, true], None),
            ("VERIFY_ALL", [true, false], place),
            ("VERIFY_ONE", [true, false], None),
            ("VERIFY_ONE", [false, false], place),
        ] {
            warns(&episode, &act("ACT", requirement, true.into(), verified), expected);
            warns(&episode, &act("ACT", requirement, false.into(), verified), None);
            warns(&episode, &act("DEFER", requirement, true.into(), verified), None);
        }
    }

    #[test]
    fn a_placeholder_is_reported_once_a_packet() {
        let observed = |summary: &str, data: Value| {
            packet(ObservationPacket, &[("/mcp/intent/summary", summary.into()), ("/payload/data", data)])
        };
        let episode = Episode::default();
        warns(&episode, &observed("as it was…", json!({"…": "more …"})), None);
        warns(&episode, &observed("…", json!({"a": "…"})), Some("/mcp/intent/summary"));
        warns(&episode, &observed("done", json!({"a": ["…"]})), Some("/payload/data/a/0"));
    }
}
