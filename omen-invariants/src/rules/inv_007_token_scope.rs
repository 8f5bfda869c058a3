//! INV-007, as `rules.json` states it. Rule E4 of the state machine requires a live token; this rule checks the tool,
//! the operation (D26, D28) and the resources (`constraints`, D27). A token that no directive can use is reported when
//! it is issued (`issue`, D64), and a tool with two classes when a directive first shows it (D88).

use omen_types::{Code, Diagnostic, OperationType, PayloadFacts, TaskDirectivePayloadFacts, ToolSafetyClass};
use serde_json::{Map, Value};

use super::wording::list;
use crate::context::Context;
use crate::derived;
use crate::help::inv_007 as help;
use crate::ledger::Allowance;
use crate::params::Params;

mod constraints;
mod issue;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if let PayloadFacts::ToolAuthorizationToken(token) = &context.facts.payload {
        return issue::check(token, context.now, findings);
    }
    let PayloadFacts::TaskDirective(directive) = &context.facts.payload else { return };
    let class = derived::safety_class(&context.facts.header, directive);
    findings.extend(two_classes(context, directive, class));
    if !derived::needs_token(&context.facts.header, directive) {
        return;
    }
    let token_id = directive.authorization_token_id.as_deref().unwrap_or_default();
    let Some(allowance) = context.ledger.tokens().get(token_id).and_then(|token| token.allowance.as_ref()) else {
        // INVARIANT: E4 has already refused the packet.
        return;
    };
    let scope = TokenScope { token_id, allowance };
    scope.tool(directive, findings);
    let params = Params::read(directive.execution_method.tool_params);
    scope.operation(&params, findings);
    for constraints in &allowance.constraints {
        // INVARIANT: the ledger has serialized the text, so it is a JSON object.
        let constraints: Map<String, Value> = serde_json::from_str(constraints).unwrap_or_default();
        constraints::check(token_id, &constraints, &params, findings);
    }
}

/// Returns the warning on the first directive that uses a tool in a class other than earlier directives did; `None` if
/// it was already reported (D88).
fn two_classes(
    context: &Context<'_>,
    directive: &TaskDirectivePayloadFacts<'_>,
    class: ToolSafetyClass,
) -> Option<Diagnostic> {
    let tool = directive.execution_method.tool_id.as_deref()?;
    let writes = class != ToolSafetyClass::Read;
    if !context.ledger.has_used(tool, !writes) || context.ledger.has_used(tool, writes) {
        return None;
    }
    let (here, before) = if writes { ("write", "only read") } else { ("only read", "write") };
    let problem = format!("the tool `{tool}` is used to {here}, and was used to {before} in this episode");
    Some(
        Diagnostic::warning(Code::Inv007, problem)
            .at("/payload/execution_method/tool_id")
            .label(format!("counts as `{class}` here"))
            .help(help::two_classes(tool)),
    )
}

struct TokenScope<'s> {
    token_id: &'s str,
    allowance: &'s Allowance,
}

impl TokenScope<'_> {
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
        let Some((word, operation)) = params.operation() else { return };
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

    fn call(class: &str, params: &Value) -> Value {
        let method = json!({"method": "tool", "tool_id": "cfg.any", "tool_params": params});
        packet(
            TaskDirectivePacket,
            &[
                ("/payload/task_type", "tool_read".into()),
                ("/payload/tool_safety_class", class.into()),
                ("/payload/authorization_token_id", "token_t".into()),
                ("/payload/execution_method", method),
            ],
        )
    }

    #[test]
    fn a_tool_of_two_classes_is_a_warning_once() {
        let (read, write) = (call("READ", &json!({})), call("READ", &json!({"operation": "Delete"})));
        let at = [(Severity::Warning, "/payload/execution_method/tool_id".to_owned())];
        let read_before = Episode::default().accept(&read, Default::default());
        assert_eq!(read_before.check(check, &read), []);
        assert_eq!(read_before.check(check, &write), at);
        let both = read_before.accept(&write, Default::default());
        assert_eq!((both.check(check, &read), both.check(check, &write)), (vec![], vec![]));
        let written_before = Episode::default().accept(&call("MIXED", &json!({})), Default::default());
        assert_eq!(written_before.check(check, &write), []);
        assert_eq!(written_before.check(check, &read), at);
    }

    #[test]
    fn a_token_that_is_used_up_when_issued_is_a_warning() {
        let found = Episode::default().check(check, &token(3));
        assert_eq!(found, [(Severity::Warning, "/payload/usage_count".to_owned())]);
    }
}
