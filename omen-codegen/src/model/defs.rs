//! Definitions of the schemas: data types with their constraints.

use crate::pattern::Pattern;

/// Named definition.
#[derive(Clone, Debug)]
pub struct Def {
    /// Name, which is also the name of the Rust type.
    pub name: String,
    /// File that contains the definition.
    pub file: String,
    /// Description, which is also the Rust documentation.
    pub description: String,
    /// Kind and content.
    pub kind: Kind,
}

/// Kind of a definition.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A closed object.
    Object(Object),
    /// One of a fixed set of strings.
    Enum(Vec<Variant>),
    /// String with constraints.
    Text(TextRule),
    /// Integer within inclusive bounds.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Number within inclusive bounds.
    Number {
        /// Smallest value.
        min: Option<f64>,
        /// Largest value.
        max: Option<f64>,
    },
    /// One of several definitions, distinguished by JSON type.
    Union(Vec<String>),
    /// Free-form object with a minimum number of fields.
    FreeObject {
        /// Minimum number of fields.
        min: usize,
    },
    /// Any JSON value.
    Any,
}

/// Constraint on a string.
#[derive(Clone, Debug)]
pub enum TextRule {
    /// Any string.
    Plain,
    /// Length in characters (Unicode scalar values), with inclusive bounds.
    Length {
        /// Minimum number of characters.
        min: usize,
        /// Maximum number of characters.
        max: Option<usize>,
    },
    /// Prefix, followed by one or more characters of a class.
    Pattern {
        /// Pattern as in the schema.
        source: String,
        /// Parsed pattern.
        pattern: Pattern,
    },
    /// An RFC 3339 timestamp.
    DateTime,
}

/// Value of an enum.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name in JSON.
    pub wire: String,
    /// Rust name, as typify declares it.
    pub name: String,
    /// Description.
    pub description: String,
    /// Maximum age of evidence in seconds, if the value is a freshness class that has one.
    pub stale_after: Option<u64>,
}

/// Closed object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Fields, in schema order.
    pub fields: Vec<Field>,
    /// Conditional requirements.
    pub conditionals: Vec<Conditional>,
    /// Branches of the conditionals, each with its own builder.
    pub branches: Vec<Branch>,
    /// Packet type, if this is a packet's root.
    pub packet: Option<String>,
    /// Pattern for the names of additional fields, and its description; `None` if they are not permitted.
    pub metadata: Option<(String, String)>,
}

/// Field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in JSON.
    pub name: String,
    /// Description.
    pub description: String,
    /// Type of the value.
    pub ty: Ty,
    /// Whether the field is required.
    pub required: bool,
    /// Rules that a schema error in this field also violates.
    pub rules: Vec<String>,
    /// Example value, as JSON.
    pub example: Option<String>,
}

/// Type of a field's value.
#[derive(Clone, Debug)]
pub enum Ty {
    /// Value of a definition.
    Ref(String),
    /// `true` or `false`.
    Bool,
    /// Any string.
    PlainText,
    /// Any string, or `null`.
    NullableText,
    /// An array.
    Array {
        /// Type of its elements.
        item: Item,
        /// Minimum number of elements.
        min: usize,
        /// Maximum number of elements.
        max: Option<usize>,
    },
}

/// Type of an array's elements.
#[derive(Clone, Debug)]
pub enum Item {
    /// Values of a definition.
    Ref(String),
    /// Strings without constraints.
    PlainText,
}

/// Conditional requirement: `if` one field meets a condition, `then` another is required.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// Description.
    pub description: String,
    /// Field on which the requirement depends.
    pub subject: String,
    /// Condition on the subject.
    pub when: When,
    /// Field that is then required.
    pub requires: String,
    /// Whether that field must then be a non-empty string.
    pub non_empty: bool,
    /// Rules that this conditional expresses.
    pub rules: Vec<String>,
}

/// Condition of a conditional requirement.
#[derive(Clone, Debug)]
pub enum When {
    /// The subject has one of these values.
    OneOf(Vec<String>),
    /// The subject is an empty array.
    Empty,
}

/// Case of a conditional's subject, with its builder.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Field that distinguishes the branches.
    pub subject: String,
    /// Case of that field.
    pub case: Case,
    /// Name of the function that starts the builder.
    pub name: String,
    /// Description of an object of this branch, for the documentation.
    pub description: String,
    /// Fields that are meaningless here, each with advice.
    pub leaves_out: Vec<(String, String)>,
    /// Required fields with values that are excluded here.
    pub excludes: Vec<Excluded>,
}

/// Values of a field that a branch excludes.
#[derive(Clone, Debug)]
pub struct Excluded {
    /// Field, whose type is an enum.
    pub member: String,
    /// Excluded values, each with advice.
    pub values: Vec<(String, String)>,
}

/// Case of a conditional's subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// The subject has this enum value.
    Value(String),
    /// The subject is absent.
    Absent,
    /// The subject is an empty array.
    Empty,
    /// The subject is a non-empty array.
    Filled,
}

/// Requirement imposed by some values of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand<'m> {
    /// Field on which the requirement depends.
    pub subject: &'m str,
    /// Enum values that impose the requirement.
    pub values: Vec<&'m str>,
    /// Field that is then required.
    pub requires: &'m str,
}

impl Object {
    /// Returns the conditionals on enum values, merged by subject and required field.
    #[must_use]
    pub fn demands(&self) -> Vec<Demand<'_>> {
        let mut demands: Vec<Demand<'_>> = Vec::new();
        for conditional in &self.conditionals {
            let When::OneOf(values) = &conditional.when else { continue };
            let values = values.iter().map(String::as_str);
            let (subject, requires) = (conditional.subject.as_str(), conditional.requires.as_str());
            match demands.iter_mut().find(|other| (other.subject, other.requires) == (subject, requires)) {
                Some(other) => other.values.extend(values),
                None => demands.push(Demand { subject, values: values.collect(), requires }),
            }
        }
        demands
    }

    /// Returns a field, by name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Ty {
    /// Returns the name of the definition, if this is a plain reference.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        match self {
            Ty::Ref(name) => Some(name),
            _ => None,
        }
    }
}

impl Branch {
    /// Returns whether a conditional applies to every object of this branch.
    #[must_use]
    pub fn meets(&self, conditional: &Conditional) -> bool {
        let holds = match (&conditional.when, &self.case) {
            (When::OneOf(values), Case::Value(value)) => values.contains(value),
            (When::Empty, Case::Empty) => true,
            _ => false,
        };
        holds && conditional.subject == self.subject
    }
}

impl Object {
    /// Returns the conditionals that apply to every object of a branch.
    pub fn demanded_by(&self, branch: &Branch) -> impl Iterator<Item = &Conditional> {
        self.conditionals.iter().filter(|conditional| branch.meets(conditional))
    }
}
