//! The steps, each written out once, in a file that is called like its method. The build makes the method
//! of it, for the state that the pipeline says.

pub(crate) mod authorize;
pub(crate) mod conform;
pub(crate) mod dispatch;
pub(crate) mod ground;
pub(crate) mod plan;
pub(crate) mod screen;
pub(crate) mod type_output;
