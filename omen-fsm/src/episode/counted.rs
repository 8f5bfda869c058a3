//! What is counted or found out at run time: open tasks, permits of tokens in a log, a loop's progress.

use std::marker::PhantomData;

use omen_invariants::facts::Scope;
use omen_invariants::ledger::NotLive;
use omen_types::{Code, PositiveCount, TokenId, ToolsState};

use super::core::Core;
use super::refused::Refusal;
use super::resume::missing;
use super::state::{Complete, Many, Open, Seen, Verify};
use super::{
    AnyLoop, AnyScope, Assumption, Authorize, CanAuthorize, Episode, Execute, LiveToken, NamedScope, Pending, Permit,
    Refused, Says, TokenSpec,
};
use crate::table::Obligation;

impl<S, const N: usize> Episode<Open<S, N>> {
    /// Counts the open directives at run time, so that some may be settled before others.
    pub fn many(self) -> Episode<Many<S>> {
        self.at()
    }
}

impl<S> Episode<Many<S>> {
    /// The open tasks, in the order of sending: also those that were sent before the episode was taken up
    /// again. A task that is settled twice is refused (E6).
    #[must_use]
    pub fn tasks(&self) -> Vec<Pending> {
        self.core.pending_tasks()
    }

    fn none_open(self) -> Result<Self, Refused<Many<S>>> {
        let open = self.core.tasks.len();
        if open == 0 {
            return Ok(self);
        }
        let why = missing(Code::E6, format!("{open} directives have no result yet"));
        Err(self.refuse(why.into()))
    }
}

impl Episode<Many<Execute>> {
    /// Goes on once every directive is settled.
    ///
    /// # Errors
    /// If one is still open (E6).
    pub fn all_settled(self) -> Result<Episode<Execute>, Refused<Many<Execute>>> {
        self.none_open().map(Episode::at)
    }
}

impl<P, O, T> Episode<Many<Verify<P, O, T>>> {
    /// Goes on with the loop once every directive is settled. Its progress is known at run time from here
    /// on; [`Episode::complete`] finds out whether it may close.
    ///
    /// # Errors
    /// If one is still open (E6).
    pub fn all_settled(self) -> Result<Episode<AnyLoop>, Refused<Many<Verify<P, O, T>>>> {
        self.none_open().map(Episode::at)
    }
}

impl<P, O, T> Episode<Verify<P, O, T>> {
    /// Finds out whether the loop has all that it needs; then it may close with `.believe(..)`, in the envelope
    /// that holds now: after `.under(..)` it is to be found out again.
    ///
    /// # Errors
    /// What is still missing (E3).
    pub fn complete(self) -> Result<Episode<Verify<Complete, Seen, T>>, Refused<Verify<P, O, T>>> {
        let mut unmet: Vec<_> = self.ledger().verification().unmet().map(Obligation::missing).collect();
        let waived = !self.core.has_succeeded();
        if unmet.is_empty() && waived && self.core.mcp.routing.tools_state == ToolsState::ToolsOk {
            // The latest packet waives it, and the next one, which need not be the belief update, will not.
            unmet.push(Obligation::Success.missing());
        }
        if unmet.is_empty() {
            return Ok(self.at());
        }
        let why = missing(Code::E3, format!("the verification loop is not complete: {}", unmet.join(", ")));
        Err(self.refuse(why.into()))
    }

    /// The assumptions that plans of this loop are to verify, as its log names them: for an episode that
    /// was taken up again.
    pub fn assumptions(&mut self) -> Vec<Assumption> {
        let mark = super::core::Mark::default();
        self.core.looped.plans.push(mark.clone());
        self.core.looped.targets.iter().map(|text| Assumption::of(text.clone(), mark.clone())).collect()
    }
}

impl<S> Episode<S> {
    /// Permits for uses that a token of the log has left, as the type of its scope: for an episode that was
    /// taken up again. Claimed twice, they are refused when the token has no use left (E4).
    ///
    /// # Errors
    /// If there is no such token, it is revoked, it allows less than the scope, or fewer uses are left
    /// (E4, INV-007).
    pub fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        self.core.claim(token_id)
    }

    /// Permits for `N` uses of the first live token that covers the scope and has so many left. Permits that were
    /// claimed or issued before and not spent yet are not counted: claimed twice, a use is refused the second time it is
    /// spent (E4).
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
    /// If there is no such token (E4); the message lists the live ones.
    pub fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        self.core.claim_any()
    }

    /// Returns the tokens that a directive can be sent with now, in the order of issue.
    #[must_use]
    pub fn live_tokens(&self) -> Vec<LiveToken> {
        self.core.live_tokens()
    }
}

impl<S: CanAuthorize> Episode<S> {
    /// Issues a token whose scope and uses are named at run time.
    ///
    /// # Errors
    /// If it names no tool, no operation or no use (SCHEMA), or if the episode is over its budgets and layer 1
    /// has not approved that (INV-005).
    pub fn authorize_named(
        mut self,
        scope: NamedScope,
        spec: impl Says<TokenSpec>,
    ) -> Result<(Episode<Authorize>, Vec<Permit<AnyScope>>), Refused<S, Box<(NamedScope, TokenSpec)>>> {
        let (core, spec) = (&mut self.core, spec.said());
        let uses = u64::from(scope.uses);
        let count = PositiveCount::new(uses).map_err(|invalid| missing(Code::Schema, invalid.to_string()));
        let draft = count.and_then(|count| spec.named(core, &scope, count));
        let sent =
            draft.map_err(std::sync::Arc::new).and_then(|(token_id, draft)| core.try_send(draft).map(|()| token_id));
        match sent {
            Ok(token_id) => {
                let mark = self.core.mark.clone();
                let permits = (0..uses).map(|_| Permit::any(token_id.clone(), mark.clone())).collect();
                Ok((self.at(), permits))
            }
            Err(why) => Err(self.refuse(why).giving_back(Box::new((scope, spec)))),
        }
    }
}

impl Core {
    pub(crate) fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        let no = |problem: String| missing(Code::E4, problem);
        let ledger = self.machine.ledger();
        let grant = match ledger.tokens().live(token_id.as_str(), ledger.clock_at(self.now())) {
            // How many uses are left is compared below.
            Ok(grant) | Err(NotLive::UsedUp(grant)) => grant,
            Err(_) => return Err(no(format!("the episode has no live token `{token_id}`"))),
        };
        let lacks_tool = Sc::TOOLS.iter().find(|tool| !grant.tools.iter().any(|granted| **granted == ***tool));
        if let Some(tool) = lacks_tool {
            return Err(no(format!("the token `{token_id}` does not allow the tool `{tool}`")));
        }
        if let Some(operation) = Sc::OPERATIONS.iter().find(|operation| !grant.operations.contains(operation)) {
            return Err(no(format!("the token `{token_id}` does not allow the operation `{operation}`")));
        }
        let left = grant.uses_left();
        if left < N as u64 {
            return Err(no(format!("the token `{token_id}` has {left} uses left, and {N} are claimed")));
        }
        Ok(self.permits(token_id))
    }

    pub(crate) fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        let live = self.live_tokens();
        if let Some(token) = live.iter().find(|token| token.uses_left >= N as u64 && token.covers::<Sc>()) {
            return Ok(self.permits(&token.token_id));
        }
        let known: Vec<String> =
            live.iter().map(|token| format!("`{}` ({} left)", token.token_id, token.uses_left)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let tools: Vec<String> = Sc::TOOLS.iter().map(|tool| format!("`{tool}`")).collect();
        let problem = format!("no live token allows {} and has {N} uses left; live tokens: {known}", tools.join(", "));
        Err(missing(Code::E4, problem))
    }

    /// The tokens that a directive can be sent with now.
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

    fn permits<Sc, const N: usize>(&self, token_id: &TokenId) -> [Permit<Sc>; N] {
        std::array::from_fn(|_| Permit { token_id: token_id.clone(), episode: self.mark.clone(), scope: PhantomData })
    }
}
