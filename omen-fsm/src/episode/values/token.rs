//! Tokens, and the single uses of them (E4, INV-007).

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use omen_invariants::facts::Scope;
use omen_types::{
    AuthorizedScope, Instant, OperationType, PacketType, PositiveCount, Text, Timestamp, TokenId,
    ToolAuthorizationPayload,
};

use super::super::core::{Draft, Mark};
use super::{Fields, NamedScope, ToolAuthorizationPayloadExtras};
use crate::table::sender;

/// What a token is to be, beside its scope and its number of uses, which are types.
#[must_use = "it is given to `.authorize::<Scope, N>(..)`"]
#[derive(Clone, Debug)]
pub struct TokenSpec {
    ttl_seconds: u32,
    rationale: Text,
    constraints: Option<Fields>,
    pub(super) extras: ToolAuthorizationPayloadExtras,
}

impl TokenSpec {
    /// How many seconds it lives, at least 1, and why it is issued. A token is void from its expiry on (D3).
    pub fn new(ttl_seconds: u32, rationale: Text) -> Self {
        Self { ttl_seconds: ttl_seconds.max(1), rationale, constraints: None, extras: Default::default() }
    }

    /// What the parameters of the tools have to be (D27): checked when a directive is sent.
    pub fn constrained(mut self, constraints: Fields) -> Self {
        self.constraints = Some(constraints);
        self
    }

    pub(crate) fn draft<Sc: Scope>(&self, token_id: TokenId, uses: usize, now: Instant) -> Draft {
        let scope = NamedScope::new(Sc::TOOLS.iter().copied(), Sc::OPERATIONS.iter().copied(), 0);
        // `authorize` asks for 1 to 64 uses. Were it to ask for less, the token would be good for one.
        let uses = u32::try_from(uses).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        self.named(&scope, PositiveCount::from(uses), token_id, now)
    }

    pub(crate) fn named(&self, scope: &NamedScope, uses: PositiveCount, token_id: TokenId, now: Instant) -> Draft {
        let scope = AuthorizedScope::builder()
            .tool_ids(scope.tools.clone())
            .operation_types(scope.operations.clone())
            .maybe_resource_constraints(self.constraints.clone().map(Fields::into_map))
            .build();
        let mut payload = ToolAuthorizationPayload::builder()
            .token_id(token_id)
            .authorized_scope(scope)
            .expiry(Timestamp::from(now.plus_seconds(u64::from(self.ttl_seconds))))
            .max_usage_count(uses)
            .issuer_layer(sender(PacketType::ToolAuthorizationToken))
            .rationale(self.rationale.clone())
            .build();
        self.extras.clone().fill(&mut payload);
        Draft::new(payload)
    }
}

/// A token that a directive can be sent with now: issued, not revoked, not expired, and not used up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveToken {
    /// The token's id.
    pub token_id: TokenId,
    /// The tools that it allows.
    pub tools: Vec<String>,
    /// The operations that it allows.
    pub operations: Vec<OperationType>,
    /// How many more directives it is good for.
    pub uses_left: u64,
    /// From when on it is void (D3).
    pub expiry: Instant,
}

impl LiveToken {
    /// Whether it allows every tool and operation of a scope.
    #[must_use]
    pub fn covers<Sc: Scope>(&self) -> bool {
        let has_tool = |tool: &&str| self.tools.iter().any(|own| own == tool);
        Sc::TOOLS.iter().all(has_tool) && Sc::OPERATIONS.iter().all(|operation| self.operations.contains(operation))
    }
}

/// One use of a token whose scope is `Sc`. A token for `N` uses comes as `[Permit<Sc>; N]`, and a
/// directive that writes consumes one.
#[must_use = "a permit that is not spent is a use of the token that is lost"]
pub struct Permit<Sc> {
    pub(crate) token_id: TokenId,
    pub(crate) episode: Mark,
    /// Invariant: a permit is good for its own scope, and not for one that its type is a subtype of.
    pub(crate) scope: PhantomData<fn(Sc) -> Sc>,
}

impl<Sc> Permit<Sc> {
    /// The token's id.
    #[must_use]
    pub fn token_id(&self) -> &TokenId {
        &self.token_id
    }
}

impl<Sc> fmt::Debug for Permit<Sc> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit({})", self.token_id)
    }
}
