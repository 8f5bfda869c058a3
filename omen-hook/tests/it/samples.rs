//! Events in the form that each agent sends them.

use omen_hook::{Dialect, Event, EventError};
pub(crate) use omen_testkit::hook_events::{after, before};

/// Reads an event of an agent, in the environment that the agent sets.
pub(crate) fn read(agent: &str, text: &str) -> Result<Event, EventError> {
    let variable = |name: &str| (name == "COPILOT_CLI_BINARY_VERSION").then(|| "1.0.102".to_owned());
    Dialect::from_agent(agent).unwrap().read(text.as_bytes(), variable)
}
