//! What one schema says, as a node that leads to others.

use std::collections::BTreeMap;

/// A schema, by its place in [`Names`](super::Names).
pub(super) type Id = usize;

/// What one schema says of the members of a value, and what it takes to compile it and to judge by it.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Whether it has `properties` or `patternProperties`.
    pub(super) speaks: bool,
    pub(super) properties: BTreeMap<String, Id>,
    pub(super) patterns: Vec<(String, Pattern, Id)>,
    /// `additionalProperties`: for what neither of the two above has.
    pub(super) additional: Option<Rest>,
    /// `unevaluatedProperties`: for what no schema that applies has.
    pub(super) unevaluated: Option<Rest>,
    /// Of the elements of an array, the first ones.
    pub(super) first: Vec<Id>,
    /// Of the elements of an array, the others.
    pub(super) others: Option<Id>,
    /// Of the elements of an array, those that are valid against it.
    pub(super) contains: Option<Test>,
    /// Schemas for the same value.
    pub(super) same: Vec<Same>,
    /// What the reference leads to; it is among those for the same value.
    pub(super) reference: Option<Id>,
    /// Whether it is a reference, and nothing else.
    pub(super) only_refers: bool,
    /// What values are judged by and what names nothing.
    pub(super) silent: Silent,
    pub(super) weight: Weight,
}

/// Schemas that name nothing, though values are judged by them.
#[derive(Debug, Default)]
pub(super) struct Silent {
    /// For the same value: `not`, and `dependencies` in dialects that have `dependentSchemas` instead of it.
    pub(super) same: Vec<Id>,
    /// For the keys of an object.
    pub(super) keys: Option<Id>,
    /// For the elements of an array.
    pub(super) elements: Vec<Id>,
}

/// How large a schema is without those that are in it.
#[derive(Debug, Default)]
pub(super) struct Weight {
    /// All that it says, in bytes.
    pub(super) bytes: usize,
    /// What it demands, in bytes.
    pub(super) demands: usize,
    pub(super) pattern: Option<Pattern>,
    /// Whether elements are compared with each other.
    pub(super) unique: bool,
    /// Whether it has `unevaluatedProperties` or `unevaluatedItems`, for which all that applies is gone through again.
    pub(super) unevaluated: bool,
}

/// How long a match can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// As long as the text is.
    Linear,
    /// Until it has gone back too often.
    GoesBack,
}

/// A schema that applies if the value is valid against one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    pub(super) by: Id,
    pub(super) id: Id,
}

/// A schema for all other members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) id: Id,
    /// Whether it demands anything.
    pub(super) demands: bool,
}

/// A schema that applies to the same value.
#[derive(Debug)]
pub(super) enum Same {
    Always(Id),
    /// If the value is valid.
    Valid(Test),
    /// If the value is not valid.
    Invalid(Test),
    /// If the value has a key.
    Key(String, Id),
}

impl Same {
    pub(super) fn id(&self) -> Id {
        match self {
            Self::Always(id) | Self::Key(_, id) => *id,
            Self::Valid(test) | Self::Invalid(test) => test.id,
        }
    }

    pub(super) fn test(&mut self) -> Option<&mut Test> {
        match self {
            Self::Valid(test) | Self::Invalid(test) => Some(test),
            Self::Always(_) | Self::Key(..) => None,
        }
    }
}

impl Node {
    /// Whether it has anything to say of what is in a value.
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

    /// Those that apply to the same value, or may.
    pub(super) fn same_value(&self) -> impl Iterator<Item = Id> {
        self.same.iter().map(Same::id).chain(self.silent.same.iter().copied())
    }

    /// Those that apply to what is in a value, or may.
    pub(super) fn within(&self) -> impl Iterator<Item = Id> {
        let members = self.properties.values().copied().chain(self.patterns.iter().map(|(_, _, id)| *id));
        let rest = [self.additional, self.unevaluated].into_iter().flatten().map(|rest| rest.id);
        let elements = self.first.iter().copied().chain(self.others).chain(self.contains.map(|test| test.id));
        let silent = self.silent.keys.into_iter().chain(self.silent.elements.iter().copied());
        members.chain(rest).chain(elements).chain(silent)
    }
}
