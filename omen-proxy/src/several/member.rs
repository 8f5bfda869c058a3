//! One of several servers: the session with it, as the client's session sees it, and our own requests to it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omen_gate::ServerName;
use omen_gate::mcp::Line;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::asked::{Answered, Asked};
use crate::source::Source;
use omen_mcp::Id;
use omen_mcp::frame::Frame;
use omen_mcp::outbox::{Full, Outbox};

/// What the ids of our own requests to a server begin with. No client may use such an id.
pub(super) const OURS: &str = "omen-several:";

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: ServerName,
    pub(super) source: Source,
    asked: Asked,
    state: Mutex<State>,
    /// The number of its session, and whether that is over.
    session: watch::Sender<(u64, bool)>,
}

#[derive(Debug, Default)]
struct State {
    /// None while it cannot be reached.
    out: Option<Outbox>,
    lost: Option<String>,
    capabilities: Option<Map<String, Value>>,
}

/// Why there is no answer of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the server `{0}` is gone: {1}")]
    Gone(ServerName, String),
    #[error("the server `{0}` has not answered within {1:?}")]
    Slow(ServerName, Duration),
    #[error("the server `{0}` does not read its messages")]
    Stuck(ServerName),
}

impl Member {
    pub(super) fn new(name: ServerName, source: Source) -> Self {
        let session = watch::Sender::new((0, true));
        Self { name, source, asked: Asked::default(), state: Mutex::default(), session }
    }

    /// A session with it begins. It takes the place of the one before, whose messages count no longer.
    pub(super) fn begin(&self, number: u64, out: Outbox) {
        let before = {
            let mut state = self.lock();
            state.lost = None;
            state.capabilities = None;
            state.out.replace(out)
        };
        self.session.send_replace((number, false));
        before.iter().for_each(Outbox::end);
    }

    /// Whether a session is the one that runs.
    pub(super) fn is_in(&self, number: u64) -> bool {
        *self.session.borrow() == (number, false)
    }

    /// Comes when a session is not the one that runs any more.
    pub(super) async fn left(&self, number: u64) {
        // The sender is `self`.
        let _ = self.session.subscribe().wait_for(|now| *now != (number, false)).await;
    }

    /// It cannot be reached any more. Whether it could before.
    pub(super) fn lose(&self, why: &str) -> bool {
        let before = {
            let mut state = self.lock();
            let before = state.out.take();
            if before.is_some() {
                state.lost = Some(why.to_owned());
            }
            before
        };
        self.session.send_modify(|session| session.1 = true);
        before.iter().for_each(Outbox::end);
        before.is_some()
    }

    pub(super) fn is_live(&self) -> bool {
        self.lock().out.is_some()
    }

    /// Nothing more is sent to it.
    pub(super) fn end(&self) {
        self.lock().out.iter().for_each(Outbox::end);
    }

    fn gone(&self) -> NoAnswer {
        let why = self.lock().lost.clone();
        NoAnswer::Gone(self.name.clone(), why.unwrap_or_else(|| "its session has ended".to_owned()))
    }

    /// Sends a line, if there is room now: a server that does not read holds up no other.
    pub(super) fn send(&self, line: impl Into<Line>) -> Result<(), NoAnswer> {
        let out = self.lock().out.clone();
        match out.map(|out| out.try_send(line)) {
            Some(Ok(())) => Ok(()),
            Some(Err(Full)) => Err(NoAnswer::Stuck(self.name.clone())),
            None => Err(self.gone()),
        }
    }

    /// Sends a request under an id of our own, and waits for the response, but not longer than this. Dropping the future cancels
    /// the request.
    pub(super) async fn ask(&self, limit: Duration, line: impl FnOnce(&str) -> Vec<u8>) -> Result<Frame, NoAnswer> {
        let mut session = self.session.subscribe();
        let asked_in = session.borrow_and_update().0;
        let Some(out) = self.lock().out.clone() else { return Err(self.gone()) };
        let mut open = self.asked.open(move |number| out.send_now(cancelled(number)));
        self.send(line(&own_id(open.number())))?;
        open.is_sent();
        let answer = async {
            tokio::select! {
                biased;
                answer = open.answer() => answer.and_then(Result::ok),
                _ = session.wait_for(|now| *now != (asked_in, false)) => None,
            }
        };
        match timeout(limit, answer).await {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(self.gone()),
            Err(_) => Err(NoAnswer::Slow(self.name.clone(), limit)),
        }
    }

    /// A response to a request of our own.
    pub(super) fn answered(&self, response: Frame) -> Answered {
        match response.id().and_then(our_number) {
            Some(number) => self.asked.answered(number, response),
            None => Answered::Nothing,
        }
    }

    /// What it has said that it can do.
    pub(super) fn can(&self, capabilities: Map<String, Value>) {
        self.lock().capabilities = Some(capabilities);
    }

    /// Whether it has said that it can do something; nothing if it has not been asked.
    pub(super) fn has(&self, capability: &str) -> Option<bool> {
        Some(self.lock().capabilities.as_ref()?.contains_key(capability))
    }

    /// It is changed as a whole, and nothing panics in between.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an id has the form of those of our own requests.
pub(super) fn is_our_id(id: &Id) -> bool {
    matches!(id, Id::Text(text) if text.starts_with(OURS))
}

fn our_number(id: &Id) -> Option<u64> {
    let Id::Text(text) = id else { return None };
    let digits = text.strip_prefix(OURS)?;
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

fn own_id(number: u64) -> String {
    format!("\"{OURS}{number}\"")
}

fn cancelled(number: u64) -> String {
    let id = own_id(number);
    let params = format!("{{\"requestId\":{id},\"reason\":\"nobody waits for the answer\"}}");
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}
