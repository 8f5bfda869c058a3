//! INV-007: what a directive that writes does lies within its token's scope.
//!
//! That there is a live token at all is the state machine's rule E4; here it is the tool, the
//! operation and the resources (D26–D28). A token that nothing could be done with is reported as it is issued (D64).

use omen_types::{Code, Diagnostic, OperationType, PayloadFacts, TaskDirectivePayloadFacts};
use serde_json::{Map, Value};

use crate::ledger::Grant;
use crate::{Context, derived};

mod constraints;
mod issue;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if let PayloadFacts::ToolAuthorizationToken(token) = &context.facts.payload {
        return issue::check(token, context.now, findings);
    }
    let PayloadFacts::TaskDirective(directive) = &context.facts.payload else { return };
    if !derived::needs_token(&context.facts.header, directive) {
        return;
    }
    let token_id = directive.authorization_token_id.as_deref().unwrap_or_default();
    let Some(grant) = context.ledger.tokens().get(token_id).and_then(|token| token.grant.as_ref()) else {
        // INVARIANT: E4 has refused the packet already.
        return;
    };
    let scope = Scope { token_id, grant };
    scope.tool(directive, findings);
    // INVARIANT: the reader has checked the text, so it parses as an object.
    let params: Map<String, Value> =
        directive.execution_method.tool_params.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    scope.operation(&params, findings);
    for constraints in &grant.constraints {
        // INVARIANT: the ledger has written the text, so it parses as an object.
        let constraints: Map<String, Value> = serde_json::from_str(constraints).unwrap_or_default();
        constraints::check(token_id, &constraints, &params, findings);
    }
}

struct Scope<'s> {
    token_id: &'s str,
    grant: &'s Grant,
}

impl Scope<'_> {
    fn tool(&self, directive: &TaskDirectivePayloadFacts<'_>, findings: &mut Vec<Diagnostic>) {
        let Self { token_id, grant } = self;
        match directive.execution_method.tool_id.as_deref() {
            None => findings.push(
                Diagnostic::error(
                    Code::Inv007,
                    format!("a directive that writes must name its tool: `{token_id}` covers tools, and this has no `tool_id`"),
                )
                .at("/payload/execution_method")
                .help("name the tool in `execution_method.tool_id`, or make the directive READ"),
            ),
            Some(tool) if grant.tools.iter().any(|allowed| **allowed == *tool) => {}
            Some(tool) => findings.push(
                Diagnostic::error(Code::Inv007, format!("the tool `{tool}` is outside the scope of `{token_id}`"))
                    .at("/payload/execution_method/tool_id")
                    .label(format!("`{token_id}` covers {}", list(grant.tools.iter().map(AsRef::as_ref))))
                    .help("use a tool that the token covers, or issue a token that covers this one")
                    .note(format!("`{token_id}` was issued by {}", grant.issued_by)),
            ),
        }
    }

    fn operation(&self, params: &Map<String, Value>, findings: &mut Vec<Diagnostic>) {
        let Self { token_id, grant } = self;
        let allowed = list(grant.operations.iter().map(|operation| operation.as_str()));
        if grant.operations.iter().all(|operation| *operation == OperationType::Read) {
            findings.push(
                Diagnostic::error(Code::Inv007, format!("`{token_id}` allows no operation that writes"))
                    .at("/payload/authorization_token_id")
                    .label(format!("it allows {allowed}"))
                    .help("issue a token with the operation that is needed: write, modify or delete"),
            );
        }
        let Some(word) = params.get("operation").and_then(Value::as_str) else { return };
        // Any other word is the tool's own business (D26).
        let Ok(operation) = word.to_lowercase().parse::<OperationType>() else { return };
        if !grant.operations.contains(&operation) {
            findings.push(
                Diagnostic::error(Code::Inv007, format!("the operation `{word}` is outside the scope of `{token_id}`"))
                    .at("/payload/execution_method/tool_params/operation")
                    .label(format!("`{token_id}` allows {allowed}"))
                    .help("choose an operation that the token allows, or issue a token that allows this one"),
            );
        }
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
