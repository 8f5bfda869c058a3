//! Tokens, and the single uses of them (E4, INV-007).

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use omen_invariants::facts::Scope;
use omen_types::{
    AuthorizedScope, Code, Diagnostic, Instant, LayerSource, OperationType, PacketType, PositiveCount, Text, Timestamp,
    TokenId, ToolAuthorizationPayload,
};

use super::super::core::Core;
use super::super::draft::Draft;
use super::super::mark::Mark;
use super::super::refused::Refusal;
use super::{AuthorizedScopeExtras, Fields, NamedScope, ToolAuthorizationPayloadExtras};
use crate::table::sender;

/// What a token is to be, beside its scope and its number of uses, which are types.
#[must_use = "it is given to `.authorize::<Scope, N>(..)`"]
#[derive(Clone, Debug)]
pub struct TokenSpec {
    ttl_seconds: u32,
    rationale: Text,
    constraints: Option<Fields>,
    pub(super) extras: ToolAuthorizationPayloadExtras,
    pub(super) scope: AuthorizedScopeExtras,
    /// What a generated payload says.
    stated: Option<Box<ToolAuthorizationPayload>>,
}

impl TokenSpec {
    /// How many seconds it lives, at least 1, and why it is issued. A token is void from its expiry on (D3).
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

    /// What a generated payload says. What the move knows, the payload has to say, too, or it is refused: the scope's tools
    /// and operations, the number of uses, and a token that is new: not revoked, without a use, from the
    /// layer that issues tokens (D63).
    pub fn stating(payload: ToolAuthorizationPayload) -> Self {
        let rationale = payload.rationale.clone().unwrap_or_else(|| omen_invariants::text!("a token"));
        let extras = ToolAuthorizationPayloadExtras::of(&payload);
        let scope = AuthorizedScopeExtras::of(&payload.authorized_scope);
        Self { extras, scope, stated: Some(Box::new(payload)), ..Self::new(1, rationale) }
    }

    /// What the parameters of the tools have to be (D27): checked when a directive is sent.
    pub fn constrained(mut self, constraints: Fields) -> Self {
        self.constraints = Some(constraints);
        self
    }

    pub(crate) fn draft<Sc: Scope>(&self, core: &mut Core, uses: usize) -> Result<(TokenId, Draft), Refusal> {
        let scope = NamedScope::new(Sc::TOOLS.iter().copied(), Sc::OPERATIONS.iter().copied(), 0);
        // `authorize` asks for 1 to 64 uses. Were it to ask for less, the token would be good for one.
        let uses = u32::try_from(uses).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        self.named(core, &scope, PositiveCount::from(uses))
    }

    /// The token's packet, and its id.
    ///
    /// # Errors
    /// If a payload says otherwise than the scope and the number of uses, or if the id source gives no id.
    pub(crate) fn named(
        &self,
        core: &mut Core,
        scope: &NamedScope,
        uses: PositiveCount,
    ) -> Result<(TokenId, Draft), Refusal> {
        let issuer = sender(PacketType::ToolAuthorizationToken);
        if let Some(stated) = &self.stated {
            let mut payload = ToolAuthorizationPayload::clone(stated);
            agrees(&payload, core, scope, uses, issuer)?;
            if let Some(constraints) = &self.constraints {
                payload.authorized_scope.resource_constraints = Some(constraints.clone().into_map());
            }
            self.extras.clone().fill(&mut payload);
            self.scope.clone().fill(&mut payload.authorized_scope);
            return Ok((payload.token_id.clone(), Draft::new(payload)));
        }
        let (token_id, now) = (core.fresh_token_id()?, core.issues_at());
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

/// Whether a payload says what its permits will stand for.
fn agrees(
    payload: &ToolAuthorizationPayload,
    core: &Core,
    scope: &NamedScope,
    uses: PositiveCount,
    issuer: LayerSource,
) -> Result<(), Refusal> {
    let tools = &payload.authorized_scope.tool_ids;
    let operations = &payload.authorized_scope.operation_types;
    let (problem, pointer) = if !same(tools, &scope.tools) {
        (
            format!("the token lists the tools {tools:?}, and its scope {:?}", scope.tools),
            "/payload/authorized_scope/tool_ids",
        )
    } else if !same(operations, &scope.operations) {
        let names = |list: &[OperationType]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (own, listed) = (names(&scope.operations), names(operations));
        (
            format!("the token lists the operations {listed}, and its scope {own}"),
            "/payload/authorized_scope/operation_types",
        )
    } else if payload.max_usage_count != uses {
        (
            format!("the token is for {} uses, and {uses} permits are asked for", payload.max_usage_count),
            "/payload/max_usage_count",
        )
    } else if payload.usage_count.is_some_and(|used| used.get() > 0) {
        ("the token has uses before it is issued".to_owned(), "/payload/usage_count")
    } else if payload.revoked == Some(true) {
        ("the token is revoked before it is issued".to_owned(), "/payload/revoked")
    } else if payload.issuer_layer != issuer {
        (
            "the token is issued in the name of another layer than the one that issues tokens".to_owned(),
            "/payload/issuer_layer",
        )
    } else if core.machine.ledger().tokens().get(payload.token_id.as_str()).is_some() {
        (format!("the token `{}` has been issued or revoked before", payload.token_id), "/payload/token_id")
    } else {
        return Ok(());
    };
    let finding = Diagnostic::error(Code::Inv007, problem)
        .at(pointer)
        .help("let the payload say what the permits stand for: `authorize::<Scope, N>(..)`");
    Err(Refusal::rule(finding))
}

/// Whether two lists have the same elements.
fn same<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    one.iter().all(|element| other.contains(element)) && other.iter().all(|element| one.contains(element))
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
