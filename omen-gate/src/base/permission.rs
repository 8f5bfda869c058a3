//! What a tool may do, as the operator says it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A kind of effect. What a server says of its tools (`readOnlyHint`) is a claim and grants nothing (D47).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Permission {
    /// To read something.
    Read,
    /// To change something.
    Write,
    /// To run a program.
    Execute,
    /// To reach beyond the machine.
    Network,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Execute, Self::Network];

    /// As it is written, such as `WRITE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Execute => "EXECUTE",
            Self::Network => "NETWORK",
        }
    }

    /// Whether its use needs a confirmation unless it is pre-granted (G3): everything but [`Self::Read`].
    #[must_use]
    pub fn needs_confirmation(self) -> bool {
        self != Self::Read
    }
}

/// A plain list of values: derived, it would be one schema for each value.
impl JsonSchema for Permission {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Permission".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::ALL.map(Self::as_str)})
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One or more permissions. The set is never empty: a tool that needed none would need no grant,
/// either, and nothing runs without one (G1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Permission>")]
pub struct Permissions(BTreeSet<Permission>);

/// A list of permissions with nothing in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tool needs at least one permission")]
pub struct NoPermission;

impl Permissions {
    /// Takes at least one; the order, and how often each comes, do not matter.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(permissions: impl IntoIterator<Item = Permission>) -> Result<Self, NoPermission> {
        let set: BTreeSet<_> = permissions.into_iter().collect();
        if set.is_empty() { Err(NoPermission) } else { Ok(Self(set)) }
    }

    /// Whether it is one of them.
    #[must_use]
    pub fn contains(&self, permission: Permission) -> bool {
        self.0.contains(&permission)
    }

    /// Each, once.
    pub fn iter(&self) -> impl Iterator<Item = Permission> + '_ {
        self.0.iter().copied()
    }
}

impl TryFrom<Vec<Permission>> for Permissions {
    type Error = NoPermission;

    fn try_from(permissions: Vec<Permission>) -> Result<Self, NoPermission> {
        Self::new(permissions)
    }
}

/// As in `READ, WRITE`.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, permission) in self.iter().enumerate() {
            write!(f, "{}{permission}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
