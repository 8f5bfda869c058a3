//! Tokens, and permits for their uses (E4, INV-007).

use std::fmt;
use std::marker::PhantomData;

use omen_invariants::facts::Scope;
use omen_types::{
    AuthorizedScope, Code, Diagnostic, Instant, LayerSource, OperationType, PacketType, PositiveCount, Text, Timestamp,
    TokenId, ToolAuthorizationPayload,
};

use super::super::draft::Draft;
use super::super::errors::Refusal;
use super::super::tag::Tag;
use super::{AuthorizedScopeExtras, Fields, ToolAuthorizationPayloadExtras};
use crate::table::sender;

/// Scope of a token that is named at run time. The machine checks its permits when a directive is sent (E4, INV-007).
#[derive(Clone, Copy, Debug)]
pub struct AnyScope;

/// Scope of a token and its number of uses, named at run time.
#[must_use = "it is given to `.authorize_named(..)` or `.claim_any_named(..)`"]
#[derive(Clone, Debug)]
pub struct NamedScope {
    pub(crate) tools: Vec<String>,
    pub(crate) operations: Vec<OperationType>,
    pub(crate) uses: u32,
}

impl NamedScope {
    /// Creates a scope of tools and operations for a number of directives. An empty list or 0 uses is refused when the
    /// token is issued.
    pub fn new(
        tools: impl IntoIterator<Item = impl Into<String>>,
        operations: impl IntoIterator<Item = OperationType>,
        uses: u32,
    ) -> Self {
        Self { tools: tools.into_iter().map(Into::into).collect(), operations: operations.into_iter().collect(), uses }
    }

    /// Creates it from the scope `Sc`.
    pub(crate) fn from_scope<Sc: Scope>(uses: usize) -> Self {
        // No token has more uses than this.
        let uses = u32::try_from(uses).unwrap_or(u32::MAX);
        Self::new(Sc::TOOLS.iter().copied(), Sc::OPERATIONS.iter().copied(), uses)
    }
}

/// Specification of a token, except its scope and number of uses, which are type parameters.
#[must_use = "it is given to `.authorize::<Scope, N>(..)`"]
#[derive(Clone, Debug)]
pub struct TokenSpec {
    ttl_seconds: u32,
    rationale: Text,
    constraints: Option<Fields>,
    pub(super) extras: ToolAuthorizationPayloadExtras,
    pub(super) scope: AuthorizedScopeExtras,
    /// Generated payload, if any.
    stated: Option<Box<ToolAuthorizationPayload>>,
}

impl TokenSpec {
    /// Creates a token with its lifetime in seconds, at least 1, and the reason for issuing it. A token expires at the
    /// end of its lifetime (D3).
    pub fn new(ttl_seconds: u32, rationale: Text) -> Self {
        Self {
            ttl_seconds: ttl_seconds.max(1),
            rationale,
            constraints: None,
            extras: Default::default(),
            scope: Default::default(),
            stated: None,
        }
    }

    /// Creates a token from a generated payload. The payload is refused unless it agrees with the move: it must state
    /// the tools and operations of the scope and the number of uses, and the token must be new, not revoked, not used,
    /// and from the layer that issues tokens (D63).
    pub fn stating(payload: ToolAuthorizationPayload) -> Self {
        let rationale = payload.rationale.clone().unwrap_or_else(|| omen_invariants::text!("a token"));
        let extras = ToolAuthorizationPayloadExtras::copied_from(&payload);
        let scope = AuthorizedScopeExtras::copied_from(&payload.authorized_scope);
        Self { extras, scope, stated: Some(Box::new(payload)), ..Self::new(1, rationale) }
    }

    /// Sets constraints on the tools' parameters (D27), which are checked when a directive is sent.
    pub fn constrained(mut self, constraints: Fields) -> Self {
        self.constraints = Some(constraints);
        self
    }

    /// Returns the packet of the token, and its id. `issue` gives the id and the time of issue, unless the payload is stated.
    ///
    /// # Errors
    /// A payload that contradicts the scope or the number of uses, or the error of `issue`.
    pub(crate) fn draft(
        &self,
        scope: &NamedScope,
        uses: PositiveCount,
        issue: impl FnOnce() -> Result<(TokenId, Instant), Refusal>,
    ) -> Result<(TokenId, Draft), Refusal> {
        let issuer = sender(PacketType::ToolAuthorizationToken);
        if let Some(stated) = &self.stated {
            let mut payload = ToolAuthorizationPayload::clone(stated);
            agrees(&payload, scope, uses, issuer)?;
            if let Some(constraints) = &self.constraints {
                payload.authorized_scope.resource_constraints = Some(constraints.clone().into_map());
            }
            self.extras.clone().fill(&mut payload);
            self.scope.clone().fill(&mut payload.authorized_scope);
            return Ok((payload.token_id.clone(), Draft::new(payload)));
        }
        let (token_id, now) = issue()?;
        let scope = AuthorizedScope::builder()
            .tool_ids(scope.tools.clone())
            .operation_types(scope.operations.clone())
            .maybe_resource_constraints(self.constraints.clone().map(Fields::into_map))
            .unchecked();
        let mut payload = ToolAuthorizationPayload::builder()
            .token_id(token_id.clone())
            .authorized_scope(scope)
            .expiry(Timestamp::from(now.plus_seconds(u64::from(self.ttl_seconds))))
            .max_usage_count(uses)
            .issuer_layer(issuer)
            .rationale(self.rationale.clone())
            .build();
        self.extras.clone().fill(&mut payload);
        self.scope.clone().fill(&mut payload.authorized_scope);
        Ok((token_id, Draft::new(payload)))
    }
}

impl From<ToolAuthorizationPayload> for TokenSpec {
    fn from(payload: ToolAuthorizationPayload) -> Self {
        Self::stating(payload)
    }
}

/// Checks that a payload agrees with its permits.
fn agrees(
    payload: &ToolAuthorizationPayload,
    scope: &NamedScope,
    uses: PositiveCount,
    issuer: LayerSource,
) -> Result<(), Refusal> {
    let tools = &payload.authorized_scope.tool_ids;
    let operations = &payload.authorized_scope.operation_types;
    let (problem, pointer) = if !same(tools, &scope.tools) {
        (
            format!("the payload lists the tools {tools:?}, but the scope has {:?}", scope.tools),
            "/payload/authorized_scope/tool_ids",
        )
    } else if !same(operations, &scope.operations) {
        let names = |list: &[OperationType]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (own, listed) = (names(&scope.operations), names(operations));
        (
            format!("the payload lists the operations {listed}, but the scope has {own}"),
            "/payload/authorized_scope/operation_types",
        )
    } else if payload.max_usage_count != uses {
        (
            format!("the payload allows {} uses, but {uses} permits are requested", payload.max_usage_count),
            "/payload/max_usage_count",
        )
    } else if payload.usage_count.is_some_and(|used| used.get() > 0) {
        ("a new token cannot have uses".to_owned(), "/payload/usage_count")
    } else if payload.revoked == Some(true) {
        ("a new token cannot be revoked".to_owned(), "/payload/revoked")
    } else if payload.issuer_layer != issuer {
        ("the issuer is not the layer that issues tokens".to_owned(), "/payload/issuer_layer")
    } else {
        return Ok(());
    };
    Err(contradiction(problem, pointer))
}

/// Returns the error of a stated payload that contradicts its move or the log (INV-007).
pub(crate) fn contradiction(problem: String, pointer: &'static str) -> Refusal {
    let finding = Diagnostic::error(Code::Inv007, problem)
        .at(pointer)
        .help("write in the payload what `authorize::<Scope, N>(..)` requests");
    Refusal::rule(finding)
}

/// Returns whether two lists have the same elements.
fn same<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    one.iter().all(|element| other.contains(element)) && other.iter().all(|element| one.contains(element))
}

/// Token that a directive can use now: issued, not revoked, not expired, and with uses left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveToken {
    /// Token id.
    pub token_id: TokenId,
    /// Tools that the token allows.
    pub tools: Vec<String>,
    /// Operations that the token allows.
    pub operations: Vec<OperationType>,
    /// Number of directives that may still use the token.
    pub uses_left: u64,
    /// Time of expiry (D3).
    pub expiry: Instant,
}

impl LiveToken {
    /// Returns whether the token allows every tool and operation of a scope.
    #[must_use]
    pub fn covers<Sc: Scope>(&self) -> bool {
        self.covers_named(&NamedScope::from_scope::<Sc>(0))
    }

    pub(crate) fn covers_named(&self, scope: &NamedScope) -> bool {
        let has_tool = |tool: &String| self.tools.contains(tool);
        scope.tools.iter().all(has_tool) && scope.operations.iter().all(|operation| self.operations.contains(operation))
    }
}

/// One use of a token with the scope `Sc`. A token with `N` uses yields `[Permit<Sc>; N]`, and a directive that writes
/// spends one permit.
#[must_use = "an unspent permit is a lost use of the token"]
pub struct Permit<Sc> {
    pub(crate) token_id: TokenId,
    pub(crate) episode: Tag,
    /// Invariant in its scope, so a permit cannot be coerced to another scope by subtyping.
    pub(crate) scope: PhantomData<fn(Sc) -> Sc>,
}

impl<Sc> Permit<Sc> {
    /// Returns the token id.
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
