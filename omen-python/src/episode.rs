//! Episodes: handles that are used once, the values that moves take, and the moves.
//!
//! The classes of states and values are written in Python, and hold the objects of this module. Every move goes through the
//! machine of `omen-fsm`, and a refused move leaves the episode as it was.

use pyo3::prelude::*;

mod convert;
mod decisions;
mod errors;
mod handle;
mod moves;
mod once;
mod setup;
mod tasks;

/// Adds the classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<handle::Handle>()?;
    module.add_class::<setup::LogFile>()?;
    module.add_class::<decisions::Arbitration>()?;
    module.add_class::<decisions::Order>()?;
    module.add_class::<decisions::Layer1Order>()?;
    module.add_class::<decisions::Proof>()?;
    module.add_class::<decisions::Verified>()?;
    module.add_class::<tasks::Permit>()?;
    module.add_class::<tasks::LiveToken>()?;
    module.add_class::<tasks::Directive>()?;
    module.add_class::<tasks::Task>()?;
    module.add_class::<tasks::Settled>()?;
    module.add_function(wrap_pyfunction!(setup::start, module)?)?;
    module.add_function(wrap_pyfunction!(setup::resume, module)?)?;
    module.add_function(wrap_pyfunction!(decisions::stakes_level, module)?)?;
    module.add_function(wrap_pyfunction!(errors::illegal_move, module)?)
}
