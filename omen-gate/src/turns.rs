//! What a gate knows of turns: their failure budgets, and which directives have had their call (A2, R2, PG-6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omen_fsm::episode::Authority;
use omen_types::{CorrelationId, Instant, PacketId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::audit::Kind;
use crate::clock::instant;
use crate::gate::Journal;
use crate::{Abort, Blocked, BudgetLimits, Clock, Code, FailureBudget, StepId, TurnId};

/// What a gate knows of a turn, held by whoever makes a call: a turn makes one call at a time.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) budget: FailureBudget,
    /// The directives whose tool was called: an order is good for one call, however often its task is taken up.
    pub(crate) called: BTreeSet<PacketId>,
}

impl Book {
    /// Whether the directive that asks for a call, if one does, has not had its call yet.
    pub(crate) fn is_fresh(&self, turn: &TurnState) -> Result<(), Blocked> {
        match turn.directive() {
            Some(directive) if self.called.contains(directive) => {
                let message = format!("the tool of the directive `{directive}` was called already");
                let help = "settle the task with the result of that call, or send a new directive";
                Err(Blocked::new(Code::Pg6, message, help))
            }
            _ => Ok(()),
        }
    }
}

/// The books of turns. One that says nothing, and is not in use, need not be kept.
#[derive(Debug)]
pub(crate) struct Turns {
    limits: BudgetLimits,
    books: Mutex<Books>,
}

type Books = BTreeMap<TurnId, Arc<tokio::sync::Mutex<Book>>>;

/// How many turns with something to remember (failures, directives whose tool was called) a gate keeps. One that knows
/// so many lets no new turn make a call.
pub const MAX_TURNS: usize = 65_536;

impl Turns {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self { limits, books: Mutex::default() }
    }

    /// The book of a turn, which is new if there is nothing to remember of the turn.
    pub(crate) fn book(&self, turn: &TurnId) -> Result<Arc<tokio::sync::Mutex<Book>>, Blocked> {
        let mut books = self.lock();
        if let Some(book) = books.get(turn) {
            return Ok(Arc::clone(book));
        }
        if books.len() >= MAX_TURNS {
            // One that is held is in use.
            let says = |book: &Book| book.budget.failures() > 0 || !book.called.is_empty();
            books.retain(|_, book| Arc::strong_count(book) > 1 || book.try_lock().map_or(true, |book| says(&book)));
            if books.len() >= MAX_TURNS {
                let message = format!("there is something to remember of more than {MAX_TURNS} turns");
                return Err(Blocked::new(Code::R2, message, "end turns that are over: `gate.end_turn(&turn)`"));
            }
        }
        let new = || Book { budget: FailureBudget::new(self.limits), called: BTreeSet::new() };
        Ok(Arc::clone(books.entry(turn.clone()).or_insert_with(|| Arc::new(new().into()))))
    }

    /// Forgets a turn that is over.
    pub(crate) fn end(&self, turn: &TurnId) {
        self.lock().remove(turn);
    }

    /// A map of shared pointers is whole whenever something panics.
    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, as a request carries it: its id, and how to record what is decided for it.
#[derive(Clone, Debug)]
pub(crate) struct TurnState {
    id: TurnId,
    origin: Option<Arc<Origin>>,
    step: Option<Arc<UnderWay>>,
    journal: Journal,
}

/// A step of a turn, which ends when its turn says so, whatever becomes of its request.
#[derive(Debug)]
struct UnderWay {
    step: StepId,
    is_over: AtomicBool,
}

/// Ends a step, also if whoever waits for it goes away.
#[derive(Debug)]
pub(crate) struct EndOfStep(Arc<UnderWay>);

impl Drop for EndOfStep {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

/// The directive of an episode that asks for a call.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) packet_id: PacketId,
    pub(crate) correlation_id: CorrelationId,
    /// The token that it was sent with, if it may change things.
    pub(crate) authority: Option<Authority>,
    /// From when on its result is late (D35).
    pub(crate) deadline: Instant,
}

impl Origin {
    /// Whether the directive may still be carried out.
    fn stands(&self, now: Instant) -> Result<(), Blocked> {
        let help = "send a new directive, under a token that is in force";
        if let Some(Authority { token_id, expires }) = &self.authority
            && expires.is_none_or(|expires| now >= expires)
        {
            return Err(Blocked::new(Code::G2, format!("the token `{token_id}` of the directive has expired"), help));
        }
        if now > self.deadline {
            return Err(Blocked::new(Code::G2, "the directive's time is over before its tool was called", help));
        }
        Ok(())
    }
}

impl TurnState {
    pub(crate) fn new(id: TurnId, origin: Option<Origin>, journal: Journal) -> Self {
        Self { id, origin: origin.map(Arc::new), step: None, journal }
    }

    /// The same turn for one of its steps, and what ends the step when it is dropped.
    pub(crate) fn within(&self, step: &StepId) -> (Self, EndOfStep) {
        let under_way = Arc::new(UnderWay { step: step.clone(), is_over: AtomicBool::new(false) });
        (Self { step: Some(Arc::clone(&under_way)), ..self.clone() }, EndOfStep(under_way))
    }

    /// Whether the step that the request is of is still under way (R4).
    pub(crate) fn goes_on(&self) -> Result<(), Abort> {
        match &self.step {
            Some(under_way) if under_way.is_over.load(Ordering::Acquire) => {
                let why = "its request was kept beyond its end";
                Err(Abort::OutOfOrder { step: under_way.step.clone(), why })
            }
            _ => Ok(()),
        }
    }

    /// The directive that asks for the call, if one does.
    pub(crate) fn directive(&self) -> Option<&PacketId> {
        self.origin.as_ref().map(|origin| &origin.packet_id)
    }

    /// Whether what the directive rests on is still in force: its token has not expired, and its time is not over.
    pub(crate) fn stands(&self, clock: &dyn Clock) -> Result<(), Blocked> {
        self.origin.as_ref().map_or(Ok(()), |origin| origin.stands(instant(clock.wall())))
    }

    /// How long a call may take: no longer than the directive may.
    pub(crate) fn time_left(&self, clock: &dyn Clock, limit: Duration) -> Duration {
        let Some(origin) = &self.origin else { return limit };
        let now = instant(clock.wall());
        // A directive's time is counted in whole seconds; the part of a second that is left is not lost.
        let left = origin.deadline.unix_seconds().saturating_sub(now.unix_seconds());
        limit.min(Duration::from_secs(u64::try_from(left).unwrap_or(0).max(1)))
    }

    pub(crate) fn id(&self) -> &TurnId {
        &self.id
    }

    /// Records something (A1, G4).
    pub(crate) async fn record(&self, kind: Kind, data: Map<String, Value>) -> Result<(), Blocked> {
        self.journal.append(kind, &self.id, self.origin.as_ref(), data).await
    }

    /// Records something that is a plain value.
    pub(crate) async fn record_value(&self, kind: Kind, value: &impl Serialize) -> Result<(), Blocked> {
        match serde_json::to_value(value) {
            Ok(Value::Object(data)) => self.record(kind, data).await,
            _ => Err(Blocked::new(Code::A1, "the entry is no object", "this is a mistake of the gate: report it")),
        }
    }

    /// Records something where nobody can wait for it.
    pub(crate) fn record_later(&self, kind: Kind, data: Map<String, Value>) {
        self.journal.append_later(kind, self.id.clone(), self.origin.clone(), data);
    }

    /// Gives what a check says, and records it if it refuses.
    pub(crate) async fn check<T>(&self, verdict: Result<T, Blocked>) -> Result<T, Blocked> {
        if let Err(Blocked { code, message, .. }) = &verdict {
            self.record(Kind::Decision, data(json!({ "code": code.as_str(), "outcome": "denied", "why": message })))
                .await?;
        }
        verdict
    }

    /// Records that the turn is at its end, and why.
    pub(crate) async fn aborted(&self, abort: &Abort) -> Result<(), Blocked> {
        let entry = json!({ "code": abort.code().as_str(), "outcome": "aborted", "why": abort.to_string() });
        self.record(Kind::Turn, data(entry)).await
    }
}

/// The members of an object.
pub(crate) fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
