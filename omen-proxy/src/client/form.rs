//! The form by which a client's user confirms a call, and what comes back.

use std::fmt::Write as _;
use std::time::Duration;

use omen_gate::confirm::{Question, Reply, Responder};
use omen_types::unseen::is_unseen;
use serde_json::{Map, Value, json};

/// The parameters of `elicitation/create` for a question; none if its arguments are too long to be read.
pub(crate) fn params(question: &Question) -> Option<Value> {
    Some(json!({
        "message": message(question)?,
        "requestedSchema": {
            "type": "object",
            "properties": { CONFIRM: {
                "type": "boolean", "title": "Make this call, once", "default": false,
            } },
            "required": [CONFIRM],
        },
    }))
}

/// Why a client is not asked whose user could not read the arguments.
pub(crate) fn too_long() -> Heard {
    Heard::Nobody(format!("the arguments are longer than the {LONGEST} bytes that a client is shown"))
}

/// The question in words, with the exact arguments. What cannot be seen is written out.
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

/// What a client says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Yes,
    No,
    Other(String),
}

impl Said {
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

    /// What that is worth, if it came after so long: a human takes some time.
    pub(crate) fn after(self, took: Duration, least: Duration, via: &str) -> Heard {
        if took < least {
            let (took, least, word) = (took.as_millis(), least.as_millis(), self.word());
            return Heard::Nobody(format!(
                "the client said `{word}` after {took} ms by itself: a human takes {least} ms at least"
            ));
        }
        match self {
            // Who it was is the client's word: the log has the way that the answer came.
            Self::Yes => Heard::Human(Reply::ConfirmedBy(Responder::via(via))),
            Self::No => {
                let why = "the client's user declined".to_owned();
                Heard::Human(Reply::DeniedBy { by: Responder::via(via), why })
            }
            Self::Other(what) => Heard::Nobody(format!("the client gave no answer: {what}")),
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

/// What came of asking a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Human(Reply),
    /// No human has answered, and why: it is the client's word alone.
    Nobody(String),
}

const CONFIRM: &str = "confirm";

/// How long the arguments may be that a client is shown, in bytes.
const LONGEST: usize = 4096;
