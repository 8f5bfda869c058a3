//! PG-0 for an episode: screening of its user inputs (D68).

use std::sync::Arc;

use omen_fsm::episode::UserInput;
use omen_types::{ObservationPayload, PacketId};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::base::{Blocked, GateCode};
use crate::config::Policy;
use omen_base::canonical::canonical_object;

/// Screens the user inputs on which a directive depends, as a query is screened. Without patterns, everything passes.
///
/// Each pattern is searched for in every name and value of every input; in all values joined, with and without the
/// names, so that text cannot be hidden by spreading it over members or observations; and in the JSON of each input.
///
/// # Errors
/// PG-0 if a pattern matches, if the inputs are too long or incomplete, or if there are none.
pub(crate) fn screen(policy: &Policy, inputs: &[Arc<UserInput>]) -> Result<(), Blocked> {
    if !policy.has_patterns() {
        return Ok(());
    }
    let (mut all, mut said) = (Texts::default(), false);
    let mut json = Vec::new();
    for input in inputs {
        let Some(payload) = input.payload() else { return Err(not_whole(input.packet_id())) };
        said |= payload.data.values().any(says);
        all.payload(payload);
        json.push(Value::Object(payload.data.clone()).to_string());
    }
    if !said {
        let message = "there is no user input for the policy to screen since the last decision";
        let help = "observe what the user asks for before the decision: `Observation::user_input(..)`";
        return Err(Blocked::new(GateCode::Pg0, message, help));
    }
    let together = [all.texts.join(" "), all.values.join(" ")];
    policy.within(together.iter().map(String::len).max().unwrap_or_default())?;
    policy.allows(all.texts.iter().chain(&json).chain(&together).map(String::as_str))
}

fn not_whole(input: &PacketId) -> Blocked {
    let message = format!("the user input `{input}` is too long to be screened as a whole");
    Blocked::new(GateCode::Pg0, message, "shorten the query, and refer to large data instead of including it")
}

/// Returns whether a value has content. A value blanked out before logging has none.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(values) => values.iter().any(says),
        Value::Object(members) => members.values().any(says),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Texts of the inputs, in the order of the log.
#[derive(Default)]
struct Texts {
    /// Member names and values.
    texts: Vec<String>,
    /// Values only.
    values: Vec<String>,
}

impl Texts {
    fn payload(&mut self, payload: &ObservationPayload) {
        let maps = [Some(&payload.data), payload.query_params.as_ref()];
        maps.into_iter().flatten().for_each(|map| self.members(map));
        payload.source_tool.iter().for_each(|tool| self.text(tool.clone()));
    }

    /// Adds the texts of an object. Recursion is bounded, because packets are nested at most 64 levels deep.
    fn members(&mut self, map: &Map<String, Value>) {
        for (name, value) in map {
            self.texts.push(name.clone());
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => self.text(value.to_string()),
            Value::String(text) => self.text(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(map) => self.members(map),
        }
    }

    fn text(&mut self, text: String) {
        self.values.push(text.clone());
        self.texts.push(text);
    }
}

/// Returns the audit data of a query: its SHA-256, which links an input to its outcome (A2).
pub(crate) fn query(text: &str) -> Map<String, Value> {
    Map::from_iter([("query".to_owned(), hash(text.as_bytes()).into())])
}

/// Returns the audit data of an episode's user inputs: the packet id of each, with the SHA-256 of its `data` in
/// canonical form (RFC 8785). A hash that cannot be computed is `null`.
pub(crate) fn inputs(inputs: &[Arc<UserInput>]) -> Map<String, Value> {
    let one = |input: &Arc<UserInput>| {
        let data = input.payload().and_then(|payload| canonical_object(&payload.data).ok());
        json!({ "packet_id": input.packet_id(), "data": data.map(|data| hash(&data)) })
    };
    let left_out = inputs.len().saturating_sub(MOST_INPUTS);
    let listed: Vec<_> = inputs.iter().skip(left_out).map(one).collect();
    let mut noted = Map::from_iter([("inputs".to_owned(), listed.into())]);
    if left_out > 0 {
        noted.insert("inputs_left_out".to_owned(), left_out.into());
    }
    noted
}

fn hash(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// Number of inputs in one entry, which keeps an entry within the limit.
const MOST_INPUTS: usize = 32;
