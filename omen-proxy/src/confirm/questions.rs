//! Waiting questions, and the single answer that each of them gets.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::confirm::{Question, Reply, Responder};
use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use super::message::{Answer, Message, OutcomeOfQuestion as Outcome};

/// Maximum number of questions that wait at once. A further call is denied.
pub const MAX_WAITING: usize = 1024;

/// Maximum number of closed questions remembered, to report how they were closed.
const REMEMBERED: usize = 1024;

/// Maximum number of messages that a front end may fall behind.
const BACKLOG: usize = 4 * MAX_WAITING;

/// Waiting questions of a gate. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Questions(Arc<SharedQuestions>);

/// Questions, and the channel to all front ends.
#[derive(Debug)]
struct SharedQuestions {
    state: Mutex<QuestionsState>,
    /// Events for all front ends. Sent with the lock held, so that all front ends see them in the same order.
    news: broadcast::Sender<News>,
}

/// Waiting questions by id, and the latest closed ones.
#[derive(Debug, Default)]
struct QuestionsState {
    last: u64,
    waiting: BTreeMap<u64, WaitingQuestion>,
    closed: VecDeque<ClosedQuestion>,
}

/// Question that waits for its answer.
#[derive(Debug)]
struct WaitingQuestion {
    question: Arc<Question>,
    until: Instant,
    answer: oneshot::Sender<Reply>,
}

/// Question that no longer waits, with its outcome.
#[derive(Clone, Debug)]
struct ClosedQuestion {
    id: u64,
    outcome: Outcome,
    by: Option<Responder>,
}

/// Event that front ends receive.
#[derive(Clone, Debug)]
pub(super) enum News {
    Asked(QuestionNotice),
    Closed(Message),
}

/// Waiting question as shown to a front end.
#[derive(Clone, Debug)]
pub(super) struct QuestionNotice {
    id: u64,
    question: Arc<Question>,
    until: Instant,
}

impl QuestionNotice {
    /// Returns the line with the question and the time that is left now.
    pub(super) fn message(&self) -> Message {
        let question = &self.question;
        Message::Question {
            id: self.id,
            server: question.tool.server.as_str().to_owned(),
            tool: question.tool.tool.as_str().to_owned(),
            permissions: question.permissions.iter().map(|permission| permission.as_str().to_owned()).collect(),
            args: question.args.clone(),
            hash: question.hash.to_string(),
            turn: question.turn.as_str().to_owned(),
            seconds_left: self.until.saturating_duration_since(Instant::now()).as_secs(),
        }
    }
}

impl Questions {
    pub(super) fn new() -> Self {
        Self(Arc::new(SharedQuestions { state: Mutex::default(), news: broadcast::Sender::new(BACKLOG) }))
    }

    /// Asks a question and waits for the first answer. If the future is dropped, the question is withdrawn.
    pub(super) async fn ask(&self, question: &Question) -> Reply {
        let (answer, answered) = oneshot::channel();
        let until = Instant::now() + question.timeout.min(LONGEST);
        let ticket = {
            let mut state = self.0.state.lock();
            if state.waiting.len() >= MAX_WAITING {
                return Reply::Denied { why: format!("{MAX_WAITING} calls are already waiting for a confirmation") };
            }
            state.last += 1;
            let (id, question) = (state.last, Arc::new(question.clone()));
            state.waiting.insert(id, WaitingQuestion { question: Arc::clone(&question), until, answer });
            // Nobody may be listening yet: front ends that connect later receive the waiting questions.
            let _ = self.0.news.send(News::Asked(QuestionNotice { id, question, until }));
            Ticket { shared: Arc::clone(&self.0), id, until }
        };
        let reply = answered.await;
        drop(ticket);
        reply.unwrap_or_else(|_| Reply::Denied { why: "the question was withdrawn".to_owned() })
    }

    /// Returns the waiting questions, in the order in which they were asked, and a receiver for all further events.
    pub(super) fn join(&self) -> (Vec<QuestionNotice>, broadcast::Receiver<News>) {
        let state = self.0.state.lock();
        let waiting = state.waiting.iter().map(|(id, waiting)| QuestionNotice {
            id: *id,
            question: Arc::clone(&waiting.question),
            until: waiting.until,
        });
        (waiting.collect(), self.0.news.subscribe())
    }

    /// Accepts an answer if it is the first one and is for exactly this call.
    ///
    /// # Errors
    /// The reason why the answer does not count.
    pub(super) fn answer(&self, answer: Answer, by: Responder) -> Result<(), String> {
        let mut state = self.0.state.lock();
        let Some(waiting) = state.waiting.get(&answer.id) else {
            let closed = state.closed.iter().find(|closed| closed.id == answer.id);
            return Err(closed.map_or_else(|| "there is no such question".to_owned(), ClosedQuestion::to_text));
        };
        if waiting.question.hash.to_string() != answer.hash {
            return Err("the hash belongs to another call; answer with the hash of this question".to_owned());
        }
        // The gate's own clock has the final say; an answer that is late here is late there.
        if Instant::now() >= waiting.until {
            return Err("it was not answered in time".to_owned());
        }
        let (outcome, reply) = match answer.confirm {
            true => (Outcome::Confirmed, Reply::ConfirmedBy(by.clone())),
            false => {
                let why = answer.why.unwrap_or_else(|| "denied".to_owned());
                (Outcome::Denied, Reply::DeniedBy { by: by.clone(), why })
            }
        };
        let Some(waiting) = state.waiting.remove(&answer.id) else { return Ok(()) };
        if waiting.answer.send(reply).is_err() {
            self.0.close(&mut state, answer.id, Outcome::Withdrawn, None);
            return Err("its call has ended".to_owned());
        }
        self.0.close(&mut state, answer.id, outcome, Some(by));
        Ok(())
    }
}

impl SharedQuestions {
    fn close(&self, state: &mut QuestionsState, id: u64, outcome: Outcome, by: Option<Responder>) {
        if state.closed.len() >= REMEMBERED {
            state.closed.pop_front();
        }
        state.closed.push_back(ClosedQuestion { id, outcome, by: by.clone() });
        let _ = self.news.send(News::Closed(Message::Closed { id, outcome, by }));
    }
}

/// Waiting question, which is withdrawn if dropped without an answer.
struct Ticket {
    shared: Arc<SharedQuestions>,
    id: u64,
    until: Instant,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if state.waiting.remove(&self.id).is_some() {
            let outcome = if Instant::now() >= self.until { Outcome::TimedOut } else { Outcome::Withdrawn };
            self.shared.close(&mut state, self.id, outcome, None);
        }
    }
}

impl ClosedQuestion {
    fn to_text(&self) -> String {
        let by = match &self.by {
            Some(Responder { user: Some(user), .. }) => format!(", by {user}"),
            Some(Responder { uid: Some(uid), .. }) => format!(", by the user {uid}"),
            _ => String::new(),
        };
        match self.outcome {
            Outcome::Confirmed => format!("it was confirmed before{by}"),
            Outcome::Denied => format!("it was denied before{by}"),
            Outcome::TimedOut => "it was not answered in time".to_owned(),
            Outcome::Withdrawn => "its call has ended".to_owned(),
        }
    }
}

/// Longer than any configuration lets a question wait, and short enough to be added to any time.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
