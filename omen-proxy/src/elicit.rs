//! The client asks its user to confirm a call, if it can.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply, Responder};
use omen_types::unseen::is_unseen;
use serde_json::json;
use tokio::time::Instant;

use crate::downstream::Downstream;
use crate::frame::{Frame, Kind};
use crate::json;
use crate::session::Session;

/// The ways to a confirmation, one after the other: the client's user, if the client can ask and the configuration lets it;
/// then another confirmer, by default nobody. Without an answer of a human, the call is denied.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) client: Option<Elicitation>,
    pub(crate) then: Arc<dyn Confirmer>,
}

/// How the client is asked.
#[derive(Debug)]
pub(crate) struct Elicitation {
    pub(crate) client: Arc<Downstream>,
    pub(crate) session: Arc<Session>,
    /// What comes faster is not a human's answer.
    pub(crate) least: Duration,
}

#[async_trait]
impl Confirmer for Chain {
    async fn confirm(&self, question: &Question) -> Reply {
        let passed_over = match &self.client {
            None => None,
            Some(client) => match client.ask(question).await {
                Heard::Human(reply) => return reply,
                Heard::Nobody(why) => Some(why),
            },
        };
        match (self.then.confirm(question).await, passed_over) {
            (Reply::Denied { why }, Some(client)) => Reply::Denied { why: format!("{client}; {why}") },
            (Reply::DeniedBy { by, why }, Some(client)) => Reply::DeniedBy { by, why: format!("{client}; {why}") },
            (reply, _) => reply,
        }
    }
}

/// What came of asking a client.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Human(Reply),
    /// No human has answered, and why: it is the client's word alone.
    Nobody(String),
}

impl Elicitation {
    async fn ask(&self, question: &Question) -> Heard {
        if !self.session.can_elicit() {
            return Heard::Nobody("the client cannot ask its user".to_owned());
        }
        let Some(message) = message(question) else {
            return Heard::Nobody(format!("the arguments are longer than the {LONGEST} bytes that a client is shown"));
        };
        let params = json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { CONFIRM: {
                    "type": "boolean", "title": "Make this call, once", "default": false,
                } },
                "required": [CONFIRM],
            },
        });
        let asked = Instant::now();
        let line = |id: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"elicitation/create\",\"params\":{params}}}")
                .into_bytes()
        };
        let Some(response) = self.client.ask(line).await else {
            return Heard::Nobody("the client is gone".to_owned());
        };
        let took = asked.elapsed();
        let said = said(&response);
        if took < self.least {
            let (took, least) = (took.as_millis(), self.least.as_millis());
            return Heard::Nobody(format!(
                "the client said `{}` after {took} ms by itself: a human takes {least} ms at least",
                said.word()
            ));
        }
        match said {
            // Who it was is the client's word: the log has the way that the answer came.
            Said::Yes => Heard::Human(Reply::ConfirmedBy(Responder::via(VIA))),
            Said::No => {
                let why = "the client's user declined".to_owned();
                Heard::Human(Reply::DeniedBy { by: Responder::via(VIA), why })
            }
            Said::Other(what) => Heard::Nobody(format!("the client gave no answer: {what}")),
        }
    }
}

/// What a client says.
enum Said {
    Yes,
    No,
    Other(String),
}

impl Said {
    fn word(&self) -> &str {
        match self {
            Self::Yes => "accept",
            Self::No => "decline",
            Self::Other(what) => what,
        }
    }
}

fn said(response: &Frame) -> Said {
    if response.kind != Kind::Result {
        return Said::Other("an error".to_owned());
    }
    // Read strictly, as the frame was: a repeated key has made it unsure.
    let body = response.body().unwrap_or_default();
    let Ok(result) = json::object(response.text(), body) else { return Said::Other("an invalid result".to_owned()) };
    let confirmed = result.get("content").and_then(|content| content.get(CONFIRM)?.as_bool());
    match (result.get("action").and_then(|action| action.as_str()), confirmed) {
        (Some("accept"), Some(true)) => Said::Yes,
        (Some("accept"), Some(false)) | (Some("decline"), _) => Said::No,
        (Some("cancel"), _) => Said::Other("`cancel`".to_owned()),
        _ => Said::Other("an invalid result".to_owned()),
    }
}

/// The question in words, with the exact arguments; none if they are too long to be read. What cannot be seen is written out.
fn message(question: &Question) -> Option<String> {
    if question.args.len() > LONGEST {
        return None;
    }
    let mut text = format!("Make this call, once?\nTool: {} ({})\nArguments: ", question.tool, question.permissions);
    for c in question.args.chars() {
        if is_unseen(c) { text.extend(c.escape_unicode()) } else { text.push(c) }
    }
    write!(text, "\nCall: {}", question.hash).ok()?;
    Some(text)
}

const CONFIRM: &str = "confirm";
const VIA: &str = "elicitation";

/// How long the arguments may be that a client is shown, in bytes.
const LONGEST: usize = 4096;
