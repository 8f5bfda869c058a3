//! One small change to a packet.

use std::fmt;

use fastrand::Rng;

use super::json::{Json, Path};
use super::schemas::Schemas;
use super::values;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal),* $(,)?) => {
        /// Kind of change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $kind),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];
        }

        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Kind::$kind => $name),* })
            }
        }
    };
}

kinds! {
    /// A member is dropped.
    Drop "member dropped",
    /// A member of another object, or an unknown one, is added.
    Add "member added",
    /// A member's name gets a typo.
    Rename "member renamed",
    /// A value becomes `null`.
    Null "null",
    /// A value gets another JSON type.
    Retype "type changed",
    /// A value of an enumeration becomes another value, one of another enumeration, or a typo.
    Value "enum value",
    /// A number moves to a bound, or changes its notation.
    Number "number",
    /// A string moves to a bound.
    Text "string",
    /// A timestamp moves to a bound.
    Timestamp "timestamp",
    /// An array gains or loses elements.
    Array "array length",
    /// The payload becomes that of another packet.
    Payload "payload swapped",
    /// The packet type becomes another.
    PacketType "packet type",
    /// The members of an object, or of all objects, are reordered.
    Shuffle "members shuffled",
    /// An object becomes the array of its values.
    Sequence "array for object",
    /// A value becomes a nested free-form one.
    Free "free-form value",
    /// A value becomes one from elsewhere in the packet.
    Graft "value from elsewhere",
    /// A member is added whose name begins with `_`, or nearly so.
    Metadata "metadata",
    /// A member is repeated (D42).
    Repeat "key repeated",
    /// A value nests up to the limit, or beyond.
    Deep "deep nesting",
    /// The same values with needless escapes and white space.
    Spelling "odd spelling",
    /// The text becomes invalid JSON, or ends in white space.
    Syntax "syntax",
    /// White space is added, where it is allowed or not.
    Space "white space",
    /// Characters of keys or values are written as escapes.
    Escape "escapes",
    /// A string gets an escape at the limit of validity.
    BadEscape "escape at the edge",
    /// A number gets another notation.
    Notation "notation of a number",
    /// A key is repeated, mostly with escapes (D42).
    Repeated "key repeated, escaped",
    /// A control character or a rare one is inserted.
    Control "control character",
    /// A string grows to the edges of blocks that are read in one step.
    Block "length of a string",
    /// A brace, a bracket, a comma, a colon, a quote or a word is dropped, doubled or replaced.
    Mark "punctuation",
    /// A value is replaced by brackets around the limit of nesting, which may not match.
    Levels "brackets",
    /// Text is added before or after the packet.
    Ends "before or after",
    /// The text is cut off.
    Cut "cut off",
}

/// Source of values for mutations.
pub(super) struct Pool<'s> {
    pub(super) schemas: &'s Schemas,
    /// Valid packets generated from the schemas.
    pub(super) samples: &'s [Json],
    /// Valid packets of the examples.
    pub(super) examples: &'s [Json],
}

impl Pool<'_> {
    /// Returns a valid packet. There are many examples, but only samples have every member.
    pub(super) fn packet(&self, rng: &mut Rng) -> Option<&Json> {
        let packets = if rng.bool() || self.examples.is_empty() { self.samples } else { self.examples };
        rng.choice(packets)
    }

    /// Changes a packet. Returns `false` if this kind of change does not apply to it.
    pub(super) fn apply(&self, kind: Kind, tree: &mut Json, rng: &mut Rng) -> bool {
        self.change(kind, tree, rng).is_some()
    }

    fn change(&self, kind: Kind, tree: &mut Json, rng: &mut Rng) -> Option<()> {
        match kind {
            Kind::Drop => {
                let members = full_object(tree, rng)?;
                members.remove(rng.usize(..members.len()));
            }
            Kind::Add => {
                let name = match rng.u8(..3) {
                    0 => "zzz".to_owned(),
                    _ => rng.choice(&self.schemas.members)?.clone(),
                };
                let value = values::free(rng, 1);
                let members = any(tree, rng, is_object)?.members()?;
                members.insert(rng.usize(..=members.len()), (name, value));
            }
            Kind::Rename => {
                let members = full_object(tree, rng)?;
                let at = rng.usize(..members.len());
                let (name, _) = members.get_mut(at)?;
                *name = values::typo(rng, name);
            }
            Kind::Null => *any(tree, rng, |value| *value != Json::Null)? = Json::Null,
            Kind::Retype => {
                let value = any(tree, rng, |_| true)?;
                *value = retyped(value, rng);
            }
            Kind::Value => {
                let has = |values: &[String], text: &str| values.iter().any(|value| value == text);
                let enums = &self.schemas.enums;
                let known = |text: &str| enums.iter().any(|values| has(values, text));
                let value = any(tree, rng, |value| matches!(value, Json::String(text) if known(text)))?;
                let Json::String(text) = value else { return None };
                *text = match rng.u8(..4) {
                    0 => values::typo(rng, text),
                    1 => {
                        let other = rng.choice(&self.schemas.enums)?;
                        rng.choice(other)?.clone()
                    }
                    _ => {
                        let same = rng.choice(enums.iter().filter(|values| has(values, text)).collect::<Vec<_>>())?;
                        rng.choice(same)?.clone()
                    }
                };
            }
            Kind::Number => {
                let value = any(tree, rng, |value| matches!(value, Json::Number(_)))?;
                *value = Json::number(rng.choice(values::NUMBERS)?);
            }
            Kind::Text => {
                let value = any(tree, rng, |value| matches!(value, Json::String(_)))?;
                let Json::String(text) = value else { return None };
                *text = values::text(rng, text);
            }
            Kind::Timestamp => {
                let value = any(tree, rng, |value| matches!(value, Json::String(text) if text.starts_with("20")))?;
                let Json::String(text) = value else { return None };
                *text = values::timestamp(rng, text);
            }
            Kind::Array => {
                let Json::Array(elements) = any(tree, rng, |value| matches!(value, Json::Array(_)))? else {
                    return None;
                };
                match (rng.u8(..4), elements.first().cloned()) {
                    (0, Some(_)) => drop(elements.remove(rng.usize(..elements.len()))),
                    (1, _) => elements.clear(),
                    (2, Some(first)) => elements.resize(rng.usize(..8), first),
                    (_, Some(first)) => elements.push(first),
                    (_, None) => elements.push(values::free(rng, 1)),
                }
            }
            Kind::Payload => {
                let payload = self.packet(rng)?.get("payload")?.clone();
                *tree.get_mut("payload")? = payload;
            }
            Kind::PacketType => {
                let (name, _) = rng.choice(&self.schemas.roots)?;
                *tree.get_mut("header")?.get_mut("packet_type")? = Json::text(name);
            }
            Kind::Shuffle => {
                if rng.bool() {
                    let members = full_object(tree, rng)?;
                    rng.shuffle(members);
                } else {
                    for path in tree.paths(is_object) {
                        rng.shuffle(tree.at(&path)?.members()?);
                    }
                }
            }
            Kind::Sequence => {
                let value = any(tree, rng, is_object)?;
                let values = value.members()?.drain(..).map(|(_, value)| value).collect();
                *value = Json::Array(values);
            }
            Kind::Free => *any(tree, rng, |_| true)? = values::free(rng, 3),
            Kind::Graft => {
                let value = any(tree, rng, |_| true)?.clone();
                *any(tree, rng, |_| true)? = value;
            }
            Kind::Metadata => {
                let name = *rng.choice(&[
                    "_x",
                    "_",
                    "__",
                    "_\u{e4}",
                    "x_",
                    "X_meta",
                    "\u{ff3f}x",
                    " _x",
                    "_header",
                    "-x",
                    "",
                ])?;
                let value = values::free(rng, 3);
                let members = if rng.u8(..4) == 0 { any(tree, rng, is_object)?.members()? } else { tree.members()? };
                members.insert(rng.usize(..=members.len()), (name.to_owned(), value));
            }
            Kind::Repeat => {
                // The top level also has metadata, which each reader stores differently.
                let members = if rng.u8(..4) == 0 { tree.members()? } else { full_object(tree, rng)? };
                if members.is_empty() {
                    return None;
                }
                let (name, mut value) = members.get(rng.usize(..members.len()))?.clone();
                if rng.bool() {
                    value = values::free(rng, 1);
                }
                members.insert(rng.usize(..=members.len()), (name, value));
            }
            Kind::Deep => {
                let path = if rng.bool() { roomy(tree, rng)? } else { rng.choice(tree.paths(|_| true))? };
                let levels = (64 + rng.usize(..5)).saturating_sub(path.len() + rng.usize(..5));
                *tree.at(&path)? = values::nest(rng, levels);
            }
            // The other kinds change the text rather than the tree.
            Kind::Spelling
            | Kind::Syntax
            | Kind::Space
            | Kind::Escape
            | Kind::BadEscape
            | Kind::Notation
            | Kind::Repeated
            | Kind::Control
            | Kind::Block
            | Kind::Mark
            | Kind::Levels
            | Kind::Ends
            | Kind::Cut => {}
        }
        Some(())
    }
}

fn is_object(value: &Json) -> bool {
    matches!(value, Json::Object(_))
}

/// Returns a random value of a kind.
fn any<'t>(tree: &'t mut Json, rng: &mut Rng, is: impl Fn(&Json) -> bool) -> Option<&'t mut Json> {
    let path = rng.choice(tree.paths(is))?;
    tree.at(&path)
}

/// Returns the members of a random non-empty object.
fn full_object<'t>(tree: &'t mut Json, rng: &mut Rng) -> Option<&'t mut Vec<(String, Json)>> {
    any(tree, rng, |value| matches!(value, Json::Object(members) if !members.is_empty()))?.members()
}

/// Returns the path of a free-form member, adding one if there is none.
fn roomy(tree: &mut Json, rng: &mut Rng) -> Option<Path> {
    let members = tree.members()?;
    let at = match members.iter().position(|(name, _)| name == "payload") {
        Some(at) if rng.bool() => at,
        _ => {
            let name = format!("_deep{}", members.len());
            members.push((name, Json::Null));
            return Some(vec![members.len() - 1]);
        }
    };
    let (_, payload) = members.get_mut(at)?;
    let free = ["data", "query_params", "result_data"];
    let inner = payload.members()?.iter().position(|(name, _)| free.contains(&name.as_str()));
    match inner {
        Some(inner) => Some(vec![at, inner]),
        None => Some(vec![at]),
    }
}

fn retyped(value: &Json, rng: &mut Rng) -> Json {
    let text = match value {
        Json::Number(text) => text.clone(),
        Json::Bool(value) => value.to_string(),
        _ => "text".to_owned(),
    };
    match rng.u8(..7) {
        0 => Json::Bool(rng.bool()),
        1 => Json::number(rng.u8(..3)),
        2 => Json::text(text),
        3 => Json::Array(Vec::new()),
        4 => Json::Array(vec![value.clone()]),
        5 => Json::Object(Vec::new()),
        _ => Json::Object(vec![("value".to_owned(), value.clone())]),
    }
}

/// Breaks a text, usually so that it becomes invalid JSON.
pub(super) fn break_text(text: &mut String, rng: &mut Rng) {
    let mut at = rng.usize(..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    match rng.u8(..8) {
        0 => text.truncate(at),
        1 => text.insert(0, '\u{feff}'),
        2 => text.push_str(rng.choice(&[" ", "\n", "\r\n", "\u{a0}", "\u{c}", "{}", ",", "]", "null"]).unwrap_or(&"")),
        3 => text.insert(
            at,
            *rng.choice(&[',', '}', ']', '"', ':', '\\', '\u{1}', '\n', '0', '-', '+', 'e']).unwrap_or(&','),
        ),
        4 => {
            *text = text.replacen(
                ':',
                rng.choice(&[":\"\\ud800\",\"_u\":", ":\"\\u12\"", ":1e999,\"_u\":", ":01,\"_u\":", ":.5,\"_u\":"])
                    .unwrap_or(&""),
                1,
            )
        }
        5 if at < text.len() => drop(text.remove(at)),
        6 => *text = text.replacen("true", rng.choice(&["True", "tru", "NaN", "1.", "'x'"]).unwrap_or(&""), 1),
        _ => {
            *text =
                text.replacen('"', rng.choice(&["\"\\x", "\"\\udc00", "\"\\ud83d\\u0041", "\"\t"]).unwrap_or(&""), 1)
        }
    }
}
