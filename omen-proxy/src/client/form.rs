//! Form with which a client's user confirms a call, and the client's response.

use std::fmt::Write as _;
use std::time::Duration;

use omen_gate::confirm::{Question, Reply, Responder};
use omen_types::scalar::invisible::is_invisible;
use serde_json::{Map, Value, json};

/// Returns the parameters of `elicitation/create` for a question; `None` if its arguments are too long to be read.
pub(crate) fn params(question: &Question) -> Option<Value> {
    Some(json!({
        "message": message(question)?,
        "requestedSchema": {
            "type": "object",
            "properties": { CONFIRM: {
                "type": "boolean", "title": "Allow this call, once", "default": false,
            } },
            "required": [CONFIRM],
        },
    }))
}

/// Returns the reason why a client is not asked if its user could not read the arguments.
pub(crate) fn too_long() -> ClientAnswer {
    ClientAnswer::Nobody(format!("the arguments exceed the {LONGEST} bytes that a client can be shown"))
}

/// Returns the question as text, with the exact arguments. Invisible characters are written out.
fn message(question: &Question) -> Option<String> {
    if question.args.len() > LONGEST {
        return None;
    }
    let mut text = format!("Allow this call, once?\nTool: {} ({})\nArguments: ", question.tool, question.permissions);
    for c in question.args.chars() {
        if is_invisible(c) { text.extend(c.escape_unicode()) } else { text.push(c) }
    }
    write!(text, "\nCall: {}", question.hash).ok()?;
    Some(text)
}

/// Response of a client to the form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FormResponse {
    Yes,
    No,
    Other(String),
}

impl FormResponse {
    /// Reads the result of `elicitation/create`.
    pub(crate) fn read(result: &Map<String, Value>) -> Self {
        let confirmed = result.get("content").and_then(|content| content.get(CONFIRM)?.as_bool());
        match (result.get("action").and_then(Value::as_str), confirmed) {
            (Some("accept"), Some(true)) => Self::Yes,
            (Some("accept"), Some(false)) | (Some("decline"), _) => Self::No,
            (Some("cancel"), _) => Self::Other("`cancel`".to_owned()),
            _ => Self::Other("an invalid result".to_owned()),
        }
    }

    /// Returns what the response counts as, given the time it took: a human takes some time.
    pub(crate) fn after(self, took: Duration, least: Duration, via: &str) -> ClientAnswer {
        if took < least {
            let (took, least, word) = (took.as_millis(), least.as_millis(), self.word());
            return ClientAnswer::Nobody(format!(
                "the client said `{word}` after {took} ms by itself: a human takes at least {least} ms"
            ));
        }
        match self {
            // The client's user is known only from the client, so the log records just the channel of the answer.
            Self::Yes => ClientAnswer::Human(Reply::ConfirmedBy(Responder::via(via))),
            Self::No => {
                let why = "the client's user declined".to_owned();
                ClientAnswer::Human(Reply::DeniedBy { by: Responder::via(via), why })
            }
            Self::Other(what) => ClientAnswer::Nobody(format!("the client gave no answer: {what}")),
        }
    }

    fn word(&self) -> &str {
        match self {
            Self::Yes => "accept",
            Self::No => "decline",
            Self::Other(what) => what,
        }
    }
}

/// Answer of a client's user to a question, if there is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientAnswer {
    Human(Reply),
    /// No human has answered. Holds the reason, which is known only from the client.
    Nobody(String),
}

const CONFIRM: &str = "confirm";

/// Maximum length of the arguments shown to a client, in bytes.
const LONGEST: usize = 4096;
