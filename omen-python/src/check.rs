//! Verdicts: `omen.check`, and the validator that is fed in chunks.

mod finding;
mod findings;
mod options;
mod source;
mod validator;

use pyo3::prelude::*;

pub(crate) use finding::loads;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<finding::Cause>()?;
    module.add_class::<finding::Finding>()?;
    module.add_class::<finding::Summary>()?;
    module.add_class::<findings::Findings>()?;
    module.add_class::<validator::Validator>()?;
    module.add_function(wrap_pyfunction!(findings::check, module)?)?;
    module.add_function(wrap_pyfunction!(findings::check_text, module)?)
}
