//! PG-1 and PG-T.

use crate::Blocked;
use crate::pipeline::{Planned, Request, Screened, Terminal, Way};
use crate::plan::Plan;

/// Reads what the planner wrote: exactly one JSON object.
///
/// # Errors
/// If it is something else (PG-1), or a final answer that asks for nothing (PG-T); or if that cannot be
/// recorded (A1).
pub(crate) async fn plan(request: Request<Screened>, output: &str) -> Result<Way, Blocked> {
    let plan = Plan::parse(output, &request.gate.plan_limits());
    match request.check(plan).await? {
        Plan::CallTool(call) => Ok(Way::Call(request.at(|_| Planned { call }))),
        Plan::FinalAnswer(answer) => {
            request.ended("final_answer").await?;
            let ended: Request<Terminal> = request.at(|_| Terminal { answer });
            Ok(Way::Terminal(ended))
        }
    }
}
