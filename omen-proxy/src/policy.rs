//! What is not a call of a tool and could act, or make somebody act: which of it passes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use omen_gate::{Blocked, GateCode};
use serde_json::{Map, Value};

/// What passes only if the operator lets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Passage {
    /// A server has the client's model write something (`sampling/createMessage`).
    Sampling,
    /// A server asks the user for something that looks like a secret (`elicitation/create`).
    Secrets,
    /// A server has the user open an address (`elicitation/create` in URL mode).
    Urls,
    /// A client has the server report changes of resources (`resources/subscribe`, `subscriptions/listen`).
    Subscriptions,
    /// A server asks which folders its client works in (`roots/list`), and may take them in place of those that the operator gave it.
    Roots,
    /// A call is to run as a task, whose result is fetched later and is not judged (`task` of `tools/call`).
    Tasks,
}

impl Passage {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Sampling, Self::Secrets, Self::Urls, Self::Subscriptions, Self::Roots, Self::Tasks];

    /// The name by which an operator lets it pass, such as `sampling`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Secrets => "secrets",
            Self::Urls => "urls",
            Self::Subscriptions => "subscriptions",
            Self::Roots => "roots",
            Self::Tasks => "tasks",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Sampling => "the server asks for the client's model (`sampling/createMessage`)",
            Self::Secrets => "the server asks the user for a secret (`elicitation/create`)",
            Self::Urls => "the server asks the user to open an address (`elicitation/create`)",
            Self::Subscriptions => "the client subscribes to changes of resources",
            Self::Roots => "the server asks for the folders of its client (`roots/list`)",
            Self::Tasks => "the call asks to run as a task, whose result would not be judged",
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An unknown name of a [`Passage`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value `{0}`; expected one of `sampling`, `secrets`, `urls`, `subscriptions`, `roots`, `tasks`")]
pub struct UnknownPassage(String);

impl FromStr for Passage {
    type Err = UnknownPassage;

    fn from_str(text: &str) -> Result<Self, UnknownPassage> {
        let found = Self::ALL.into_iter().find(|passage| passage.as_str() == text);
        found.ok_or_else(|| UnknownPassage(omen_gate::bounded(text)))
    }
}

/// What the operator lets pass. By default none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages(BTreeSet<Passage>);

impl FromIterator<Passage> for Passages {
    fn from_iter<I: IntoIterator<Item = Passage>>(passages: I) -> Self {
        Self(passages.into_iter().collect())
    }
}

impl Passages {
    /// Lets pass what asks for something, or says why not.
    pub(crate) fn judge(&self, asked: Asked) -> Result<(), Blocked> {
        let unread = |why: String| {
            let message = format!("the message cannot be judged: {}", omen_gate::bounded(&why));
            Blocked::new(GateCode::R3, message, "write it so that every reader reads the same")
                .unquoted_as("the message cannot be judged")
        };
        self.check(asked.map_err(unread)?)
    }

    /// Lets it pass, or says why not.
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

/// What a request is that a server has for its client: its own (`sampling/createMessage` …), or one that stands in a result
/// (`inputRequests`). Its parameters are read only where they matter.
pub(crate) fn of_server(method: &str, params: impl FnOnce() -> Result<Map<String, Value>, String>) -> Asked {
    match letters(method).as_str() {
        "samplingcreatemessage" => Ok(Some(Passage::Sampling)),
        "rootslist" => Ok(Some(Passage::Roots)),
        "elicitationcreate" => {
            let params = params()?;
            let is = |key: &str, name: &str| omen_mcp::json::same_folded(key, name);
            let opens = |(key, value): (&String, &Value)| is(key, "url") || is(key, "mode") && value != "form";
            if params.iter().any(opens) {
                return Ok(Some(Passage::Urls));
            }
            Ok(params.values().any(mentions_a_secret).then_some(Passage::Secrets))
        }
        _ => Ok(None),
    }
}

/// What a request of the client is, other than `tools/…`.
pub(crate) fn of_client(method: &str, params: impl FnOnce() -> Result<Map<String, Value>, String>) -> Asked {
    match letters(method).as_str() {
        "resourcessubscribe" => Ok(Some(Passage::Subscriptions)),
        "subscriptionslisten" => Ok(params()?.values().any(listens_to_resources).then_some(Passage::Subscriptions)),
        _ => Ok(None),
    }
}

/// What a request needs to pass, if it needs anything; or why its parameters cannot be read.
pub(crate) type Asked = Result<Option<Passage>, String>;

/// Whether a method is one of tools that this program does not know, or one that a lenient peer could take for one.
pub(crate) fn is_unknown_of_tools(method: &str) -> bool {
    letters(method).starts_with("tool")
}

/// A name as a lenient peer could read it.
fn letters(name: &str) -> String {
    omen_mcp::json::folded(name).filter(|c| c.is_alphanumeric()).collect()
}

/// What is asked for in `inputRequests` of a result (2026-07-28): requests by their names.
pub(crate) fn of_input_requests(requests: &Value) -> Result<Vec<Option<Passage>>, String> {
    let Value::Object(requests) = requests else { return Err("expected an object for `inputRequests`".to_owned()) };
    let each = requests.values().map(|request| {
        let method =
            request.get("method").and_then(Value::as_str).ok_or("missing field `method` in `inputRequests`")?;
        of_server(method, || match request.get("params") {
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
            let name = letters(name);
            name.starts_with("resource") && !name.ends_with("listchanged") && asks || listens_to_resources(value)
        }),
        _ => false,
    }
}

/// Looks for the words in every text and name, without regard to case and to what stands between letters.
fn mentions_a_secret(value: &Value) -> bool {
    let mentions = |text: &str| {
        let letters = letters(text);
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

    use super::{Passage, Passages, is_unknown_of_tools, of_client, of_input_requests, of_server};

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
            let asked = of_server(method, || Ok(object(params.clone())));
            assert_eq!(asked, Ok(passage), "{method} {params}");
        }
        assert_eq!(of_client("resources/subscribe", || Ok(Map::new())), Ok(Some(Passage::Subscriptions)));
        let listen = |filter| of_client("subscriptions/listen", || Ok(object(json!({"notifications": filter}))));
        assert_eq!(listen(json!({"toolsListChanged": true, "resourcesListChanged": true})), Ok(None));
        assert_eq!(listen(json!({"resourceSubscriptions": ["file:///a"]})), Ok(Some(Passage::Subscriptions)));
        assert!(of_client("subscriptions/listen", || Err("unreadable".to_owned())).is_err());
        assert_eq!(of_client("resources/read", || Err("not read".to_owned())), Ok(None));
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

    #[test]
    fn methods_that_look_like_those_of_tools_are_found() {
        for method in
            ["Tools/call", "tools/call ", "tools//call", "/tools/call", "toolſ/call", "tools.call", "tools/run"]
        {
            assert!(is_unknown_of_tools(method), "{method}");
        }
        assert!(!is_unknown_of_tools("resources/read"));
    }
}
