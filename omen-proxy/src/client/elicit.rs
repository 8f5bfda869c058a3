//! Confirmation of a call by the client's user, if the client can ask.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use tokio::time::Instant;

use super::downstream::Downstream;
use super::form::{self, ClientAnswer, FormResponse};
use super::two_rounds::{RoundOutcome, Rounds};
use crate::messages::methods::ELICIT;
use omen_mcp::frame::{Frame, Kind};
use omen_mcp::handshake::Session;
use omen_mcp::json;

/// Ways to a confirmation, in order: the client's user, if the client can ask and the configuration allows it; then another
/// confirmer, by default nobody. Without an answer from a human, the call is denied.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) client: Option<Elicitation>,
    pub(crate) then: Arc<dyn Confirmer>,
}

/// Settings for asking the client.
#[derive(Clone, Debug)]
pub(crate) struct Elicitation {
    pub(crate) client: Arc<Downstream>,
    pub(crate) session: Arc<Session>,
    /// Rounds, in the era in which the client cannot be sent unsolicited requests.
    pub(crate) rounds: Option<Arc<Rounds>>,
    /// Minimum time for a human's answer; anything faster does not count.
    pub(crate) least: Duration,
}

#[async_trait]
impl Confirmer for Chain {
    async fn confirm(&self, question: &Question) -> Reply {
        let heard = match &self.client {
            None => None,
            Some(client) => {
                Some(match client.rounds.as_ref().map_or(RoundOutcome::NotHere, |rounds| rounds.turn(question)) {
                    RoundOutcome::Answered(heard) => heard,
                    // The answer comes with another request and is judged there.
                    RoundOutcome::AskUser => {
                        return Reply::Denied { why: "the client asks its user, and calls again".to_owned() };
                    }
                    RoundOutcome::NotHere => client.ask(question).await,
                })
            }
        };
        let passed_over = match heard {
            Some(ClientAnswer::Human(reply)) => return reply,
            Some(ClientAnswer::Nobody(why)) => Some(why),
            None => None,
        };
        match (self.then.confirm(question).await, passed_over) {
            (Reply::Denied { why }, Some(client)) => Reply::Denied { why: format!("{client}; {why}") },
            (Reply::DeniedBy { by, why }, Some(client)) => Reply::DeniedBy { by, why: format!("{client}; {why}") },
            (reply, _) => reply,
        }
    }
}

impl Elicitation {
    async fn ask(&self, question: &Question) -> ClientAnswer {
        if !self.session.can_elicit() {
            return ClientAnswer::Nobody("the client cannot ask its user".to_owned());
        }
        let Some(params) = form::params(question) else { return form::too_long() };
        let asked = Instant::now();
        let line = |id: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{ELICIT}\",\"params\":{params}}}").into_bytes()
        };
        let Some(response) = self.client.ask(line).await else {
            return ClientAnswer::Nobody("the client is gone".to_owned());
        };
        said(&response).after(asked.elapsed(), self.least, VIA)
    }
}

fn said(response: &Frame) -> FormResponse {
    if response.kind != Kind::Result {
        return FormResponse::Other("an error".to_owned());
    }
    // The frame was read strictly, so a response with a repeated key has already been marked as unsure.
    let body = response.body().unwrap_or_default();
    json::object(response.text(), body)
        .map_or_else(|_| FormResponse::Other("an invalid result".to_owned()), |result| FormResponse::read(&result))
}

const VIA: &str = "elicitation";
