//! Node of the schema graph.

use std::collections::BTreeMap;

/// Index of a schema in [`DeclaredKeys`](super::DeclaredKeys).
pub(super) type Id = usize;

/// Node of the schema graph: a schema's effect on members, and the cost of compiling and checking it.
#[derive(Debug, Default)]
pub(super) struct SchemaNode {
    /// Whether the schema has `properties` or `patternProperties`.
    pub(super) speaks: bool,
    pub(super) properties: BTreeMap<String, Id>,
    pub(super) patterns: Vec<(String, MatchComplexity, Id)>,
    /// `additionalProperties`: schema for members that match neither of the two fields above.
    pub(super) additional: Option<RestSchema>,
    /// `unevaluatedProperties`: schema for members that match no applying schema.
    pub(super) unevaluated: Option<RestSchema>,
    /// Schemas of the first array elements, by index.
    pub(super) first: Vec<Id>,
    /// Schema of the other array elements.
    pub(super) others: Option<Id>,
    /// Schema of the array elements that are valid against it.
    pub(super) contains: Option<ConditionalSchema>,
    /// Schemas that apply to the same value.
    pub(super) same: Vec<InPlaceSchema>,
    /// Target of the reference; also one of the schemas for the same value.
    pub(super) reference: Option<Id>,
    /// Whether the schema consists only of a reference.
    pub(super) only_refers: bool,
    /// Schemas that check values but name no keys.
    pub(super) silent: AssertionSchemas,
    pub(super) weight: SchemaSize,
}

/// Schemas that check values but name no keys.
#[derive(Debug, Default)]
pub(super) struct AssertionSchemas {
    /// Schemas for the same value: `not`, and `dependencies` in dialects with `dependentSchemas`.
    pub(super) same: Vec<Id>,
    /// Schema for the keys of an object.
    pub(super) keys: Option<Id>,
    /// Schemas for the elements of an array.
    pub(super) elements: Vec<Id>,
}

/// Size of a schema without its subschemas.
#[derive(Debug, Default)]
pub(super) struct SchemaSize {
    /// Size of all keywords, in bytes.
    pub(super) bytes: usize,
    /// Size of constraining keywords, in bytes.
    pub(super) demands: usize,
    pub(super) pattern: Option<MatchComplexity>,
    /// Whether elements are compared with each other.
    pub(super) unique: bool,
    /// Whether the schema has `unevaluatedProperties` or `unevaluatedItems`, which process everything that applies a
    /// second time.
    pub(super) unevaluated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchComplexity {
    /// Time linear in the length of the text.
    Linear,
    /// Backtracking up to a limit.
    GoesBack,
}

/// Schema that applies if the value is valid against a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionalSchema {
    pub(super) by: Id,
    pub(super) id: Id,
}

/// Schema for all other members.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestSchema {
    pub(super) id: Id,
    /// Whether the schema constrains anything.
    pub(super) demands: bool,
}

/// Schema that applies to the same value.
#[derive(Debug)]
pub(super) enum InPlaceSchema {
    Always(Id),
    /// Applies if the value is valid.
    Valid(ConditionalSchema),
    /// Applies if the value is not valid.
    Invalid(ConditionalSchema),
    /// Applies if the value has the key.
    Key(String, Id),
}

impl InPlaceSchema {
    pub(super) fn id(&self) -> Id {
        match self {
            Self::Always(id) | Self::Key(_, id) => *id,
            Self::Valid(test) | Self::Invalid(test) => test.id,
        }
    }

    pub(super) fn test(&mut self) -> Option<&mut ConditionalSchema> {
        match self {
            Self::Valid(test) | Self::Invalid(test) => Some(test),
            Self::Always(_) | Self::Key(..) => None,
        }
    }
}

impl SchemaNode {
    /// Returns whether the schema applies other schemas to members or elements.
    pub(super) fn looks_within(&self) -> bool {
        self.looks_at_members() || self.looks_at_elements()
    }

    pub(super) fn looks_at_members(&self) -> bool {
        self.speaks || self.additional.is_some() || self.unevaluated.is_some() || self.silent.keys.is_some()
    }

    pub(super) fn looks_at_elements(&self) -> bool {
        let some = self.others.is_some() || self.contains.is_some() || self.weight.unique;
        some || !self.first.is_empty() || !self.silent.elements.is_empty()
    }

    /// Iterates over the schemas that apply, or may apply, to the same value.
    pub(super) fn same_value(&self) -> impl Iterator<Item = Id> {
        self.same.iter().map(InPlaceSchema::id).chain(self.silent.same.iter().copied())
    }

    /// Iterates over the schemas that apply, or may apply, to members or elements.
    pub(super) fn within(&self) -> impl Iterator<Item = Id> {
        let members = self.properties.values().copied().chain(self.patterns.iter().map(|(_, _, id)| *id));
        let rest = [self.additional, self.unevaluated].into_iter().flatten().map(|rest| rest.id);
        let elements = self.first.iter().copied().chain(self.others).chain(self.contains.map(|test| test.id));
        let silent = self.silent.keys.into_iter().chain(self.silent.elements.iter().copied());
        members.chain(rest).chain(elements).chain(silent)
    }
}
