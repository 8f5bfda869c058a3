//! Values known only at run time: the number of open tasks, permits for tokens in a log, the progress of a loop.

use std::marker::PhantomData;

use omen_invariants::facts::Scope;
use omen_invariants::ledger::NotLive;
use omen_types::{Code, TokenId, ToolsState};

use super::core::Core;
use super::errors::Refusal;
use super::resume::missing;
use super::state::{Complete, Many, Open, Seen, Verify};
use super::{
    AnyLoop, AnyScope, Assumption, Authorize, CanAuthorize, Episode, Execute, LiveToken, NamedScope, Pending, Permit,
    Refused, Says, TokenSpec,
};
use crate::table::Obligation;

impl<S, const N: usize> Episode<Open<S, N>> {
    /// Turns the number of open directives into a run-time value, so that they can be settled separately.
    pub fn many(self) -> Episode<Many<S>> {
        self.at()
    }
}

impl<S> Episode<Many<S>> {
    /// Returns the open tasks, in sending order, including those sent before the episode was resumed. Settling a task
    /// twice is refused (E6).
    #[must_use]
    pub fn tasks(&self) -> Vec<Pending> {
        self.core.pending_tasks()
    }

    fn none_open(self) -> Result<Self, Refused<Many<S>>> {
        let open = self.core.tasks.len();
        if open == 0 {
            return Ok(self);
        }
        let why = missing(
            Code::E6,
            match open {
                1 => "1 directive has no result yet".to_owned(),
                _ => format!("{open} directives have no result yet"),
            },
        );
        Err(self.refuse(why.into()))
    }
}

impl Episode<Many<Execute>> {
    /// Returns to `Execute` once every directive is settled.
    ///
    /// # Errors
    /// A directive that is still open (E6).
    pub fn all_settled(self) -> Result<Episode<Execute>, Refused<Many<Execute>>> {
        self.none_open().map(Episode::at)
    }
}

impl<P, O, T> Episode<Many<Verify<P, O, T>>> {
    /// Returns to the loop once every directive is settled. From then on, its progress is known only at run time;
    /// [`Episode::complete`] checks whether it may close.
    ///
    /// # Errors
    /// A directive that is still open (E6).
    pub fn all_settled(self) -> Result<Episode<AnyLoop>, Refused<Many<Verify<P, O, T>>>> {
        self.none_open().map(Episode::at)
    }
}

impl<P, O, T> Episode<Verify<P, O, T>> {
    /// Checks whether the loop meets all requirements for closing with `.believe(..)` in the current envelope. Check
    /// again after `.under(..)`.
    ///
    /// # Errors
    /// Unmet obligations (E3).
    pub fn complete(self) -> Result<Episode<Verify<Complete, Seen, T>>, Refused<Verify<P, O, T>>> {
        let mut unmet: Vec<_> = self.ledger().verification().unmet().map(Obligation::missing).collect();
        let waived = !self.core.has_succeeded();
        if unmet.is_empty() && waived && self.core.mcp.routing.tools_state == ToolsState::ToolsOk {
            // The latest packet's tools state waives the SUCCESS, but the next packet's will not.
            unmet.push(Obligation::Success.missing());
        }
        if unmet.is_empty() {
            return Ok(self.at());
        }
        let why = missing(Code::E3, format!("the verification loop is not complete: {}", unmet.join(", ")));
        Err(self.refuse(why.into()))
    }

    /// Returns the assumptions that the plans of this loop are meant to verify, with the texts from its log; for a
    /// resumed episode.
    pub fn assumptions(&mut self) -> Vec<Assumption> {
        let tag = super::tag::Tag::default();
        self.core.looped.plans.push(tag.clone());
        self.core.looped.targets.iter().map(|text| Assumption::new(text.clone(), tag.clone())).collect()
    }
}

impl<S> Episode<S> {
    /// Returns permits for remaining uses of a token in the log, typed by its scope; for a resumed episode. If a use is
    /// claimed twice, a directive is refused once the token is used up (E4).
    ///
    /// # Errors
    /// An unknown or revoked token, a token that does not cover the scope, or one with fewer than `N` remaining uses
    /// (E4, INV-007).
    pub fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        self.core.claim(token_id)
    }

    /// Returns permits for `N` uses of the first live token that covers the scope and has `N` uses left. Unspent
    /// permits that were issued or claimed earlier are not deducted: if a use is claimed twice, the second directive
    /// that spends it is refused (E4).
    ///
    /// ```
    /// use omen_fsm::episode::{Authorize, Episode, Permit, Refusal};
    /// use omen_invariants::{scope, tool};
    ///
    /// tool!(Set = "config.set", Write);
    /// scope!(Change: tools [Set], operations [Modify]);
    ///
    /// fn resumed(episode: &Episode<Authorize>) -> Result<[Permit<Change>; 1], Refusal> {
    ///     episode.claim_any::<Change, 1>()
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// No such token exists (E4). The message lists the live tokens.
    pub fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        self.core.claim_any()
    }

    /// Returns the live tokens, in the order of issue.
    #[must_use]
    pub fn live_tokens(&self) -> Vec<LiveToken> {
        self.core.live_tokens()
    }
}

impl<S: CanAuthorize> Episode<S> {
    /// Issues a token whose scope and number of uses are given at run time.
    ///
    /// # Errors
    /// A scope without a tool, an operation or a use (SCHEMA), or an episode that is over budget without approval of
    /// layer 1 (INV-005).
    pub fn authorize_named(
        mut self,
        scope: NamedScope,
        spec: impl Says<TokenSpec>,
    ) -> Result<(Episode<Authorize>, Vec<Permit<AnyScope>>), Refused<S, Box<(NamedScope, TokenSpec)>>> {
        let (core, spec) = (&mut self.core, spec.said());
        match core.issue_token(&spec, &scope) {
            Ok(token_id) => {
                let permits = (0..scope.uses).map(|_| self.core.permit(&token_id)).collect();
                Ok((self.at(), permits))
            }
            Err(why) => Err(self.refuse(why).giving_back(Box::new((scope, spec)))),
        }
    }
}

impl Core {
    pub(crate) fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        self.check_claim(token_id, &NamedScope::from_scope::<Sc>(N))?;
        Ok(std::array::from_fn(|_| self.permit(token_id)))
    }

    pub(crate) fn claim_named(&self, token_id: &TokenId, scope: &NamedScope) -> Result<Vec<Permit<AnyScope>>, Refusal> {
        self.check_claim(token_id, scope)?;
        Ok((0..scope.uses).map(|_| self.permit(token_id)).collect())
    }

    fn check_claim(&self, token_id: &TokenId, scope: &NamedScope) -> Result<(), Refusal> {
        let no = |problem: String| missing(Code::E4, problem);
        let ledger = self.machine.ledger();
        let grant = match ledger.tokens().live(token_id.as_str(), ledger.clock_at(self.now())) {
            // The number of remaining uses is compared below.
            Ok(grant) | Err(NotLive::UsedUp(grant)) => grant,
            Err(_) => return Err(no(format!("the episode has no live token `{token_id}`"))),
        };
        let lacks_tool = scope.tools.iter().find(|tool| !grant.tools.iter().any(|granted| **granted == ***tool));
        if let Some(tool) = lacks_tool {
            return Err(no(format!("the token `{token_id}` does not allow the tool `{tool}`")));
        }
        if let Some(operation) = scope.operations.iter().find(|operation| !grant.operations.contains(operation)) {
            return Err(no(format!("the token `{token_id}` does not allow the operation `{operation}`")));
        }
        let (left, uses) = (grant.uses_left(), scope.uses);
        if left < u64::from(uses) {
            return Err(no(format!("cannot claim {uses} uses of the token `{token_id}`: {left} left")));
        }
        Ok(())
    }

    pub(crate) fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        let token_id = self.first_token(&NamedScope::from_scope::<Sc>(N))?;
        Ok(std::array::from_fn(|_| self.permit(&token_id)))
    }

    pub(crate) fn claim_any_named(&self, scope: &NamedScope) -> Result<Vec<Permit<AnyScope>>, Refusal> {
        let token_id = self.first_token(scope)?;
        Ok((0..scope.uses).map(|_| self.permit(&token_id)).collect())
    }

    /// Returns the first live token that covers the scope and has its uses left.
    fn first_token(&self, scope: &NamedScope) -> Result<TokenId, Refusal> {
        let (live, uses) = (self.live_tokens(), scope.uses);
        if let Some(token) = live.iter().find(|token| token.uses_left >= u64::from(uses) && token.covers_named(scope)) {
            return Ok(token.token_id.clone());
        }
        let known: Vec<String> =
            live.iter().map(|token| format!("`{}` ({} left)", token.token_id, token.uses_left)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let tools: Vec<String> = scope.tools.iter().map(|tool| format!("`{tool}`")).collect();
        let problem =
            format!("no live token covers {} and has {uses} or more uses left; live tokens: {known}", tools.join(", "));
        Err(missing(Code::E4, problem))
    }

    pub(crate) fn live_tokens(&self) -> Vec<LiveToken> {
        let ledger = self.machine.ledger();
        let now = ledger.clock_at(self.now());
        let live = |token_id: &TokenId| {
            let grant = ledger.tokens().live(token_id.as_str(), now).ok()?;
            Some(LiveToken {
                token_id: token_id.clone(),
                tools: grant.tools.iter().map(|tool| tool.to_string()).collect(),
                operations: grant.operations.clone(),
                uses_left: grant.uses_left(),
                expiry: grant.expiry,
            })
        };
        self.tokens.iter().filter_map(live).collect()
    }

    pub(crate) fn permit<Sc>(&self, token_id: &TokenId) -> Permit<Sc> {
        Permit { token_id: token_id.clone(), episode: self.tag.clone(), scope: PhantomData }
    }
}
