//! Repair of rejected packets: guesses from the schema alone what a packet was meant to be.

use omen_types::shape::{ConditionalShape, ObjectShape, Shape, ShapeKind, WhenShape};
use omen_types::suggest::nearest;
use omen_types::{Claims, PacketType, definition, pointer};
use serde_json::{Map, Value};

use super::lenient;

/// Text that matches its schema, and the values in it that were invented.
#[derive(Debug)]
pub(super) struct RepairedPacket {
    pub(super) text: String,
    /// JSON pointers to the values that do not come from the log.
    pub(super) invented: Vec<String>,
}

impl RepairedPacket {
    pub(super) fn invents(&self, pointer: &str) -> bool {
        self.invented.iter().any(|invented| *invented == pointer)
    }
}

/// Returns the packets that a text may have been meant to be, likeliest first; empty if even the type cannot be guessed.
pub(super) fn repaired(text: &str, claims: &Claims) -> Vec<RepairedPacket> {
    let (value, is_broken) = lenient::read(text);
    let all = Text { text: is_broken.then_some(text) };
    types(&value, all, claims).into_iter().flat_map(|packet_type| of_type(&value, all, packet_type)).collect()
}

/// Returns packets of a type with only invented values: one for each value of each enum in its payload.
pub(super) fn invented(packet_type: PacketType) -> Vec<RepairedPacket> {
    let nothing = Value::Null;
    let mut all = of_type(&nothing, Text { text: None }, packet_type);
    for (name, values) in enums(packet_type) {
        for value in values {
            let value = serde_json::json!({"payload": {name: value}});
            all.extend(of_type(&value, Text { text: None }, packet_type));
        }
    }
    all
}

/// Header field that states the packet type.
pub(super) const PACKET_TYPE: &str = "packet_type";

/// Returns the packet type that a text names or was meant to name.
pub(super) fn nearest_type(text: &str) -> Option<PacketType> {
    let near = || nearest(text, PacketType::ALL.iter().map(|one| one.as_str()))?.parse().ok();
    text.parse().ok().or_else(near)
}

/// Returns the types that a packet may have been meant to have.
fn types(value: &Value, all: Text<'_>, claims: &Claims) -> Vec<PacketType> {
    let stated = value.pointer("/header/packet_type").cloned().or_else(|| all.member(PACKET_TYPE));
    let stated = stated.as_ref().and_then(Value::as_str);
    let by_name = claims.packet_type.or_else(|| nearest_type(stated?));
    let Some(payload) = value.get("payload").and_then(Value::as_object).filter(|payload| !payload.is_empty()) else {
        return by_name.into_iter().collect();
    };
    // A payload that fits another type is better evidence than the name, because that is unlikely to be an accident.
    if let Some(by_name) = by_name
        && fits(payload, by_name) > 0
    {
        return vec![by_name];
    }
    let mut best: Vec<_> = PacketType::ALL.iter().map(|one| (fits(payload, *one), *one)).collect();
    best.sort_by_key(|(fits, _)| std::cmp::Reverse(*fits));
    match best.as_slice() {
        [(first, packet_type), (second, _), ..] if first > second => vec![*packet_type],
        _ => by_name.into_iter().collect(),
    }
}

/// Scores how well a payload fits a type: the number of fields that the type has, or 0 if more are unknown to it.
fn fits(payload: &Map<String, Value>, packet_type: PacketType) -> usize {
    let Some(object) = payload_shape(packet_type) else { return 0 };
    let known = payload.keys().filter(|key| object.fields.iter().any(|field| field.name == **key)).count();
    if 2 * known >= payload.len() { known } else { 0 }
}

fn payload_shape(packet_type: PacketType) -> Option<&'static ObjectShape> {
    let ShapeKind::Object(packet) = &definition::of_packet(Some(packet_type)).kind else { return None };
    match &packet.fields.iter().find(|field| field.name == "payload")?.shape.kind {
        ShapeKind::Object(payload) => Some(payload),
        _ => None,
    }
}

/// Returns the enum fields of a payload.
fn enums(packet_type: PacketType) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let fields = payload_shape(packet_type).map_or(&[][..], |payload| payload.fields);
    fields.iter().filter_map(|field| match field.shape.kind {
        ShapeKind::Enum(values) => Some((field.name, values)),
        _ => None,
    })
}

/// Returns the packets of a type that a value may have been meant to be: several if an enum value that may determine
/// the packet's event is unknown.
fn of_type(value: &Value, all: Text<'_>, packet_type: PacketType) -> Vec<RepairedPacket> {
    let mut repair = Repair { all, pointer: String::new(), invented: Vec::new() };
    let mut packet = repair.value(Some(value), definition::of_packet(Some(packet_type)));
    if let Some(stated) = packet.pointer_mut("/header/packet_type") {
        *stated = packet_type.as_str().into();
    }
    let members = || repair.invented.iter().filter_map(|invented| invented.strip_prefix(PAYLOAD)?.strip_prefix('/'));
    let Some((name, values)) = enums(packet_type).find(|(name, _)| members().any(|member| member == *name)) else {
        return vec![RepairedPacket { text: written(&packet), invented: repair.invented }];
    };
    let Some(shape) = payload_shape(packet_type) else { return Vec::new() };
    // Only the payload depends on the value, which determines the payload's other fields.
    if let Some(packet) = packet.as_object_mut() {
        packet.remove("payload");
    }
    let rest = written(&packet);
    let rest = rest.strip_suffix('}').unwrap_or_default();
    repair.invented.retain(|invented| !invented.starts_with(PAYLOAD));
    let mut stated = value.get("payload").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut packets = Vec::new();
    for one in values.iter().take(MOST_VALUES) {
        stated.insert(name.to_owned(), Value::from(*one));
        let mut repair = Repair { all, pointer: PAYLOAD.to_owned(), invented: repair.invented.clone() };
        let payload = written(&repair.object(Some(&stated), shape));
        let text = format!("{rest},\"payload\":{payload}}}");
        packets.push(RepairedPacket { text, invented: repair.invented });
    }
    packets
}

/// Serializes a value. `to_string` would write byte by byte through a formatter, which takes twice as long.
fn written(value: &Value) -> String {
    // INVARIANT: keys are strings, so serialization cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// JSON pointer to the payload of a packet.
const PAYLOAD: &str = "/payload";

/// Maximum number of values of an enum that are tried.
const MOST_VALUES: usize = 8;

/// Text of a line with broken JSON, in which individual fields may still be found.
#[derive(Clone, Copy)]
struct Text<'t> {
    text: Option<&'t str>,
}

impl Text<'_> {
    fn member(self, name: &str) -> Option<Value> {
        lenient::member(self.text?, name)
    }
}

struct Repair<'t> {
    all: Text<'t>,
    pointer: String,
    invented: Vec<String>,
}

impl Repair<'_> {
    /// Returns a value that matches a shape and is as close as possible to the value in the text.
    fn value(&mut self, found: Option<&Value>, shape: &'static Shape) -> Value {
        match (&shape.kind, found) {
            (ShapeKind::Object(object), found) => self.object(found.and_then(Value::as_object), object),
            (ShapeKind::Array { item, min, max }, found) => self.array(found, item, *min, *max),
            (ShapeKind::Union(branches), found) => {
                let fits = |branch: &&&'static Shape| found.is_some_and(|found| near(found, branch).is_some());
                match branches.iter().find(fits).or(branches.first()) {
                    Some(branch) => self.value(found, branch),
                    None => self.invent(Value::Null),
                }
            }
            (_, found) => match found.and_then(|found| near(found, shape)) {
                Some(value) => value,
                None => self.invent(invention(shape)),
            },
        }
    }

    fn invent(&mut self, value: Value) -> Value {
        self.invented.push(self.pointer.clone());
        value
    }

    /// Calls `inner` with the pointer extended by one step.
    fn down<T>(&mut self, step: &str, inner: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        pointer::push(&mut self.pointer, step);
        let value = inner(self);
        self.pointer.truncate(length);
        value
    }

    fn object(&mut self, found: Option<&Map<String, Value>>, object: &'static ObjectShape) -> Value {
        let mut members = Map::new();
        let unknown = unknown(found, object);
        for field in object.fields {
            let there = found.and_then(|found| found.get(field.name));
            let there = there.or_else(|| misspelt(&unknown, field.name, object));
            let is_scalar = !matches!(field.shape.kind, ShapeKind::Object(_) | ShapeKind::Array { .. });
            let elsewhere = if there.is_none() && is_scalar { self.all.member(field.name) } else { None };
            let there = there.or(elsewhere.as_ref());
            if !field.required && there.is_none_or(|there| !may_be(there, field.shape)) {
                continue;
            }
            let value = self.down(field.name, |repair| repair.value(there, field.shape));
            members.insert(field.name.to_owned(), value);
        }
        for conditional in object.conditionals {
            if applies(conditional, &members)
                && let Some(field) = object.fields.iter().find(|field| field.name == conditional.requires)
            {
                let value = match self.down(field.name, |repair| repair.value(None, field.shape)) {
                    Value::Null if conditional.non_empty => Value::from("unknown"),
                    value => value,
                };
                members.insert(field.name.to_owned(), value);
            }
        }
        Value::Object(members)
    }

    fn array(&mut self, found: Option<&Value>, item: &'static Shape, min: usize, max: Option<usize>) -> Value {
        let found = match found {
            Some(Value::Array(elements)) => elements.as_slice(),
            Some(single) if may_be(single, item) => std::slice::from_ref(single),
            _ => &[],
        };
        let mut elements = Vec::new();
        for (at, element) in found.iter().enumerate().take(max.unwrap_or(usize::MAX)) {
            elements.push(self.down(&at.to_string(), |repair| repair.value(Some(element), item)));
        }
        while elements.len() < min {
            elements.push(self.down(&elements.len().to_string(), |repair| repair.value(None, item)));
        }
        Value::Array(elements)
    }
}

/// Returns the fields that an object should not have.
fn unknown<'f>(found: Option<&'f Map<String, Value>>, object: &ObjectShape) -> Vec<(&'f str, &'f Value)> {
    let is_known = |key: &str| object.fields.iter().any(|field| field.name == key);
    let all = found.into_iter().flatten().map(|(key, value)| (key.as_str(), value));
    all.filter(|(key, _)| !is_known(key)).collect()
}

/// Returns the value of a field with a misspelt name.
fn misspelt<'f>(unknown: &[(&'f str, &'f Value)], name: &str, object: &ObjectShape) -> Option<&'f Value> {
    let names = || object.fields.iter().map(|field| field.name);
    unknown.iter().find(|(key, _)| nearest(key, names()) == Some(name)).map(|(_, value)| *value)
}

/// Returns whether a conditional applies and its required fields are missing.
fn applies(conditional: &ConditionalShape, members: &Map<String, Value>) -> bool {
    let subject = members.get(conditional.subject);
    let applies = match conditional.when {
        WhenShape::OneOf(values) => subject.and_then(Value::as_str).is_some_and(|subject| values.contains(&subject)),
        WhenShape::Empty => subject.and_then(Value::as_array).is_some_and(Vec::is_empty),
    };
    applies
        && match members.get(conditional.requires) {
            None => true,
            Some(Value::String(text)) => conditional.non_empty && text.is_empty(),
            Some(_) => conditional.non_empty,
        }
}

/// Returns whether a value can be repaired to match a shape without inventing all of it.
fn may_be(found: &Value, shape: &Shape) -> bool {
    match &shape.kind {
        ShapeKind::Object(_) => found.is_object(),
        ShapeKind::Array { item, .. } => found.is_array() || may_be(found, item),
        ShapeKind::Union(branches) => branches.iter().any(|branch| may_be(found, branch)),
        _ => near(found, shape).is_some(),
    }
}

/// Returns the value of a simple shape that another value was probably meant to be.
fn near(found: &Value, shape: &Shape) -> Option<Value> {
    match &shape.kind {
        ShapeKind::Enum(values) => {
            let text = found.as_str()?;
            let exact = values.iter().copied().find(|value| *value == text);
            exact.or_else(|| nearest(text, values.iter().copied())).map(Value::from)
        }
        ShapeKind::Text { holds, .. } => {
            let text = match found {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            holds(&text).then(|| Value::from(text))
        }
        ShapeKind::NullableText => (found.is_string() || found.is_null()).then(|| found.clone()),
        ShapeKind::Integer { min, max } => {
            let value = number(found)?;
            let value = value.as_u64().or_else(|| value.as_f64().and_then(integral))?;
            (*min..=*max).contains(&value).then(|| Value::from(value))
        }
        ShapeKind::Number { min, max } => {
            let value = number(found)?.as_f64()?;
            let holds = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
            holds.then(|| Value::from(value))
        }
        ShapeKind::Bool => match found {
            Value::Bool(_) => Some(found.clone()),
            Value::String(text) => text.parse::<bool>().ok().map(Value::from),
            _ => None,
        },
        ShapeKind::FreeObject { min } => found.as_object().filter(|object| object.len() >= *min).map(|_| found.clone()),
        ShapeKind::Any => Some(found.clone()),
        ShapeKind::Object(_) | ShapeKind::Array { .. } | ShapeKind::Union(_) => {
            may_be(found, shape).then(|| found.clone())
        }
    }
}

/// Parses a number, even if it is in a string.
fn number(found: &Value) -> Option<serde_json::Number> {
    match found {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn integral(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64)
}

/// Invents a value of a simple shape: for numbers, the largest allowed, so that an invented budget is not exceeded.
fn invention(shape: &Shape) -> Value {
    match &shape.kind {
        ShapeKind::Enum(values) => values.first().map_or(Value::Null, |value| Value::from(*value)),
        ShapeKind::Text { example, .. } => Value::from(*example),
        ShapeKind::Integer { max, .. } => Value::from(*max),
        ShapeKind::Number { min, max } => Value::from(max.or(*min).unwrap_or_default()),
        ShapeKind::Bool => Value::Bool(true),
        ShapeKind::FreeObject { .. } => serde_json::json!({"key": "value"}),
        _ => Value::Null,
    }
}
