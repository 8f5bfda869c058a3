//! INV-007, as `rules.json` states it. That there is a live token at all is rule E4 of the state machine; here it is the
//! tool, the operation (D26, D28) and the resources (`constraints`, D27). A token that no directive can use is reported
//! when it is issued (`issue`, D64).

use omen_types::{Code, Diagnostic, OperationType, PayloadFacts, TaskDirectivePayloadFacts};
use serde_json::{Map, Value};

use super::wording::list;
use crate::context::Context;
use crate::derived;
use crate::help::inv_007 as help;
use crate::ledger::Allowance;

mod constraints;
mod issue;
mod params;

use params::Params;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if let PayloadFacts::ToolAuthorizationToken(token) = &context.facts.payload {
        return issue::check(token, context.now, findings);
    }
    let PayloadFacts::TaskDirective(directive) = &context.facts.payload else { return };
    if !derived::needs_token(&context.facts.header, directive) {
        return;
    }
    let token_id = directive.authorization_token_id.as_deref().unwrap_or_default();
    let Some(allowance) = context.ledger.tokens().get(token_id).and_then(|token| token.allowance.as_ref()) else {
        // INVARIANT: E4 has refused the packet already.
        return;
    };
    let scope = Scope { token_id, allowance };
    scope.tool(directive, findings);
    let params = Params::read(directive.execution_method.tool_params);
    scope.operation(&params, findings);
    for constraints in &allowance.constraints {
        // INVARIANT: the ledger has written the text, so it parses as an object.
        let constraints: Map<String, Value> = serde_json::from_str(constraints).unwrap_or_default();
        constraints::check(token_id, &constraints, &params, findings);
    }
}

struct Scope<'s> {
    token_id: &'s str,
    allowance: &'s Allowance,
}

impl Scope<'_> {
    fn tool(&self, directive: &TaskDirectivePayloadFacts<'_>, findings: &mut Vec<Diagnostic>) {
        let Self { token_id, allowance } = self;
        match directive.execution_method.tool_id.as_deref() {
            None => findings.push(
                Diagnostic::error(
                    Code::Inv007,
                    format!("missing field `tool_id`: a directive that writes names a tool that `{token_id}` covers"),
                )
                .at("/payload/execution_method")
                .help(help::NAME_TOOL),
            ),
            Some(tool) if allowance.tools.iter().any(|allowed| **allowed == *tool) => {}
            Some(tool) => findings.push(
                Diagnostic::error(Code::Inv007, format!("the tool `{tool}` is outside the scope of `{token_id}`"))
                    .at("/payload/execution_method/tool_id")
                    .label(format!("`{token_id}` covers {}", list(allowance.tools.iter().map(AsRef::as_ref))))
                    .help(help::covered_tool(tool))
                    .note(format!("`{token_id}` was issued in `{}`", allowance.issued_by)),
            ),
        }
    }

    fn operation(&self, params: &Params<'_>, findings: &mut Vec<Diagnostic>) {
        let Self { token_id, allowance } = self;
        let allowed = || list(allowance.operations.iter().map(|operation| operation.as_str()));
        if allowance.operations.iter().all(|operation| *operation == OperationType::Read) {
            findings.push(
                Diagnostic::error(Code::Inv007, format!("`{token_id}` allows no operation that writes"))
                    .at("/payload/authorization_token_id")
                    .label(format!("it allows {}", allowed()))
                    .help(help::WRITING_OPERATION),
            );
        }
        let Some(Value::String(word)) = params.get("operation") else { return };
        // Any other word is the tool's own business (D26).
        let Ok(operation) = word.to_lowercase().parse::<OperationType>() else { return };
        if !allowance.operations.contains(&operation) {
            findings.push(
                Diagnostic::error(Code::Inv007, format!("the operation `{word}` is outside the scope of `{token_id}`"))
                    .at("/payload/execution_method/tool_params/operation")
                    .label(format!("`{token_id}` allows {}", allowed()))
                    .help(help::allowed_operation(operation)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{TaskDirectivePacket, ToolAuthorizationToken};
    use omen_types::Severity;
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn token(uses: u32) -> Value {
        let scope = json!({
            "tool_ids": ["cfg.write"], "operation_types": ["write"], "resource_constraints": {"max_rows": 5},
        });
        packet(
            ToolAuthorizationToken,
            &[
                ("/header/created_at", "2026-03-01T10:00:00Z".into()),
                ("/payload/token_id", "token_t".into()),
                ("/payload/expiry", "2026-03-01T12:00:00Z".into()),
                ("/payload/max_usage_count", 3.into()),
                ("/payload/usage_count", uses.into()),
                ("/payload/authorized_scope", scope),
            ],
        )
    }

    fn write(tool: &str, params: &Value) -> Vec<(Severity, String)> {
        let method = json!({"method": "tool", "tool_id": tool, "tool_params": params});
        let directive = packet(
            TaskDirectivePacket,
            &[
                ("/payload/task_type", "tool_write".into()),
                ("/payload/tool_safety_class", "WRITE".into()),
                ("/payload/authorization_token_id", "token_t".into()),
                ("/payload/execution_method", method),
            ],
        );
        Episode::default().accept(&token(0), Default::default()).check(check, &directive)
    }

    #[test]
    fn a_call_within_the_scope_passes() {
        assert_eq!(write("cfg.write", &json!({"operation": "write", "rows": 5})), []);
        assert_eq!(Episode::default().check(check, &token(0)), []);
    }

    #[test]
    fn another_tool_operation_or_resource_is_refused() {
        let found = write("dns.write", &json!({"operation": "delete", "rows": 6}));
        let places = ["tool_id", "tool_params/operation", "tool_params/rows"];
        let errors = places.map(|place| (Severity::Error, format!("/payload/execution_method/{place}")));
        assert_eq!(found, errors);
    }

    #[test]
    fn a_token_that_is_used_up_when_issued_is_a_warning() {
        let found = Episode::default().check(check, &token(3));
        assert_eq!(found, [(Severity::Warning, "/payload/usage_count".to_owned())]);
    }
}
