//! Pages of `tools/list`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ServerLimits;
use crate::base::{ToolName, bounded};
use crate::call::{Fault, Tool};

/// Tool list that is assembled page by page.
#[derive(Debug)]
pub struct Listing<'l> {
    limits: &'l ServerLimits,
    tools: Vec<Tool>,
    names: BTreeSet<ToolName>,
    pages: usize,
    bytes: usize,
}

impl<'l> Listing<'l> {
    /// Begins an empty list.
    #[must_use]
    pub fn new(limits: &'l ServerLimits) -> Self {
        Self { limits, tools: Vec::new(), names: BTreeSet::new(), pages: 0, bytes: 0 }
    }

    /// Accepts a page and returns the cursor of the next one, if there is one.
    ///
    /// # Errors
    /// If the page violates the protocol or the list is too large. A partly invalid list is invalid as a whole: any
    /// choice of what to believe would be a guess.
    pub fn page(&mut self, mut page: Map<String, Value>) -> Result<Option<String>, Fault> {
        self.pages += 1;
        if self.pages > self.limits.pages {
            return malformed(&format!("the list of tools has more than {} pages", self.limits.pages));
        }
        let Some(Value::Array(tools)) = page.remove("tools") else {
            return malformed("missing array `tools` in the list of tools");
        };
        for tool in tools {
            self.tool(tool)?;
        }
        match page.remove("nextCursor") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(cursor)) => Ok(Some(cursor)),
            Some(_) => malformed("the cursor of the list of tools is not a string"),
        }
    }

    fn tool(&mut self, tool: Value) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(tool.to_string().len());
        if self.bytes > self.limits.list_bytes {
            return Err(Fault::Oversized { limit: u64::try_from(self.limits.list_bytes).unwrap_or(u64::MAX) });
        }
        if self.tools.len() >= self.limits.tools {
            return malformed(&format!("the list has more than {} tools", self.limits.tools));
        }
        let tool: Tool = match serde_json::from_value(tool) {
            Ok(tool) => tool,
            Err(error) => return malformed(&format!("invalid tool in the list: {error}")),
        };
        if !self.names.insert(tool.name.clone()) {
            return malformed(&format!("duplicate tool `{}` in the list", tool.name));
        }
        self.tools.push(tool);
        Ok(())
    }

    /// Returns the tools of all pages.
    #[must_use]
    pub fn finish(self) -> Vec<Tool> {
        self.tools
    }
}

fn malformed<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Malformed { why: bounded(why) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::{Listing, ServerLimits};
    use crate::call::Fault;

    fn page(page: Value) -> Result<Option<String>, Fault> {
        let limits = ServerLimits { tools: 2, ..ServerLimits::default() };
        Listing::new(&limits).page(serde_json::from_value(page).unwrap())
    }

    #[track_caller]
    fn refused(bad: Value, why: &str) {
        match page(bad) {
            Err(Fault::Malformed { why: said }) => assert!(said.contains(why), "{said}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_is_taken_whole_or_not_at_all() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        refused(json!({}), "missing array `tools`");
        refused(json!({"tools": [tool("a"), tool("a")]}), "duplicate tool `a`");
        refused(json!({"tools": [tool("a b")]}), "invalid tool name");
        refused(json!({"tools": [{"name": "a"}]}), "inputSchema");
        refused(json!({"tools": [{"name": "a", "inputSchema": true}]}), "invalid tool in the list");
        refused(json!({"tools": [tool("a"), tool("b"), tool("c")]}), "more than 2 tools");
        refused(json!({"tools": [], "nextCursor": 1}), "is not a string");
        assert_eq!(page(json!({"tools": [tool("a")], "nextCursor": "x"})), Ok(Some("x".to_owned())));
        assert_eq!(page(json!({"tools": [], "nextCursor": null})), Ok(None));
    }

    #[test]
    fn a_list_is_bounded_by_bytes() {
        let limits = ServerLimits { list_bytes: 100, ..ServerLimits::default() };
        let long = json!({"tools": [{"name": "a", "inputSchema": {}, "description": "x".repeat(100)}]});
        let refused = Listing::new(&limits).page(serde_json::from_value(long).unwrap());
        assert_eq!(refused, Err(Fault::Oversized { limit: 100 }));
    }

    #[test]
    fn a_tool_keeps_every_member() {
        let tool = json!({
            "name": "a", "title": "A", "description": "d", "inputSchema": {"type": "object", "x-unknown": 1},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "x-more": [1, 2.5],
        });
        let limits = ServerLimits::default();
        let mut listing = Listing::new(&limits);
        listing.page(serde_json::from_value(json!({"tools": [tool]})).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(listing.finish()).unwrap(), json!([tool]));
    }
}
