//! Packets generated from the schemas, so that every member of every type is mutated.

use fastrand::Rng;
use serde_json::Value;

use super::json::Json;
use super::schemas::Schemas;
use super::values;

/// Generator of valid packets.
pub(super) struct Sampler<'s> {
    schemas: &'s Schemas,
    rng: Rng,
    /// Number of optional members present, out of 8.
    fullness: u8,
}

impl<'s> Sampler<'s> {
    pub(super) fn new(schemas: &'s Schemas, seed: u64, fullness: u8) -> Self {
        Self { schemas, rng: Rng::with_seed(seed), fullness }
    }

    /// Returns a packet of a type whose schema is the root of a file.
    pub(super) fn packet(&mut self, name: &str, file: &str) -> Option<Json> {
        let mut packet = self.value(file, self.schemas.file(file)?)?;
        *packet.get_mut("header")?.get_mut("packet_type")? = Json::text(name);
        if self.rng.u8(..8) < self.fullness {
            packet.members()?.push(("_note".to_owned(), values::free(&mut self.rng, 2)));
        }
        Some(packet)
    }

    fn value(&mut self, file: &str, schema: &Value) -> Option<Json> {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let (file, schema) = self.schemas.resolve(file, reference)?;
            return self.value(&file, schema);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.rng.choice(values)?.as_str().map(Json::text);
        }
        if let Some(Value::Array(branches)) = schema.get("oneOf") {
            let branch = self.rng.choice(branches)?;
            return self.value(file, branch);
        }
        match schema.get("type") {
            Some(Value::String(kind)) => match kind.as_str() {
                "object" if schema.get("properties").is_some() => self.object(file, schema),
                "object" => {
                    let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
                    let count = least.max(self.rng.u64(0..3));
                    Some(Json::Object(
                        (0..count).map(|index| (format!("key{index}"), values::free(&mut self.rng, 2))).collect(),
                    ))
                }
                "array" => {
                    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                    let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(least + 2);
                    let count = self.rng.u64(least..=most);
                    (0..count).map(|_| self.value(file, schema.get("items")?)).collect::<Option<_>>().map(Json::Array)
                }
                "string" => Some(self.string(schema)),
                "boolean" => Some(Json::Bool(self.rng.bool())),
                "integer" => {
                    let least = schema.get("minimum").and_then(Value::as_u64).unwrap_or(0);
                    let most = schema.get("maximum").and_then(Value::as_u64).unwrap_or(least);
                    Some(Json::number(self.rng.u64(least..=most.min(least + 500))))
                }
                "number" => {
                    let least = schema.get("minimum").and_then(Value::as_f64).unwrap_or(-3.0);
                    let most = schema.get("maximum").and_then(Value::as_f64).unwrap_or(least + 9.0);
                    Some(Json::number(least + (most - least) * self.rng.f64()))
                }
                _ => None,
            },
            Some(Value::Array(_)) => Some(if self.rng.bool() { Json::Null } else { Json::text("no reason") }),
            _ => Some(values::free(&mut self.rng, 2)),
        }
    }

    fn string(&mut self, schema: &Value) -> Json {
        if let Some(Value::String(pattern)) = schema.get("pattern") {
            let prefix = pattern.trim_start_matches('^').split('[').next().unwrap_or_default();
            return Json::text(format!("{prefix}{}", self.rng.u16(..)));
        }
        if schema.get("format").is_some() {
            return Json::text(values::good_timestamp(&mut self.rng));
        }
        Json::text(*self.rng.choice(&["a", "some words", "Gr\u{fc}\u{df}e, \u{1f30d}", "1"]).unwrap_or(&"a"))
    }

    fn object(&mut self, file: &str, schema: &Value) -> Option<Json> {
        let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let properties = schema.get("properties")?.as_object()?;
        let mut members = Vec::new();
        for (name, property) in properties {
            if required.iter().any(|required| required == name) || self.rng.u8(..8) < self.fullness {
                members.push((name.clone(), self.value(file, property)?));
            }
        }
        let mut object = Json::Object(members);
        for conditional in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.satisfy(file, properties, conditional, &mut object);
        }
        Some(object)
    }

    /// Adds the members that a conditional requires, if it applies.
    fn satisfy(
        &mut self,
        file: &str,
        properties: &serde_json::Map<String, Value>,
        conditional: &Value,
        object: &mut Json,
    ) -> Option<()> {
        let (subject, condition) = conditional.pointer("/if/properties")?.as_object()?.iter().next()?;
        let applies = match (object.get(subject)?, condition.get("enum")) {
            (Json::String(text), Some(Value::Array(values))) => values.iter().any(|value| value == text.as_str()),
            (Json::Array(elements), None) => elements.is_empty(),
            _ => false,
        };
        let wanted = conditional.pointer("/then/required/0")?.as_str()?;
        let non_empty = conditional.pointer("/then/properties").is_some();
        if !applies || (object.get(wanted).is_some() && !non_empty) {
            return Some(());
        }
        let value = if non_empty { Json::text("a reason") } else { self.value(file, properties.get(wanted)?)? };
        let members = object.members()?;
        members.retain(|(name, _)| name != wanted);
        members.push((wanted.to_owned(), value));
        Some(())
    }
}
