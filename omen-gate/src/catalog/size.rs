//! PG-2: limits on tool lists.

use serde::Serialize;

use super::Catalog;
use crate::base::{Blocked, GateCode, ServerName, size};
use crate::call::Tool;

/// Limits on one server's tool list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListLimits {
    pub(crate) tools: usize,
    /// Maximum JSON size in bytes.
    pub(crate) bytes: u64,
}

impl Catalog {
    /// Creates a catalogue from one server's list, within the configured limits.
    ///
    /// # Errors
    /// PG-2 if the list exceeds a limit.
    pub(crate) fn of_server(server: &ServerName, tools: Vec<Tool>, limits: ListLimits) -> Result<Self, Blocked> {
        within(limits, server, &tools)?;
        let mut catalog = Self::default();
        catalog.list(server.clone(), tools).map_err(|error| blocked(error.to_string()))?;
        Ok(catalog)
    }

    /// Checks that each server's list is within the limits.
    ///
    /// # Errors
    /// PG-2 if a list exceeds a limit.
    pub(crate) fn within(&self, limits: ListLimits) -> Result<(), Blocked> {
        self.servers.iter().try_for_each(|(server, tools)| {
            let tools: Vec<&Tool> = tools.values().map(|listed| listed.tool()).collect();
            within(limits, server, &tools)
        })
    }
}

fn within<T: Serialize>(limits: ListLimits, server: &ServerName, tools: &[T]) -> Result<(), Blocked> {
    if tools.len() > limits.tools {
        return Err(blocked(format!("the server `{server}` lists more than {} tools", limits.tools)));
    }
    if !size::fits(&tools, limits.bytes).unwrap_or(false) {
        return Err(blocked(format!("the tool list of the server `{server}` exceeds {} bytes", limits.bytes)));
    }
    Ok(())
}

fn blocked(message: String) -> Blocked {
    Blocked::new(GateCode::Pg2, message, "ask the operator to check the server or to raise the limit").quoting_nothing()
}
