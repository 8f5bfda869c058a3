//! Packets, and the objects in them.
//!
//! An object is its JSON text, which has been checked against its definition. Members are read from the text in place, so
//! everything is returned unchanged, down to the digits of numbers.

mod branch;
mod json_schema;
mod member;
mod methods;
mod write;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<branch::Branch>()?;
    module.add_class::<member::Object>()
}
