//! Moves of an episode.

use std::sync::{Arc, Mutex, PoisonError};

use omen::episode::{
    Alert, Allow, Answer, AnyScope, Belief, Episode, NamedScope, NotMoved, Plan, Refused, TokenSpec, Typestate,
};
use omen::finding::Diagnostic;
use omen::packet::parse::Checked as _;
use omen::packet::{BeliefUpdatePayload, PacketType, TokenId, VerificationPlanPayload};
use omen::{AnyEpisode, Code, DecisionOutcome, Refusal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::decisions::{ActOrderKind, Layer1Order, Order, Proof};
use super::handle::{Handle, Live, NotDone};
use super::once::Once;
use super::tasks::{Directive, LiveToken, Permit, Sent, Settled, Task};
use super::{convert, errors, setup};

/// Result of a move: the episode after it, or as it was with the reason.
type Moved<R> = Result<(AnyEpisode, R), (AnyEpisode, Arc<Refusal>)>;

/// Tools and operations of a scope, and a number of uses.
type ScopeLists = (Vec<String>, Vec<String>, u32);

/// Evaluates an expression with the episode in its state, and the class of the state without the number of open directives.
macro_rules! in_its_state {
    ($any:expr, |$episode:pat_param, $class:pat_param| $value:expr) => {
        in_its_state!($any, $episode, $class, $value; Idle "Idle", Sense "Sense", Model "Model", Act "DecideAct",
            Escalate "DecideEscalate", Stop "DecideStop", Undecided "DecideUndecided", VerifyOpen "ManyVerify",
            Verify "Verify", Authorize "Authorize", ExecuteOpen "ManyExecute", Execute "Execute", Fork "Fork",
            Review "Review", Escalated "Escalated", SafeMode "SafeMode")
    };
    ($any:expr, $episode:pat_param, $class:pat_param, $value:expr; $($variant:ident $name:literal),*) => {
        match $any {
            $(AnyEpisode::$variant($episode) => {
                let $class = $name;
                $value
            })*
        }
    };
}

#[pymethods]
impl Handle {
    /// Sends a packet, with the envelope of the episode; `status` is the status of this packet alone.
    #[pyo3(signature = (state, name, packet_type, payload, status=None))]
    fn send(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        packet_type: &str,
        payload: &Bound<'_, PyAny>,
        status: Option<&str>,
    ) -> PyResult<Self> {
        let payload = convert::json(payload)?;
        let packet_type: PacketType = convert::wire("packet_type", packet_type)?;
        let mut proposal = format!(r#"{{"packet_type":"{packet_type}","payload":{payload}"#);
        if let Some(status) = status {
            let mut mcp = self.read(py, name, |episode| episode.envelope(packet_type))?;
            mcp.epistemics.status = convert::wire("status", status)?;
            let mcp = serde_json::to_string(&mcp).map_err(|error| errors::log(py, &error.to_string()))?;
            proposal.push_str(r#","mcp":"#);
            proposal.push_str(&mcp);
        }
        proposal.push('}');
        self.go(py, state, name, |episode| proposed(episode, Allow::everything(), &proposal)).map(|(to, ())| to)
    }

    /// Makes the move that a model proposes as JSON.
    fn propose(&self, py: Python<'_>, state: &str, proposal: &str, allow: Vec<String>) -> PyResult<Self> {
        let mut allowed = Allow::moves();
        for name in allow {
            allowed = match name.as_str() {
                "tokens" => allowed.tokens(),
                "user_input" => allowed.user_input(),
                "results" => allowed.results(),
                "alerts" => allowed.alerts(),
                "understated_stakes" => allowed.understated_stakes(),
                other => {
                    let known = "tokens, user_input, results, alerts, understated_stakes";
                    let problem = format!("invalid value `{other}` for `allow`; expected one of {known}");
                    return Err(PyValueError::new_err(problem));
                }
            };
        }
        self.go(py, state, "propose", |episode| proposed(episode, allowed, proposal)).map(|(to, ())| to)
    }

    /// Changes the envelope of future packets.
    fn under(&self, py: Python<'_>, state: &str, envelope: &Bound<'_, PyAny>) -> PyResult<Self> {
        let envelope = setup::envelope_of(py, state, "under", envelope)?;
        self.go(py, state, "under", |episode| Ok((episode.under(&envelope), ()))).map(|(to, ())| to)
    }

    /// Makes a decision.
    fn decide(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        outcome: &str,
        order: &Order,
        envelope: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let envelope = setup::hypothesis_of(py, state, name, envelope)?;
        let outcome: DecisionOutcome = convert::wire("outcome", outcome)?;
        let kind = order.0.take(py, name)?;
        let kept = Mutex::new(None);
        let moved = self.go(py, state, name, |episode| {
            let decided = match kind {
                ActOrderKind::Verified(order) => {
                    let decided = episode.decide(outcome, order, &envelope);
                    decided.map_err(|(refused, order)| (refused, ActOrderKind::Verified(order)))
                }
                ActOrderKind::Unverified(order) => {
                    let decided = episode.decide(outcome, order, &envelope);
                    decided.map_err(|(refused, order)| (refused, ActOrderKind::Unverified(order)))
                }
                ActOrderKind::Overridden(order) => {
                    let decided = episode.decide(outcome, order, &envelope);
                    decided.map_err(|(refused, order)| (refused, ActOrderKind::Overridden(order)))
                }
            };
            decided.map(|episode| (episode, ())).map_err(|(NotMoved { episode, why }, order)| {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
                (episode, why)
            })
        });
        if let Some(kind) = kept.into_inner().unwrap_or_default() {
            order.0.put_back(kind);
        }
        moved.map(|(to, ())| to)
    }

    /// Sends the plan of a verification loop, which names the decision that began it.
    fn verify(&self, py: Python<'_>, state: &str, plan: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut payload = convert::value(plan)?;
        let decision = self.read(py, "verify", |episode| match episode {
            AnyEpisode::Verify(episode) => episode.decision().cloned(),
            AnyEpisode::VerifyOpen(episode) => episode.decision().cloned(),
            _ => None,
        })?;
        if let (Some(decision), Some(payload)) = (decision, payload.as_object_mut()) {
            payload.entry("decision_packet_id").or_insert_with(|| decision.to_string().into());
        }
        let payload = VerificationPlanPayload::parse(&payload.to_string())
            .map_err(|errors| errors::invalid(py, state, "verify", errors))?;
        let texts: Vec<_> = payload.targets.iter().map(|target| target.assumption.to_string()).collect();
        let (plan, assumptions) = Plan::stating(payload);
        let (to, ()) = self.step(py, state, "verify", |Live { episode, assumptions: mut all }| {
            let sent = match episode {
                AnyEpisode::Verify(episode) => after(episode.verify(plan)),
                AnyEpisode::VerifyOpen(episode) => after(episode.verify(plan)),
                other => Err(elsewhere(other, Code::Fsm, "no verification loop is running")),
            };
            match sent {
                Ok((episode, ())) => {
                    all.extend(texts.into_iter().zip(assumptions));
                    Ok((Live { episode, assumptions: all }, ()))
                }
                Err((episode, why)) => Err((Live { episode, assumptions: all }, why)),
            }
        })?;
        Ok(to)
    }

    /// Closes the verification loop, once it is complete, with a belief update that cites its evidence.
    fn complete(&self, py: Python<'_>, state: &str, name: &str, payload: &Bound<'_, PyAny>) -> PyResult<(Self, Proof)> {
        let payload = BeliefUpdatePayload::parse(&convert::json(payload)?)
            .map_err(|errors| errors::invalid(py, state, name, errors))?;
        let (to, (proof, assumptions)) = self.step(py, state, name, |Live { episode, assumptions }| {
            let AnyEpisode::Verify(episode) = episode else {
                let (episode, why) = elsewhere(episode, Code::Fsm, "no verification loop is running");
                return Err((Live { episode, assumptions }, why));
            };
            let episode = match episode.complete() {
                Ok(episode) => episode,
                Err(refused) => {
                    return Err((Live { episode: refused.episode.into_any(), assumptions }, refused.why));
                }
            };
            let (episode, proof) = episode.believe(Belief::stating(payload));
            match kept(episode) {
                Ok((episode, ())) => Ok((Live { episode, assumptions: Vec::new() }, (proof, assumptions))),
                Err((episode, why)) => Err((Live { episode, assumptions }, why)),
            }
        })?;
        Ok((to, Proof { proof, assumptions: Mutex::new(assumptions) }))
    }

    /// Issues a token, and returns a permit for each of its uses.
    #[allow(clippy::too_many_arguments, reason = "they are the arguments of the Python method")]
    fn authorize(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        scope: ScopeLists,
        ttl_seconds: u32,
        rationale: &str,
        constraints: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, Vec<Permit>)> {
        let scope = named_scope(scope)?;
        let mut spec = TokenSpec::new(ttl_seconds, convert::text("rationale", rationale)?);
        if let Some(constraints) = constraints {
            let fields = omen::episode::Fields::try_new(convert::value(constraints)?);
            let fields = fields.map_err(|error| PyValueError::new_err(error.to_string()))?;
            spec = spec.constrained(fields);
        }
        let (to, permits) = self.go(py, state, name, |episode| {
            let issued = match episode {
                AnyEpisode::Act(episode) => episode.authorize_named(scope, spec).map_err(not_moved),
                AnyEpisode::Authorize(episode) => episode.authorize_named(scope, spec).map_err(not_moved),
                other => return Err(elsewhere(other, Code::Fsm, "no token can be issued in this state")),
            };
            issued.map(|(episode, permits)| (episode.into_any(), permits))
        })?;
        Ok((to, wrapped(permits)))
    }

    /// Returns permits for remaining uses of a token, or of the first live token that covers the scope.
    fn claim(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        token_id: Option<&str>,
        scope: ScopeLists,
    ) -> PyResult<Vec<Permit>> {
        let (token_id, scope) = (token_id.map(parse_token_id).transpose()?, named_scope(scope)?);
        let claimed = self.read_now(py, name, |episode| match &token_id {
            Some(token_id) => episode.claim_named(token_id, &scope),
            None => episode.claim_any_named(&scope),
        })?;
        claimed.map(wrapped).map_err(|why| errors::refused(py, state, name, &why))
    }

    /// Returns the live tokens, in the order of issue.
    fn live_tokens(&self, py: Python<'_>) -> PyResult<Vec<LiveToken>> {
        self.read_now(py, "live_tokens", |episode| episode.live_tokens().into_iter().map(LiveToken::from).collect())
    }

    /// Sends directives: all, or none.
    fn execute(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        orders: Vec<Py<Directive>>,
    ) -> PyResult<(Self, Vec<Task>)> {
        let mut ready = Vec::with_capacity(orders.len());
        let mut wrong = None;
        for order in &orders {
            match order.get().0.take(py, name) {
                Ok(Sent::Ready(sent)) => ready.push(sent),
                Ok(unsent @ Sent::Writes(_)) => {
                    order.get().0.put_back(unsent);
                    let problem = Diagnostic::error(Code::Inv007, "a directive that may write needs a permit");
                    let fix = "attach a permit: `directive.with_permit(permit)`";
                    wrong = Some(errors::invalid(py, state, name, vec![problem.help(fix)]));
                }
                Err(error) => wrong = Some(error),
            }
            if wrong.is_some() {
                break;
            }
        }
        let back = Mutex::new(ready);
        let moved = match wrong {
            Some(error) => Err(error),
            None => self.go(py, state, name, |episode| {
                let ready = std::mem::take(&mut *back.lock().unwrap_or_else(PoisonError::into_inner));
                episode.execute(ready).map_err(|(NotMoved { episode, why }, ready)| {
                    *back.lock().unwrap_or_else(PoisonError::into_inner) = ready;
                    (episode, why)
                })
            }),
        };
        if moved.is_err() {
            let ready = back.into_inner().unwrap_or_default();
            orders.iter().zip(ready).for_each(|(order, sent)| order.get().0.put_back(Sent::Ready(sent)));
        }
        moved.map(|(to, tasks)| (to, tasks.into_iter().map(Task::new).collect()))
    }

    /// Records results: of some open directives, or of `all`.
    fn settle(&self, py: Python<'_>, state: &str, name: &str, results: Vec<Py<Settled>>, all: bool) -> PyResult<Self> {
        let mut taken = Vec::with_capacity(results.len());
        let mut wrong = None;
        for result in &results {
            match result.get().0.take(py, name) {
                Ok(result) => taken.push(result),
                Err(error) => {
                    wrong = Some(error);
                    break;
                }
            }
        }
        let back = Mutex::new(taken);
        let moved = match wrong {
            Some(error) => Err(error),
            None => self.go(py, state, name, |episode| {
                let open = episode.tasks().len();
                if all && open != results.len() {
                    let found = results.len();
                    let problem =
                        format!("every open directive needs exactly one result: expected {open}, found {found}");
                    return Err(elsewhere(episode, Code::E6, &problem));
                }
                let taken = std::mem::take(&mut *back.lock().unwrap_or_else(PoisonError::into_inner));
                let settled = match episode {
                    AnyEpisode::ExecuteOpen(episode) => episode.settle(taken).map(Episode::into_any).map_err(refusal),
                    AnyEpisode::VerifyOpen(episode) => episode.settle(taken).map(Episode::into_any).map_err(refusal),
                    other => return Err(elsewhere(other, Code::E6, "no directive is open")),
                };
                settled.map(|episode| (episode, ())).map_err(|(episode, why, taken)| {
                    *back.lock().unwrap_or_else(PoisonError::into_inner) = taken;
                    (episode, why)
                })
            }),
        };
        if moved.is_err() {
            let taken = back.into_inner().unwrap_or_default();
            results.iter().zip(taken).for_each(|(result, taken)| result.get().0.put_back(taken));
        }
        moved.map(|(to, ())| to)
    }

    /// Continues without a packet: the class of the state changes.
    fn as_is(&self, py: Python<'_>, state: &str, name: &str) -> PyResult<Self> {
        self.go(py, state, name, |episode| Ok((episode, ()))).map(|(to, ())| to)
    }

    /// Returns to the state without open directives.
    fn all_settled(&self, py: Python<'_>, state: &str) -> PyResult<Self> {
        let moved = self.go(py, state, "all_settled", |episode| match episode.tasks().len() {
            0 => Ok((episode, ())),
            _ => Err(elsewhere(episode, Code::E6, "directives have no result yet")),
        });
        moved.map(|(to, ())| to)
    }

    /// Halts the episode.
    fn halt(&self, py: Python<'_>, state: &str, reason: &str) -> PyResult<Self> {
        let reason = convert::text("reason", reason)?;
        self.go(py, state, "halt", |episode| kept(episode.halt(reason))).map(|(to, ())| to)
    }

    /// Ends safe mode by an order of layer 1.
    fn clear(&self, py: Python<'_>, state: &str, order: &Layer1Order) -> PyResult<Self> {
        self.by_order(py, state, "clear", order, |episode, order| match episode {
            AnyEpisode::SafeMode(episode) => kept(episode.clear(order)),
            other => Err(elsewhere(other, Code::Fsm, "the episode is not in safe mode")),
        })
    }

    /// Records an order of layer 1 as the answer to an escalation.
    fn answered(&self, py: Python<'_>, state: &str, order: &Layer1Order) -> PyResult<Self> {
        self.by_order(py, state, "answered", order, |episode, order| match episode {
            AnyEpisode::Escalated(episode) => kept(episode.answered(Answer::order(order))),
            other => Err(elsewhere(other, Code::Fsm, "no escalation is waiting for an answer")),
        })
    }

    /// Sends an alert with which layer 1 approves that the episode exceeds its budgets; it may revoke tokens.
    fn budget_override(
        &self,
        py: Python<'_>,
        state: &str,
        order: &Layer1Order,
        revoked: Vec<String>,
    ) -> PyResult<Self> {
        let revoked = revoked.iter().map(|id| parse_token_id(id)).collect::<PyResult<Vec<_>>>()?;
        self.by_order(py, state, "alert", order, |episode, order| {
            let alert = Alert::budget_override(order);
            let alert = if revoked.is_empty() { alert } else { alert.revoking(revoked) };
            in_its_state!(episode, |episode, _| kept(episode.alert(alert)))
        })
    }

    /// Closes the episode, and returns the lines of its log.
    #[pyo3(name = "close")]
    fn close_episode(&self, py: Python<'_>, state: &str) -> PyResult<Vec<String>> {
        self.close(py, state, |episode| {
            macro_rules! close {
                ($episode:expr) => {
                    match $episode.close() {
                        Ok(closed) => Ok(closed.lines().to_vec()),
                        Err(refused) => Err(NotDone { episode: refused.episode.into_any(), why: refused.why }),
                    }
                };
            }
            match episode {
                AnyEpisode::Review(episode) => close!(episode),
                AnyEpisode::Fork(episode) => close!(episode),
                other => {
                    let (episode, why) = elsewhere(other, Code::Fsm, "an episode can be closed in `Review` only");
                    Err(NotDone { episode, why })
                }
            }
        })
    }

    /// Ends the episode by its drop policy.
    fn end(&self, py: Python<'_>) {
        py.detach(|| self.end_now());
    }

    /// Returns the class of the state that the log has reached, without the number of open directives.
    fn class_name(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.read(py, "into_any", |episode| in_its_state!(episode, |_, class| class))
    }

    /// Returns the events that are legal next.
    fn events(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.read_now(py, "moves", |episode| {
            episode.moves_for(Allow::everything()).into_iter().map(|e| e.as_str()).collect()
        })
    }

    fn tasks(&self, py: Python<'_>) -> PyResult<Vec<Task>> {
        self.read(py, "tasks", |episode| episode.tasks().into_iter().map(Task::new).collect())
    }

    fn lines(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.read(py, "lines", |episode| episode.lines().to_vec())
    }
}

impl Handle {
    /// Makes a move that uses an order of layer 1, which a refused move leaves usable.
    fn by_order(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        order: &Layer1Order,
        run: impl FnOnce(AnyEpisode, omen::Layer1Order) -> Moved<()> + Send,
    ) -> PyResult<Self> {
        let taken = order.0.take(py, name)?;
        let again = Layer1Order::order(taken.reason());
        let moved = self.go(py, state, name, |episode| run(episode, taken));
        if moved.is_err() {
            order.0.put_back(again);
        }
        moved.map(|(to, ())| to)
    }

    /// Makes a move that keeps the assumptions of the loop.
    fn go<R: Send>(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        run: impl FnOnce(AnyEpisode) -> Moved<R> + Send,
    ) -> PyResult<(Self, R)> {
        self.step(py, state, name, |Live { episode, assumptions }| match run(episode) {
            Ok((episode, given)) => Ok((Live { episode, assumptions }, given)),
            Err((episode, why)) => Err((Live { episode, assumptions }, why)),
        })
    }
}

fn named_scope((tools, operations, uses): ScopeLists) -> PyResult<NamedScope> {
    let operations = operations.iter().map(|name| convert::wire("operation", name)).collect::<PyResult<Vec<_>>>()?;
    Ok(NamedScope::new(tools, operations, uses))
}

fn parse_token_id(id: &str) -> PyResult<TokenId> {
    id.parse().map_err(|invalid| PyValueError::new_err(format!("invalid `token_id`: {invalid}")))
}

fn wrapped(permits: Vec<omen::Permit<AnyScope>>) -> Vec<Permit> {
    permits.into_iter().map(|permit| Permit(Once::new("permit", permit))).collect()
}

fn proposed(episode: AnyEpisode, allow: Allow, proposal: &str) -> Moved<()> {
    match episode.propose_with(allow, proposal) {
        Ok(moved) => Ok((moved.episode, ())),
        Err(NotMoved { episode, why }) => Err((episode, why)),
    }
}

/// Returns the episode after a move whose type has no error.
fn kept<S: Typestate>(episode: Episode<S>) -> Moved<()> {
    match episode.trouble().map(copied) {
        None => Ok((episode.into_any(), ())),
        Some(why) => Err((episode.into_any(), Arc::new(why))),
    }
}

fn copied(why: &Refusal) -> Refusal {
    match why {
        Refusal::Rules(findings) => Refusal::Rules(findings.clone()),
        other => Refusal::Tool(other.to_string()),
    }
}

fn after<S, T, G>(moved: Result<Episode<S>, Refused<T, G>>) -> Moved<()> {
    moved.map(|episode| (episode.into_any(), ())).map_err(not_moved)
}

fn not_moved<S, G>(refused: Refused<S, G>) -> (AnyEpisode, Arc<Refusal>) {
    (refused.episode.into_any(), refused.why)
}

fn refusal<S, G>(refused: Refused<S, G>) -> (AnyEpisode, Arc<Refusal>, G) {
    (refused.episode.into_any(), refused.why, refused.given)
}

/// Returns the refusal of a move that the class of a state offers and the log does not.
fn elsewhere(episode: AnyEpisode, code: Code, problem: &str) -> (AnyEpisode, Arc<Refusal>) {
    (episode, Arc::new(Refusal::Rules(vec![Diagnostic::error(code, problem).help(code.info().help)])))
}
