//! Authorization tokens: what they allow, and how often they were used (D24, D25).

use std::collections::HashMap;

use omen_types::{Instant, OperationType, ToolAuthorizationPayloadFacts};
use serde_json::{Map, Value};

use super::fingerprint::{Fingerprint, Kind, PassThrough};

/// What is known of a token id.
#[derive(Clone, Debug, Default)]
pub struct Token {
    /// Whether it was revoked; that cannot be undone.
    pub revoked: bool,
    /// What it allows; none if it was revoked before it was ever issued.
    pub grant: Option<Grant>,
}

/// What a token allows.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The tools.
    pub tools: Vec<Box<str>>,
    /// The operations.
    pub operations: Vec<OperationType>,
    /// From when on it is void.
    pub expiry: Instant,
    /// How many directives it is good for.
    pub max_uses: u64,
    /// How many have used it.
    pub uses: u64,
    /// The constraints of each sending; all hold together.
    pub constraints: Vec<Map<String, Value>>,
    /// The packet that issued it first.
    pub issued_by: Box<str>,
}

/// The tokens of an episode, by id.
#[derive(Clone, Debug, Default)]
pub struct Tokens(HashMap<Fingerprint, Box<Token>, PassThrough>);

impl Tokens {
    /// What is known of a token id.
    #[must_use]
    pub fn get(&self, token_id: &str) -> Option<&Token> {
        self.0.get(&Fingerprint::of(Kind::Token, token_id)).map(Box::as_ref)
    }

    /// Issues a token, or sends it again: then the narrower of each bound holds.
    pub(super) fn add(&mut self, facts: &ToolAuthorizationPayloadFacts<'_>, packet_id: &str) {
        let token = self.entry(&facts.token_id);
        token.revoked |= facts.revoked.unwrap_or(false);
        let scope = &facts.authorized_scope;
        let reported = facts.usage_count.map_or(0, omen_types::Count::get);
        let max_uses = facts.max_usage_count.get();
        // INVARIANT: the reader has checked the text, so it parses as an object.
        let constraints: Option<Map<String, Value>> =
            scope.resource_constraints.and_then(|text| serde_json::from_str(text).ok());
        match &mut token.grant {
            None => {
                token.grant = Some(Grant {
                    tools: scope.tool_ids.iter().map(|tool| tool.as_ref().into()).collect(),
                    operations: scope.operation_types.clone(),
                    expiry: facts.expiry,
                    max_uses,
                    uses: reported,
                    constraints: constraints.into_iter().collect(),
                    issued_by: packet_id.into(),
                });
            }
            Some(grant) => {
                grant.tools.retain(|tool| scope.tool_ids.iter().any(|other| *other == **tool));
                grant.operations.retain(|operation| scope.operation_types.contains(operation));
                grant.expiry = grant.expiry.min(facts.expiry);
                grant.max_uses = grant.max_uses.min(max_uses);
                grant.uses = grant.uses.max(reported);
                // A token sent a thousand times with the same constraints is checked against them once.
                if let Some(constraints) = constraints
                    && !grant.constraints.contains(&constraints)
                {
                    grant.constraints.push(constraints);
                }
            }
        }
    }

    pub(super) fn revoke(&mut self, token_id: &str) {
        self.entry(token_id).revoked = true;
    }

    pub(super) fn spend(&mut self, token_id: &str) {
        if let Some(grant) = &mut self.entry(token_id).grant {
            grant.uses = grant.uses.saturating_add(1);
        }
    }

    fn entry(&mut self, token_id: &str) -> &mut Token {
        self.0.entry(Fingerprint::of(Kind::Token, token_id)).or_default()
    }
}
