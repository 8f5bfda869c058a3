//! Base class of all packets and of the objects in them.

use pyo3::prelude::*;

/// Object of the protocol: a packet, or a part of one. It is immutable, and matches its schema.
///
/// The members are keyword arguments and read-only attributes. An optional member that is `None` is absent, unless it may be
/// `null`.
#[pyclass(frozen, subclass, module = "omen.packets")]
pub(crate) struct Object {
    text: String,
}

/// Text of an object that was checked. Python cannot make one.
#[pyclass(frozen)]
pub(super) struct CheckedText(pub(super) String);

impl Object {
    /// Creates an object from a text that was checked.
    pub(super) fn new_checked(text: String) -> Self {
        Self { text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
