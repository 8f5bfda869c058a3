//! Leave to make one call.

use std::sync::Arc;

use super::shared::Shared;
use super::state::End;
use crate::base::ToolName;
use crate::call::fault::Fault;

/// Leave to make one call. Its holder reports how the call went; if it is dropped without a report, as when a future is
/// cancelled or code panics, that counts as a failure, and a probe is free again.
///
/// ```compile_fail,E0382
/// # fn f(admission: omen_gate::breaker::Admission) {
/// admission.success();
/// admission.failure(); // One call, one end.
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it counts as a failure"]
pub struct Admission {
    shared: Arc<Shared>,
    tool: ToolName,
    generation: u64,
    end: End,
}

impl Admission {
    pub(super) fn new(shared: Arc<Shared>, tool: ToolName, generation: u64) -> Self {
        Self { shared, tool, generation, end: End::Failure }
    }

    /// The tool answered.
    pub fn success(mut self) {
        self.end = End::Success;
    }

    /// The call failed.
    pub fn failure(self) {}

    /// The call ended with this: a success to the breaker unless the fault speaks against the tool.
    pub fn resolve(mut self, fault: Option<&Fault>) {
        if fault.is_none_or(|fault| !fault.class().trips_breaker()) {
            self.end = End::Success;
        }
    }

    /// The call was not made after all, because something else forbade it. Nothing is counted, and a probe is free
    /// again.
    pub fn unused(mut self) {
        self.end = End::Unused;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.shared.resolve(&self.tool, self.generation, self.end);
    }
}
