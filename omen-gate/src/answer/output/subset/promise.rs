//! Promise about a value: the schemas that all apply to it.

use serde_json::{Map, Value};

use super::containment_error::ContainmentError;
use super::references::References;

/// Set of JSON types. Integers and other numbers are two separate types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const ALL: Self = Self(0b111_1111);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const NUMBER: Self = Self(0b1100);
    pub(super) const STRING: Self = Self(1 << 4);
    const NAMED: [(&'static str, Self); 7] = [
        ("null", Self(1)),
        ("boolean", Self(1 << 1)),
        ("integer", Self(1 << 2)),
        ("number", Self::NUMBER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    /// Returns the types allowed by a schema's `type`; all types if it has none.
    pub(super) fn from_schema(schema: &Value) -> Self {
        match schema {
            Value::Bool(false) => Self(0),
            _ => match schema.get("type") {
                Some(Value::String(name)) => Self::of_name(name),
                Some(Value::Array(names)) => names
                    .iter()
                    .filter_map(Value::as_str)
                    .fold(Self(0), |all, name| Self(all.0 | Self::of_name(name).0)),
                _ => Self::ALL,
            },
        }
    }

    fn of_name(name: &str) -> Self {
        Self::NAMED.iter().find(|(known, _)| *known == name).map_or(Self(0), |(_, types)| *types)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the types in the set, each as a set of one.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        (0..7).map(|bit| Self(1 << bit)).filter(move |one| !self.and(*one).is_none())
    }

    /// Returns the set as text, such as `string or null`.
    pub(super) fn words(self) -> String {
        if self == Self::ALL {
            return "any value".to_owned();
        }
        let one = |types: Self| match Self::NAMED.iter().find(|(_, named)| *named == types) {
            Some((name, _)) => *name,
            None => "number",
        };
        let mut words: Vec<&str> = self.each().map(one).collect();
        words.dedup();
        words.retain({
            let both = self.and(Self::NUMBER) == Self::NUMBER;
            move |word| !(both && *word == "integer")
        });
        words.join(" or ")
    }
}

/// Schemas that all apply to one value, and the types that the value may have.
#[derive(Clone, Debug)]
pub(super) struct Promise<'v> {
    pub(super) together: Vec<&'v Value>,
    pub(super) types: Types,
}

/// Promise about a member or an element.
pub(super) enum PartPromise<'v> {
    /// The member or element never occurs.
    Never,
    /// The member or element matches this promise.
    Is(Promise<'v>),
}

impl<'v> Promise<'v> {
    pub(super) fn new(schema: &'v Value, references: &References<'v>) -> Result<Self, ContainmentError> {
        Self::all([schema], references)
    }

    pub(super) fn all(
        schemas: impl IntoIterator<Item = &'v Value>,
        references: &References<'v>,
    ) -> Result<Self, ContainmentError> {
        let mut promise = Self { together: Vec::new(), types: Types::ALL };
        for schema in schemas {
            promise.together.extend(references.together(schema)?);
        }
        promise.types = promise.together.iter().fold(Types::ALL, |types, schema| types.and(Types::from_schema(schema)));
        Ok(promise)
    }

    /// Adds another schema to the promise.
    pub(super) fn and(&self, schema: &'v Value, references: &References<'v>) -> Result<Self, ContainmentError> {
        let more = Self::new(schema, references)?;
        let together = self.together.iter().copied().chain(more.together).collect();
        Ok(Self { together, types: self.types.and(more.types) })
    }

    pub(super) fn may_be(&self, value: &Value) -> bool {
        let types = match value {
            Value::Null => Types::of_name("null"),
            Value::Bool(_) => Types::of_name("boolean"),
            Value::Number(_) => Types::NUMBER,
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        };
        !self.types.and(types).is_none()
    }

    /// Iterates over the values of one keyword in all schemas.
    pub(super) fn each(&self, key: &str) -> impl Iterator<Item = &'v Value> {
        self.together.iter().filter_map(move |schema| schema.get(key))
    }

    pub(super) fn has(&self, key: &str, value: &Value) -> bool {
        self.each(key).any(|promised| promised == value)
    }

    /// Returns the values listed by the first `const`, or else by the first `enum`.
    pub(super) fn values(&self) -> Option<Vec<&'v Value>> {
        let listed = self.each("enum").find_map(Value::as_array).map(|values| values.iter().collect());
        self.each("const").next().map(|value| vec![value]).or(listed)
    }

    pub(super) fn requires(&self, key: &str) -> bool {
        self.each("required").filter_map(Value::as_array).flatten().any(|required| required == key)
    }

    /// Iterates over the names of all members in `properties`.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'v String> {
        self.each("properties").filter_map(Value::as_object).flat_map(Map::keys)
    }

    /// Returns the promise about the member with a name.
    pub(super) fn member(&self, key: &str, references: &References<'v>) -> Result<PartPromise<'v>, ContainmentError> {
        let said = self.together.iter().filter_map(|schema| match schema.get("properties").and_then(|p| p.get(key)) {
            Some(member) => Some(member),
            // The name may match a pattern, in which case `additionalProperties` does not apply to it.
            None if schema.get("patternProperties").is_some() => None,
            None => schema.get("additionalProperties"),
        });
        Self::part(said, references)
    }

    /// Returns the promise about members that no schema names.
    pub(super) fn others(&self, references: &References<'v>) -> Result<PartPromise<'v>, ContainmentError> {
        let patterns = |schema: &&&Value| schema.get("patternProperties").is_none();
        let said = self.together.iter().filter(patterns).filter_map(|schema| schema.get("additionalProperties"));
        Self::part(said, references)
    }

    /// Returns the promise about the element at an index.
    pub(super) fn element(
        &self,
        index: usize,
        references: &References<'v>,
    ) -> Result<PartPromise<'v>, ContainmentError> {
        let said = self.together.iter().filter_map(|schema| {
            let first = schema.get("prefixItems").filter(|_| references.prefix);
            first.and_then(|first| first.get(index)).or_else(|| Self::items(schema))
        });
        Self::part(said, references)
    }

    /// Returns the promise about elements beyond those that schemas list by index.
    pub(super) fn elements(&self, references: &References<'v>) -> Result<PartPromise<'v>, ContainmentError> {
        Self::part(self.together.iter().filter_map(|schema| Self::items(schema)), references)
    }

    /// Returns the largest number of elements that a schema lists by index.
    pub(super) fn first(&self, references: &References<'v>) -> usize {
        self.each("prefixItems")
            .filter(|_| references.prefix)
            .filter_map(Value::as_array)
            .map(Vec::len)
            .max()
            .unwrap_or(0)
    }

    /// Returns the schema in `items`. A list there (older dialects: the first elements) is ignored, which promises less.
    fn items(schema: &'v Value) -> Option<&'v Value> {
        schema.get("items").filter(|items| !items.is_array())
    }

    fn part(
        said: impl Iterator<Item = &'v Value>,
        references: &References<'v>,
    ) -> Result<PartPromise<'v>, ContainmentError> {
        let part = Self::all(said, references)?;
        Ok(if part.types.is_none() { PartPromise::Never } else { PartPromise::Is(part) })
    }

    /// Returns the largest value of lower-bound keywords.
    pub(super) fn at_least(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().flat_map(|key| self.each(key)).filter_map(Value::as_f64).reduce(f64::max)
    }

    /// Returns the smallest value of upper-bound keywords.
    pub(super) fn at_most(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().flat_map(|key| self.each(key)).filter_map(Value::as_f64).reduce(f64::min)
    }
}
