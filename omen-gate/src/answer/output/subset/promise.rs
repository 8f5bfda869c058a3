//! What a value is promised to be: a number of schemas that apply together.

use serde_json::{Map, Value};

use super::references::References;
use super::unfit::Unfit;

/// JSON types, as a set. An integer is a number, too; the other numbers are apart.
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

    /// Those that `type` of a schema allows; all, if it says nothing.
    pub(super) fn of(schema: &Value) -> Self {
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

    /// Each one by itself.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        (0..7).map(|bit| Self(1 << bit)).filter(move |one| !self.and(*one).is_none())
    }

    /// Such as `string or null`.
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

/// Schemas that apply together to a value, and the types that it may have.
#[derive(Clone, Debug)]
pub(super) struct Promise<'v> {
    pub(super) together: Vec<&'v Value>,
    pub(super) types: Types,
}

/// What is promised of members or elements.
pub(super) enum Part<'v> {
    /// There is none.
    Never,
    /// It is this.
    Is(Promise<'v>),
}

impl<'v> Promise<'v> {
    pub(super) fn of(schema: &'v Value, references: &References<'v>) -> Result<Self, Unfit> {
        Self::all([schema], references)
    }

    pub(super) fn all(
        schemas: impl IntoIterator<Item = &'v Value>,
        references: &References<'v>,
    ) -> Result<Self, Unfit> {
        let mut promise = Self { together: Vec::new(), types: Types::ALL };
        for schema in schemas {
            promise.together.extend(references.together(schema)?);
        }
        promise.types = promise.together.iter().fold(Types::ALL, |types, schema| types.and(Types::of(schema)));
        Ok(promise)
    }

    /// With one more schema.
    pub(super) fn and(&self, schema: &'v Value, references: &References<'v>) -> Result<Self, Unfit> {
        let more = Self::of(schema, references)?;
        let together = self.together.iter().copied().chain(more.together).collect();
        Ok(Self { together, types: self.types.and(more.types) })
    }

    /// Whether a value is of one of the types.
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

    /// What the schemas have under a key.
    pub(super) fn each(&self, key: &str) -> impl Iterator<Item = &'v Value> {
        self.together.iter().filter_map(move |schema| schema.get(key))
    }

    pub(super) fn has(&self, key: &str, value: &Value) -> bool {
        self.each(key).any(|promised| promised == value)
    }

    /// The values that one of the schemas lists, if one does.
    pub(super) fn values(&self) -> Option<Vec<&'v Value>> {
        let listed = self.each("enum").find_map(Value::as_array).map(|values| values.iter().collect());
        self.each("const").next().map(|value| vec![value]).or(listed)
    }

    pub(super) fn requires(&self, key: &str) -> bool {
        self.each("required").filter_map(Value::as_array).flatten().any(|required| required == key)
    }

    /// All members that are named.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'v String> {
        self.each("properties").filter_map(Value::as_object).flat_map(Map::keys)
    }

    /// What is promised of the member of a name.
    pub(super) fn member(&self, key: &str, references: &References<'v>) -> Result<Part<'v>, Unfit> {
        let said = self.together.iter().filter_map(|schema| match schema.get("properties").and_then(|p| p.get(key)) {
            Some(member) => Some(member),
            // It may match a pattern, and then `additionalProperties` is not about it.
            None if schema.get("patternProperties").is_some() => None,
            None => schema.get("additionalProperties"),
        });
        Self::part(said, references)
    }

    /// What is promised of members that no schema names.
    pub(super) fn others(&self, references: &References<'v>) -> Result<Part<'v>, Unfit> {
        let patterns = |schema: &&&Value| schema.get("patternProperties").is_none();
        let said = self.together.iter().filter(patterns).filter_map(|schema| schema.get("additionalProperties"));
        Self::part(said, references)
    }

    /// What is promised of one element of an array.
    pub(super) fn element(&self, index: usize, references: &References<'v>) -> Result<Part<'v>, Unfit> {
        let said = self.together.iter().filter_map(|schema| {
            let first = schema.get("prefixItems").filter(|_| references.prefix);
            first.and_then(|first| first.get(index)).or_else(|| Self::items(schema))
        });
        Self::part(said, references)
    }

    /// What is promised of the elements that no schema has by their index.
    pub(super) fn elements(&self, references: &References<'v>) -> Result<Part<'v>, Unfit> {
        Self::part(self.together.iter().filter_map(|schema| Self::items(schema)), references)
    }

    /// How many elements some schema has by their index.
    pub(super) fn first(&self, references: &References<'v>) -> usize {
        self.each("prefixItems")
            .filter(|_| references.prefix)
            .filter_map(Value::as_array)
            .map(Vec::len)
            .max()
            .unwrap_or(0)
    }

    /// In older dialects a list under `items` is about the first elements; it is left out, which promises less.
    fn items(schema: &'v Value) -> Option<&'v Value> {
        schema.get("items").filter(|items| !items.is_array())
    }

    fn part(said: impl Iterator<Item = &'v Value>, references: &References<'v>) -> Result<Part<'v>, Unfit> {
        let part = Self::all(said, references)?;
        Ok(if part.types.is_none() { Part::Never } else { Part::Is(part) })
    }

    /// The largest value of keys that bound from below.
    pub(super) fn at_least(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().flat_map(|key| self.each(key)).filter_map(Value::as_f64).reduce(f64::max)
    }

    /// The smallest value of keys that bound from above.
    pub(super) fn at_most(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().flat_map(|key| self.each(key)).filter_map(Value::as_f64).reduce(f64::min)
    }
}
