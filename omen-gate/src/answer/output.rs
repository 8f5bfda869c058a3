//! PG-4: conversion of a tool's answer into a value of a Rust type. An answer that does not convert yields nothing that
//! could be mistaken for one.
//!
//! ```
//! use omen_gate::catalog::Catalog;
//! use omen_gate::output::Outputs;
//! use omen_gate::tool::Answer;
//! # use omen_gate::{ServerName, ToolId, ToolName};
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Weather {
//!     city: String,
//!     celsius: f64,
//! }
//!
//! let catalog = Catalog::parse(r#"{"sky": [{"name": "weather", "inputSchema": {"type": "object"}, "outputSchema": {
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}, "celsius": {"type": "number"}},
//!     "required": ["city", "celsius"]
//! }}]}"#)?;
//! # let id = ToolId { server: ServerName::new("sky")?, tool: ToolName::new("weather")? };
//! let tool = catalog.find(&id)?;
//! let mut outputs = Outputs::default();
//! outputs.register::<Weather>(id.clone())?;
//! outputs.check(tool)?;
//!
//! let answer = Answer { structured_content: Some(json!({"celsius": 21.5, "city": "Rome"})), ..Answer::default() };
//! let typed = outputs.type_output::<Weather>(tool, answer)?;
//! assert_eq!(typed.value().celsius, 21.5);
//! assert_eq!(typed.text(), r#"{"celsius":21.5,"city":"Rome"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod subset;

use std::any::TypeId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::{Blocked, GateCode, ToolId, bounded, canonical};
use crate::call::Answer;
use crate::catalog::Listed;
use crate::catalog::tool_schema::{Schema, format_violations};

/// Rust types of answers, by tool.
#[derive(Debug, Default)]
pub struct Outputs {
    types: BTreeMap<ToolId, OutputType>,
}

#[derive(Debug)]
struct OutputType {
    id: TypeId,
    name: &'static str,
    /// JSON Schema of the type; compared with the tool's `outputSchema`.
    derived: Value,
    schema: Schema,
    /// Deserializes a text as the type and discards the value.
    reads: fn(&str) -> Result<(), String>,
}

/// Error returned by [`Outputs::register`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadOutput {
    /// The tool already has a type.
    #[error("the tool `{tool}` already has the type `{name}`")]
    Twice {
        /// Tool that was registered twice.
        tool: ToolId,
        /// Name of the registered type.
        name: &'static str,
    },
    /// The schema of the type cannot be used.
    #[error("the schema of the type `{name}` cannot be used: {why}")]
    Schema {
        /// Name of the type.
        name: &'static str,
        /// Reason, truncated to a bounded length.
        why: String,
    },
}

impl Outputs {
    /// Registers the type of a tool's answers. The tool need not have been discovered yet: [`Outputs::check`] compares
    /// the type with its `outputSchema` later.
    ///
    /// # Errors
    /// If the tool already has a type, or the schema of the type cannot be used for validation.
    pub fn register<T: DeserializeOwned + JsonSchema + 'static>(&mut self, tool: ToolId) -> Result<(), BadOutput> {
        let name = std::any::type_name::<T>();
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        let derived = settings.into_generator().into_root_schema_for::<T>().to_value();
        let unusable = |why: String| BadOutput::Schema { name, why };
        // The schema `true` accepts every value, so it would check nothing.
        let Value::Object(members) = &derived else { return Err(unusable("it is not an object".to_owned())) };
        let schema = Schema::compile(members).map_err(unusable)?;
        match self.types.entry(tool) {
            Entry::Occupied(taken) => Err(BadOutput::Twice { tool: taken.key().clone(), name: taken.get().name }),
            Entry::Vacant(place) => {
                place.insert(OutputType { id: TypeId::of::<T>(), name, derived, schema, reads: reads::<T> });
                Ok(())
            }
        }
    }

    /// Compares a tool's type with the `outputSchema` that its server currently lists: the schema of the type must accept every
    /// value that `outputSchema` accepts. A tool without an `outputSchema` promises nothing, so only its answers are checked.
    ///
    /// # Errors
    /// PG-4 if the tool has no type, if its `outputSchema` cannot be used, or if `outputSchema` accepts a value that
    /// the type does not. Containment is decided only for the keywords that tools and `schemars` commonly write; an
    /// undecidable case is refused, and the message says that it is undecided.
    pub fn check(&self, listed: &Listed) -> Result<(), Blocked> {
        self.fitting(listed).map(drop)
    }

    /// Converts an answer into a typed value. The answer must have `structuredContent` and must not set `isError`; its
    /// content must be valid against both the tool's `outputSchema` and the schema of the type, have a canonical text,
    /// and deserialize from that text.
    ///
    /// # Errors
    /// The raw answer with the reason (PG-4). It cannot be summarized.
    pub fn type_output<T: DeserializeOwned + 'static>(
        &self,
        listed: &Listed,
        answer: Answer,
    ) -> Result<TypedAnswer<T>, Box<UntypedAnswer>> {
        match self.typed(listed, &answer) {
            Ok(typed) => Ok(typed),
            Err(why) => Err(Box::new(UntypedAnswer { answer, why })),
        }
    }

    /// Returns whether a type is registered for the tool.
    #[must_use]
    pub fn has(&self, tool: &ToolId) -> bool {
        self.types.contains_key(tool)
    }

    /// Checks an answer as [`Outputs::type_output`] does, for callers that do not know the registered type. Returns the
    /// structured content, which deserializes as that type.
    ///
    /// # Errors
    /// The raw answer with the reason (PG-4).
    pub fn check_output(&self, listed: &Listed, answer: Answer) -> Result<Value, Box<UntypedAnswer>> {
        self.content(listed, &answer).map_err(|why| Box::new(UntypedAnswer { answer, why }))
    }

    /// Returns whether PG-4 accepts an answer: it has the type registered for its tool or, if none is registered,
    /// matches what the tool promises.
    pub(crate) fn passes(&self, listed: &Listed, answer: &Answer) -> bool {
        match self.has(listed.id()) {
            true => self.content(listed, answer).is_ok(),
            false => promised(listed, answer).is_ok(),
        }
    }

    fn content(&self, listed: &Listed, answer: &Answer) -> Result<Value, Blocked> {
        let registered = self.fitting(listed)?;
        let text = registered.checked(listed, answer)?;
        (registered.reads)(&text).map_err(|why| registered.broken(listed, &why))?;
        serde_json::from_str(&text).map_err(|error| registered.broken(listed, &error.to_string()))
    }

    fn typed<T: DeserializeOwned + 'static>(
        &self,
        listed: &Listed,
        answer: &Answer,
    ) -> Result<TypedAnswer<T>, Blocked> {
        let id = listed.id();
        let registered = self.fitting(listed)?;
        if registered.id != TypeId::of::<T>() {
            let wanted = std::any::type_name::<T>();
            let message = format!("the answers of `{id}` have the type `{}`, not `{wanted}`", registered.name);
            return Err(blocked(message, "request the registered type"));
        }
        let text = registered.checked(listed, answer)?;
        // Parsed from the canonical text, so that value and text agree to the last digit.
        let value = serde_json::from_str(&text).map_err(|error| registered.broken(listed, &error.to_string()))?;
        Ok(TypedAnswer { tool: id.clone(), value, text })
    }

    fn fitting(&self, listed: &Listed) -> Result<&OutputType, Blocked> {
        let id = listed.id();
        let Some(registered) = self.types.get(id) else {
            let message = format!("no type is registered for the answers of `{id}`");
            return Err(blocked(message, "register a Rust type for the tool, or use its answers as unchecked text"));
        };
        if let Some(Err(why)) = listed.output() {
            let message = format!("the `outputSchema` of `{id}` cannot be used: {why}");
            return Err(blocked(message, "its server must list a schema that the gate supports"));
        }
        if let Some(promise) = &listed.tool().output_schema {
            subset::takes(promise, &registered.derived).map_err(|unfit| {
                let name = registered.name;
                let message = format!("the type `{name}` does not accept every answer that `{id}` may give: {unfit}");
                blocked(message, "widen the type so that it accepts everything that the `outputSchema` allows")
            })?;
        }
        Ok(registered)
    }
}

impl OutputType {
    /// Returns the canonical text of an answer that is valid against both schemas.
    fn checked(&self, listed: &Listed, answer: &Answer) -> Result<String, Blocked> {
        let id = listed.id();
        if answer.is_error == Some(true) {
            let message = format!("the tool `{id}` reports an error (`isError`)");
            return Err(blocked(message, "see the raw answer for the error"));
        }
        let Some(content) = &answer.structured_content else {
            let message = format!("the answer of `{id}` has no `structuredContent`");
            return Err(blocked(message, RAW));
        };
        let by = [(listed.output().and_then(Result::ok), "`outputSchema`"), (Some(&self.schema), "registered type")];
        for (schema, name) in by {
            let violations = schema.map(|schema| schema.violations(content)).unwrap_or_default();
            if !violations.is_empty() {
                let reason = format!("the answer of `{id}` does not match its {name}");
                return Err(quoting(reason, &format_violations(&violations)));
            }
        }
        let broken = |error: &dyn std::fmt::Display| {
            quoting(format!("the answer of `{id}` has no canonical JSON form"), &error.to_string())
        };
        let text = canonical(content).map_err(|error| broken(&error))?;
        let text = String::from_utf8(text).map_err(|error| broken(&error))?;
        Ok(text)
    }

    /// Builds the refusal of an answer that is valid against both schemas but does not deserialize as the type.
    fn broken(&self, listed: &Listed, why: &str) -> Blocked {
        quoting(format!("the answer of `{}` is not a valid `{}`", listed.id(), self.name), &bounded(why))
    }
}

/// Checks an answer against the tool's `outputSchema`: the answer must have valid `structuredContent`, unless it sets
/// `isError`. Without an `outputSchema`, every answer passes.
///
/// # Errors
/// The raw answer with the reason (PG-4).
pub(crate) fn as_promised(listed: &Listed, answer: Answer) -> Result<Answer, Box<UntypedAnswer>> {
    match promised(listed, &answer) {
        Ok(()) => Ok(answer),
        Err(why) => Err(Box::new(UntypedAnswer { answer, why })),
    }
}

fn promised(listed: &Listed, answer: &Answer) -> Result<(), Blocked> {
    let Some(schema) = listed.output().filter(|_| answer.is_error != Some(true)) else { return Ok(()) };
    let id = listed.id();
    let schema = schema.map_err(|why| {
        let message = format!("the `outputSchema` of `{id}` cannot be used: {why}");
        blocked(message, "its server must list a schema that the gate supports")
    })?;
    let Some(content) = &answer.structured_content else {
        let message = format!("the answer of `{id}` has no `structuredContent`");
        return Err(blocked(message, RAW));
    };
    let violations = schema.violations(content);
    if violations.is_empty() {
        return Ok(());
    }
    let reason = format!("the answer of `{id}` does not match its `outputSchema`");
    Err(quoting(reason, &format_violations(&violations)))
}

/// Value of the type registered for a tool, with the text from which evidence is quoted. Only [`Outputs::type_output`]
/// creates one.
#[derive(Debug)]
pub struct TypedAnswer<T> {
    tool: ToolId,
    value: T,
    text: String,
}

impl<T> TypedAnswer<T> {
    /// Returns the tool that gave the answer.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// Returns the deserialized value.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns the canonical text (RFC 8785) of `structuredContent`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value and drops the text, so nothing can be quoted from it afterwards.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}

/// Raw, unchecked answer. It cannot be summarized: that takes a [`TypedAnswer`].
///
/// ```compile_fail,E0308
/// use omen_gate::output::UntypedAnswer;
/// use omen_gate::summary::{Summary, ground};
///
/// fn summarize(answer: &UntypedAnswer, summary: Summary) {
///     let _ = ground(answer, summary);
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[error("typed parsing blocked: {why}")]
pub struct UntypedAnswer {
    answer: Answer,
    why: Blocked,
}

impl UntypedAnswer {
    /// Returns the answer as received.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Returns the reason why the answer could not be typed (PG-4).
    #[must_use]
    pub fn why(&self) -> &Blocked {
        &self.why
    }

    /// Replaces the reason.
    pub(crate) fn because(self, why: Blocked) -> Self {
        Self { why, ..self }
    }

    /// Splits the value into the raw answer and the reason.
    #[must_use]
    pub fn into_parts(self) -> (Answer, Blocked) {
        (self.answer, self.why)
    }
}

fn reads<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|error| error.to_string())
}

/// Builds a refusal whose message names only tools, types and schemas, and quotes nothing from an answer.
fn blocked(message: impl Into<String>, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg4, message, help).quoting_nothing()
}

/// Builds a refusal whose message quotes the answer.
fn quoting(reason: String, quoted: &str) -> Blocked {
    Blocked::new(GateCode::Pg4, format!("{reason}: {quoted}"), RAW).unquoted_as(reason)
}

const RAW: &str = "use the raw answer as unchecked text, or fix the tool so that its answer matches its `outputSchema`";
