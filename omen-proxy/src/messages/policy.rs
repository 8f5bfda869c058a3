//! Policy on messages that are not tool calls but could act, or cause someone to act.

use std::collections::BTreeSet;

use omen_gate::{Blocked, GateCode};
use serde_json::{Map, Value};

use super::methods::{self, Needs, Side, letters};
use super::passage::Passage;
use omen_mcp::frame::Frame;

/// Messages that the operator allows to pass. By default none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passages(BTreeSet<Passage>);

impl FromIterator<Passage> for Passages {
    fn from_iter<I: IntoIterator<Item = Passage>>(passages: I) -> Self {
        Self(passages.into_iter().collect())
    }
}

impl Passages {
    /// Checks whether a request that is not judged as a call may pass.
    pub(crate) fn request(&self, method: &str, from: Side, frame: &Frame) -> Result<(), Blocked> {
        let params = || frame.body().map_or(Ok(Map::new()), |body| omen_mcp::json::object(frame.text(), body));
        self.judge(needed(method, from, params))
    }

    /// Checks whether a result that requests something from the client may pass.
    pub(crate) fn input_requests(&self, requests: &Value) -> Result<(), Blocked> {
        match of_input_requests(requests) {
            Ok(needed) => needed.into_iter().try_for_each(|passage| self.check(passage)),
            Err(why) => self.judge(Err(why)),
        }
    }

    /// Checks whether a message that requests something may pass.
    fn judge(&self, needed: PassageCheck) -> Result<(), Blocked> {
        let unread = |why: String| {
            let message = format!("the message cannot be judged: {}", omen_gate::bounded(&why));
            Blocked::new(GateCode::R3, message, "write it so that every reader interprets it in the same way")
                .unquoted_as("the message cannot be judged")
        };
        self.check(needed.map_err(unread)?)
    }

    /// Checks whether a kind of message may pass.
    pub(crate) fn check(&self, passage: Option<Passage>) -> Result<(), Blocked> {
        match passage {
            Some(passage) if !self.0.contains(&passage) => {
                let message = format!("{}, which the operator does not allow", passage.what());
                let help = format!("ask the operator to start the proxy with `--pass {passage}`");
                Err(Blocked::new(GateCode::Pg3, message, help))
            }
            _ => Ok(()),
        }
    }
}

/// Returns what a request needs to pass, unless the gate judges it. The request may have been sent, or be part of a
/// result (`inputRequests`). Its parameters are read only if they matter.
pub(crate) fn needed(
    method: &str,
    from: Side,
    params: impl FnOnce() -> Result<Map<String, Value>, String>,
) -> PassageCheck {
    match methods::needs(method, from) {
        Needs::Nothing => Ok(None),
        Needs::One(passage) => Ok(Some(passage)),
        Needs::OfSubscription => Ok(params()?.values().any(listens_to_resources).then_some(Passage::Subscriptions)),
        Needs::OfElicitation => {
            let params = params()?;
            let is = |key: &str, name: &str| omen_mcp::json::same_folded(key, name);
            let opens = |(key, value): (&String, &Value)| is(key, "url") || is(key, "mode") && value != "form";
            if params.iter().any(opens) {
                return Ok(Some(Passage::Urls));
            }
            Ok(params.values().any(mentions_a_secret).then_some(Passage::Secrets))
        }
    }
}

/// What a request needs to pass, if anything, or the reason why its parameters cannot be read.
pub(crate) type PassageCheck = Result<Option<Passage>, String>;

/// Returns what the `inputRequests` of a result (2026-07-28) need to pass; they are requests by name.
fn of_input_requests(requests: &Value) -> Result<Vec<Option<Passage>>, String> {
    let Value::Object(requests) = requests else { return Err("expected an object for `inputRequests`".to_owned()) };
    let each = requests.values().map(|request| {
        let method =
            request.get("method").and_then(Value::as_str).ok_or("missing field `method` in `inputRequests`")?;
        needed(method, Side::Server, || match request.get("params") {
            None => Ok(Map::new()),
            Some(Value::Object(params)) => Ok(params.clone()),
            Some(_) => Err("expected an object for `params` in `inputRequests`".to_owned()),
        })
    });
    each.collect()
}

fn listens_to_resources(filter: &Value) -> bool {
    match filter {
        Value::Object(members) => members.iter().any(|(name, value)| {
            let asks = !matches!(value, Value::Null | Value::Bool(false)) && value != &Value::Array(Vec::new());
            let name: String = letters(name).collect();
            name.starts_with("resource") && !name.ends_with("listchanged") && asks || listens_to_resources(value)
        }),
        _ => false,
    }
}

/// Searches every text and name for the words, ignoring case and characters between letters.
fn mentions_a_secret(value: &Value) -> bool {
    let mentions = |text: &str| {
        let letters: String = letters(text).collect();
        SECRETS.iter().any(|secret| letters.contains(secret))
    };
    match value {
        Value::String(text) => mentions(text),
        Value::Array(items) => items.iter().any(mentions_a_secret),
        Value::Object(members) => members.iter().any(|(name, value)| mentions(name) || mentions_a_secret(value)),
        _ => false,
    }
}

const SECRETS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "token",
    "creditcard",
    "cardnumber",
    "cvv",
    "onetimecode",
];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Map, Value, json};

    use super::super::methods::Side;
    use super::{Passage, Passages, needed, of_input_requests};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_could_act_is_named_and_refused_by_default() {
        let form = |name: &str| json!({"message": "?", "requestedSchema": {"properties": {name: {"type": "string"}}}});
        for (method, params, passage) in [
            ("sampling/createMessage", json!({}), Some(Passage::Sampling)),
            ("elicitation/create", form("city"), None),
            ("elicitation/create", form("API-Key"), Some(Passage::Secrets)),
            ("elicitation/create", json!({"message": "Your PassWord, please"}), Some(Passage::Secrets)),
            ("elicitation/create", json!({"mode": "url", "url": "https://example.com"}), Some(Passage::Urls)),
            ("elicitation/create", json!({"url": "https://example.com"}), Some(Passage::Urls)),
            ("elicitation/create", json!({"mode": "other"}), Some(Passage::Urls)),
            ("Elicitation/Create", json!({"Mode": "url"}), Some(Passage::Urls)),
            ("sampling/CreateMessage ", json!({}), Some(Passage::Sampling)),
            ("roots/list", json!({}), Some(Passage::Roots)),
            ("ping", json!({}), None),
        ] {
            let asked = needed(method, Side::Server, || Ok(object(params.clone())));
            assert_eq!(asked, Ok(passage), "{method} {params}");
        }
        assert_eq!(needed("resources/subscribe", Side::Client, || Ok(Map::new())), Ok(Some(Passage::Subscriptions)));
        let listen =
            |filter| needed("subscriptions/listen", Side::Client, || Ok(object(json!({"notifications": filter}))));
        assert_eq!(listen(json!({"toolsListChanged": true, "resourcesListChanged": true})), Ok(None));
        assert_eq!(listen(json!({"resourceSubscriptions": ["file:///a"]})), Ok(Some(Passage::Subscriptions)));
        assert!(needed("subscriptions/listen", Side::Client, || Err("unreadable".to_owned())).is_err());
        assert_eq!(needed("resources/read", Side::Client, || Err("not read".to_owned())), Ok(None));
        for passage in Passage::ALL {
            assert!(Passages::default().check(Some(passage)).is_err());
            assert!(Passages::from_iter([passage]).check(Some(passage)).is_ok());
            assert_eq!(passage.as_str().parse(), Ok(passage));
        }
        assert!("Sampling".parse::<Passage>().is_err());
    }

    #[test]
    fn requests_in_a_result_are_judged_as_those_that_are_sent() {
        let requests = json!({"a": {"method": "sampling/createMessage", "params": {}}, "b": {"method": "roots/list"}});
        assert_eq!(of_input_requests(&requests), Ok(vec![Some(Passage::Sampling), Some(Passage::Roots)]));
        for unclear in [json!([]), json!({"a": {}}), json!({"a": {"method": "elicitation/create", "params": []}})] {
            assert!(of_input_requests(&unclear).is_err(), "{unclear}");
        }
    }
}
