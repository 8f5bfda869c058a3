//! Random mutations of plans, compared with another parser: only plans pass.

use std::collections::BTreeSet;
use std::fmt;

use omen_gate::plan::{Plan, PlanLimits};
use omen_testkit::proofs::Proofs;
use omen_types::scalar::invisible::is_invisible;
use regex::Regex;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::random::Random;

const PLANS: [&str; 5] = [
    r#"{"type":"call_tool","server":"files","tool":"read","args":{"path":"a.txt","n":[1,2.5,-3e2],"o":{"x":null}}}"#,
    r#"{"type": "call_tool", "server": "s", "tool": "t", "args": {}}"#,
    r#"{"args":{"a":{"b":{"c":[[],{},"\u00e9\n"]}},"t":true},"tool":"écrire","type":"call_tool","server":"s-1"}"#,
    r#"{"type":"final_answer","answer":"Which \"file\"?","needs_more_info":true}"#,
    r#" {"answer":"wer?","type":"final_answer","needs_more_info":true} "#,
];

const PIECES: [&str; 26] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "-",
    "0",
    "1",
    "e9",
    ".5",
    " ",
    "\n",
    "null",
    "true",
    "```",
    "//",
    "\"type\":\"call_tool\",",
    "\"args\":{},",
    "\"a\":1,",
    "\u{feff}",
    "\\ud800",
    "\"\"",
    "9007199254740993",
];

#[test]
fn nothing_but_a_plan_gets_through() {
    let mut random = Random(0x5EED_0001);
    let oracle = Oracle::new();
    let (mut taken, mut refused) = (0_u32, 0_u32);
    let rounds = Proofs::wanted().choose(10_000, 60_000);
    for round in 0..rounds {
        let mut text = PLANS[random.below(PLANS.len())].to_owned();
        for _ in 0..random.below(3) + 1 {
            mutate(&mut text, &mut random);
        }
        let got = Plan::parse(&text, &PlanLimits::default()).ok().map(|plan| as_json(&plan));
        match oracle.judge(&text) {
            Verdict::Plan(expected) => {
                assert_eq!(got, Some(expected), "round {round}: {text:?}");
                taken += 1;
            }
            Verdict::None => {
                assert_eq!(got, None, "round {round}: {text:?}");
                refused += 1;
            }
            Verdict::NoOpinion => {}
        }
    }
    println!("{taken} mutated plans were taken, {refused} refused");
    assert!(taken > rounds / 60 && refused > rounds / 2, "the mutations do not try both: {taken}, {refused}");
}

fn mutate(text: &mut String, random: &mut Random) {
    let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let (a, b) = (bounds[random.below(bounds.len())], bounds[random.below(bounds.len())]);
    let near = bounds[bounds.partition_point(|at| *at <= a).min(bounds.len() - 1)];
    match random.below(6) {
        0 => text.insert_str(a, PIECES[random.below(PIECES.len())]),
        1 => text.replace_range(a..near, ""),
        2 => text.replace_range(a..near, PIECES[random.below(PIECES.len())]),
        3 => text.replace_range(a.min(b)..a.max(b), ""),
        4 => {
            let piece = text[a.min(b)..a.max(b)].to_owned();
            text.insert_str(a, &piece);
        }
        _ => {
            let letter = char::from(b'a' + u8::try_from(random.below(26)).unwrap());
            text.replace_range(a..near, &letter.to_string());
        }
    }
}

fn as_json(plan: &Plan) -> Value {
    match plan {
        Plan::CallTool(call) => {
            let (server, tool) = (call.tool().server.as_str(), call.tool().tool.as_str());
            serde_json::json!({"type": "call_tool", "server": server, "tool": tool, "args": call.args()})
        }
        Plan::FinalAnswer(answer) => {
            serde_json::json!({"type": "final_answer", "answer": answer.answer(), "needs_more_info": true})
        }
    }
}

enum Verdict {
    Plan(Value),
    None,
    /// A number is at the edge of what doubles carry.
    NoOpinion,
}

/// Independent parser of plans: `serde_json`'s own, with checks of repeated keys and numbers.
struct Oracle {
    string: Regex,
    number: Regex,
}

impl Oracle {
    fn new() -> Self {
        Self {
            string: Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap(),
            number: Regex::new(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").unwrap(),
        }
    }

    fn judge(&self, text: &str) -> Verdict {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = Once.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
        let Ok(Value::Object(plan)) = read else { return Verdict::None };
        if !is_plan(&plan) {
            return Verdict::None;
        }
        let bare = self.string.replace_all(text, "\"\"");
        let mut sure = true;
        for number in self.number.find_iter(&bare) {
            match is_exact(number.as_str()) {
                Some(true) => {}
                Some(false) => return Verdict::None,
                None => sure = false,
            }
        }
        if sure { Verdict::Plan(Value::Object(plan)) } else { Verdict::NoOpinion }
    }
}

fn is_plan(plan: &Map<String, Value>) -> bool {
    let keys: BTreeSet<&str> = plan.keys().map(String::as_str).collect();
    let name = |key: &str| {
        plan.get(key).and_then(Value::as_str).is_some_and(|name| {
            !name.is_empty()
                && name.chars().count() <= 128
                && !name.chars().any(|c| c.is_whitespace() || is_invisible(c))
        })
    };
    match plan.get("type").and_then(Value::as_str) {
        Some("call_tool") => {
            keys == BTreeSet::from(["type", "server", "tool", "args"])
                && name("server")
                && name("tool")
                && plan["args"].is_object()
        }
        Some("final_answer") => {
            keys == BTreeSet::from(["type", "answer", "needs_more_info"])
                && plan["answer"].as_str().is_some_and(|answer| answer.chars().any(char::is_alphanumeric))
                && plan["needs_more_info"] == true
        }
        _ => false,
    }
}

/// Up to 15 digits always survive a double.
fn is_exact(number: &str) -> Option<bool> {
    let float: f64 = number.parse().unwrap();
    let digits = number.split(['e', 'E']).next().unwrap().chars().filter(char::is_ascii_digit).count();
    if float.abs() > 9_007_199_254_740_991.0 || (float == 0.0 && number.starts_with('-')) {
        return Some(false);
    }
    (digits <= 15 && (float == 0.0 || float.abs() > 1e-300)).then_some(true)
}

/// Deserializer of any value that refuses repeated keys.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Once)? {
            items.push(item);
        }
        Ok(items.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if members.insert(key, map.next_value_seed(Once)?).is_some() {
                return Err(A::Error::custom("repeated"));
            }
        }
        Ok(members.into())
    }
}
