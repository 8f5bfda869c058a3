//! Answers from humans, given through the same channels as confirmations of calls.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use omen_base::Mutex;
use omen_gate::TurnId;
use omen_gate::confirm::{Confirmer, Question, Reply, Responder};
use serde_json::{Map, Value, json};

/// Answer of a human to a question about a call or an escalation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HumanAnswer {
    pub(super) yes: bool,
    by: Option<Responder>,
    pub(super) why: Option<String>,
}

impl HumanAnswer {
    /// Returns the answer in a reply if it is a human's. A confirmer that cannot say who denied may not have asked anyone.
    pub(super) fn from_reply(reply: &Reply) -> Option<Self> {
        match reply {
            Reply::Confirmed => Some(Self { yes: true, by: None, why: None }),
            Reply::ConfirmedBy(by) => Some(Self { yes: true, by: Some(by.clone()), why: None }),
            Reply::DeniedBy { by, why } => Some(Self { yes: false, by: Some(by.clone()), why: Some(why.clone()) }),
            Reply::Denied { .. } => None,
        }
    }

    /// Returns the answer as the data of an observation.
    pub(super) fn data(&self, to: &str, asked: Value) -> Map<String, Value> {
        let data = json!({
            "answer": if self.yes { "yes" } else { "no" }, "by": self.by, "to": to, "asked": asked, "why": self.why,
        });
        match data {
            Value::Object(data) => data,
            _ => Map::new(),
        }
    }

    pub(super) fn via(&self) -> &str {
        self.by.as_ref().map_or("a confirmer", |by| by.via.as_str())
    }
}

/// Why a call is granted, as its token says.
pub(super) fn rationale(heard: Option<&HumanAnswer>) -> String {
    match heard {
        Some(heard) => format!("granted by the operator's configuration, confirmed via {}", heard.via()),
        None => "granted by the operator's configuration".to_owned(),
    }
}

/// Answers of humans to questions about calls, by their turns, until they are taken.
#[derive(Clone, Debug, Default)]
pub struct Answers(Arc<Mutex<BTreeMap<TurnId, HumanAnswer>>>);

impl Answers {
    /// Confirmer whose answers are noted here.
    #[must_use]
    pub fn witness(&self, then: Arc<dyn Confirmer>) -> Witness {
        Witness { then, answers: self.clone() }
    }

    fn note(&self, turn: &TurnId, heard: HumanAnswer) {
        let mut answers = self.0.lock();
        // A turn is a single call, and its answer is taken at once; the others were given up in the meantime.
        if answers.len() >= MOST {
            answers.clear();
        }
        answers.insert(turn.clone(), heard);
    }

    pub(super) fn take(&self, turn: &TurnId) -> Option<HumanAnswer> {
        self.0.lock().remove(turn)
    }
}

/// Confirmer whose answers are noted.
#[derive(Debug)]
pub struct Witness {
    then: Arc<dyn Confirmer>,
    answers: Answers,
}

#[async_trait]
impl Confirmer for Witness {
    async fn confirm(&self, question: &Question) -> Reply {
        let reply = self.then.confirm(question).await;
        if let Some(heard) = HumanAnswer::from_reply(&reply) {
            self.answers.note(&question.turn, heard);
        }
        reply
    }
}

/// As many answers as calls can be judged at once.
const MOST: usize = 1024;
