//! Admission of one call by a breaker.

use std::sync::Arc;

use super::shared::SharedBreakers;
use super::state::CallEnd;
use crate::base::ToolName;
use crate::call::fault::Fault;

/// Admission of one call. The holder reports how the call ended. Dropping it without a report, as when a future is
/// cancelled or code panics, counts as a failure and frees the probe.
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
    shared: Arc<SharedBreakers>,
    tool: ToolName,
    generation: u64,
    end: CallEnd,
}

impl Admission {
    pub(super) fn new(shared: Arc<SharedBreakers>, tool: ToolName, generation: u64) -> Self {
        Self { shared, tool, generation, end: CallEnd::Failure }
    }

    /// Reports that the tool answered.
    pub fn success(mut self) {
        self.end = CallEnd::Success;
    }

    /// Reports that the call failed.
    pub fn failure(self) {}

    /// Reports the end of the call: a success to the breaker unless the fault is the tool's.
    pub fn resolve(mut self, fault: Option<&Fault>) {
        if fault.is_none_or(|fault| !fault.class().trips_breaker()) {
            self.end = CallEnd::Success;
        }
    }

    /// Reports that the call was not made, because something else forbade it. Nothing is counted, and a probe is freed.
    pub fn unused(mut self) {
        self.end = CallEnd::Unused;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.shared.resolve(&self.tool, self.generation, self.end);
    }
}
