//! JSON tree that keeps what JSON Schema ignores: the order of members, repeated keys, and the notation of numbers.

use std::collections::HashSet;
use std::fmt;

/// A JSON value; a number is its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Child indices, from the root down.
pub(super) type Path = Vec<usize>;

impl Json {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Json::String(text.into())
    }

    pub(super) fn number(number: impl fmt::Display) -> Self {
        Json::Number(number.to_string())
    }

    pub(super) fn members(&mut self) -> Option<&mut Vec<(String, Json)>> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.members()?.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(super) fn at(&mut self, path: &[usize]) -> Option<&mut Json> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match self {
            Json::Array(elements) => elements.get_mut(*first)?.at(rest),
            Json::Object(members) => members.get_mut(*first)?.1.at(rest),
            _ => None,
        }
    }

    /// Removes the value at a path.
    pub(super) fn remove(&mut self, path: &[usize]) {
        let Some((last, parents)) = path.split_last() else { return };
        match self.at(parents) {
            Some(Json::Array(elements)) if *last < elements.len() => drop(elements.remove(*last)),
            Some(Json::Object(members)) if *last < members.len() => drop(members.remove(*last)),
            _ => {}
        }
    }

    /// Returns the paths of all matching values, parents before children.
    pub(super) fn paths(&self, is: impl Fn(&Json) -> bool) -> Vec<Path> {
        let mut found = Vec::new();
        self.visit(&mut Vec::new(), &mut |value, path| {
            if is(value) {
                found.push(path.to_vec());
            }
        });
        found
    }

    fn visit(&self, path: &mut Path, see: &mut impl FnMut(&Json, &[usize])) {
        see(self, path);
        let mut child = |(index, value): (usize, &Json)| {
            path.push(index);
            value.visit(path, see);
            path.pop();
        };
        match self {
            Json::Array(elements) => elements.iter().enumerate().for_each(&mut child),
            Json::Object(members) => members.iter().map(|(_, value)| value).enumerate().for_each(&mut child),
            _ => {}
        }
    }

    /// Returns whether an object in the value repeats a key.
    pub(super) fn repeats_a_key(&self) -> bool {
        match self {
            Json::Array(elements) => elements.iter().any(Json::repeats_a_key),
            Json::Object(members) => {
                let mut seen = HashSet::new();
                members.iter().any(|(key, value)| !seen.insert(key) || value.repeats_a_key())
            }
            _ => false,
        }
    }

    /// Writes the value; with `rng`, redundant escapes and white space are added.
    pub(super) fn write(&self, rng: &mut Option<fastrand::Rng>) -> String {
        let mut out = String::new();
        self.write_to(&mut out, rng);
        out
    }

    fn write_to(&self, out: &mut String, rng: &mut Option<fastrand::Rng>) {
        space(out, rng);
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => string(out, text, rng),
            Json::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write_to(out, rng);
                }
                space(out, rng);
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    space(out, rng);
                    string(out, key, rng);
                    space(out, rng);
                    out.push(':');
                    value.write_to(out, rng);
                }
                space(out, rng);
                out.push('}');
            }
        }
        space(out, rng);
    }
}

fn space(out: &mut String, rng: &mut Option<fastrand::Rng>) {
    if let Some(rng) = rng
        && rng.u8(..4) == 0
    {
        out.push_str(rng.choice(&[" ", "\t", "\n", "\r\n"]).unwrap_or(&" "));
    }
}

fn string(out: &mut String, text: &str, rng: &mut Option<fastrand::Rng>) {
    out.push('"');
    for c in text.chars() {
        if rng.as_mut().is_some_and(|rng| rng.u8(..8) == 0) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
            continue;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
