//! Permissions that the operator grants a tool.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Kind of effect. Server annotations such as `readOnlyHint` are claims and grant nothing (D47).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Permission {
    /// Reads data.
    Read,
    /// Changes data.
    Write,
    /// Runs a program.
    Execute,
    /// Communicates with other machines.
    Network,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Execute, Self::Network];

    /// Returns the name used in configurations and logs, such as `WRITE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Execute => "EXECUTE",
            Self::Network => "NETWORK",
        }
    }

    /// Returns whether using the permission needs a confirmation unless it is pre-granted (G3): all except [`Self::Read`] do.
    #[must_use]
    pub fn needs_confirmation(self) -> bool {
        self != Self::Read
    }
}

/// Written by hand as a single `enum`: the derived schema would have one branch per value.
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

/// Non-empty set of permissions. A tool without permissions would need no grant, but nothing runs without one (G1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Permission>")]
pub struct Permissions(BTreeSet<Permission>);

/// Error for an empty list of permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tool needs at least one permission")]
pub struct NoPermission;

impl Permissions {
    /// Creates the set; order and duplicates do not matter.
    ///
    /// # Errors
    /// If the list is empty.
    pub fn new(permissions: impl IntoIterator<Item = Permission>) -> Result<Self, NoPermission> {
        let set: BTreeSet<_> = permissions.into_iter().collect();
        if set.is_empty() { Err(NoPermission) } else { Ok(Self(set)) }
    }

    /// Returns whether the set contains a permission.
    #[must_use]
    pub fn contains(&self, permission: Permission) -> bool {
        self.0.contains(&permission)
    }

    /// Iterates over the permissions in order.
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

/// Writes the permissions separated by commas: `READ, WRITE`.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, permission) in self.iter().enumerate() {
            write!(f, "{}{permission}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
