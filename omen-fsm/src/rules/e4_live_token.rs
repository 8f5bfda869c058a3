//! E4: a write needs a live token (also INV-007).

use omen_invariants::derived::{needs_token, safety_class};
use omen_types::{Code, Diagnostic, PayloadFacts};

use super::Step;

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    let PayloadFacts::TaskDirective(directive) = &step.context.facts.payload else { return None };
    let class = safety_class(&step.context.facts.header, directive);
    if !needs_token(&step.context.facts.header, directive) {
        return None;
    }
    let error = |message: String| {
        Diagnostic::error(Code::E4, message).at("/payload/authorization_token_id").help(Code::E4.info().help)
    };
    let Some(token_id) = directive.authorization_token_id.as_deref() else {
        let why = match directive.tool_safety_class {
            Some(stated) if stated == class => String::new(),
            Some(stated) => format!(" (stated as `{stated}`, but its task_type is `{}`)", directive.task_type),
            None => " (without `tool_safety_class` the stricter reading holds)".to_owned(),
        };
        return Some(error(format!("a `{class}` directive without an authorization token{why}")));
    };
    let Some(token) = step.context.ledger.tokens().get(token_id) else {
        return Some(error(format!("no token `{token_id}` was issued in this episode")).label("unknown here"));
    };
    if token.revoked {
        return Some(error(format!("the authorization token `{token_id}` is revoked")).label("revoked"));
    }
    let Some(grant) = &token.grant else {
        return Some(error(format!("no token `{token_id}` was issued in this episode")).label("unknown here"));
    };
    let issued = format!("`{token_id}` was issued by {}", grant.issued_by);
    if grant.expiry <= step.context.now {
        let ago = step.context.now.since(grant.expiry);
        return Some(
            error("the authorization token has expired".to_owned())
                .label(format!("expired at {}, {ago} s before this packet's time", grant.expiry))
                .note(issued),
        );
    }
    if grant.uses >= grant.max_uses {
        return Some(
            error("the authorization token is used up".to_owned())
                .label(format!("used {} of {} times", grant.uses, grant.max_uses))
                .note(issued),
        );
    }
    None
}
