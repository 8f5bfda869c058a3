//! Packets, and the objects in them.
//!
//! An object is its JSON text, which has passed the walk of its definition. Members are read where they are in the text, so that
//! everything comes back as it was, down to the digits of numbers.

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
