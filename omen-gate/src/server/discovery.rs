//! Discovery of the servers' tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use omen_base::Mutex;

use crate::base::{Blocked, GateCode, ServerName, ToolId};
use crate::call::{Fault, Tool, caught, guarded};
use crate::catalog::{Catalog, Listed, no_server};
use crate::config::Limits;
use crate::server::ToolServer;

/// Servers of a gate, with their last lists and the schemas compiled so far. A server is asked for its list right
/// before each call, because it may change its tools without an announcement; unchanged tools are not recompiled. For
/// earlier steps the last list is good enough, unless the server has announced a change.
#[derive(Debug)]
pub(crate) struct Discovery {
    servers: BTreeMap<ServerName, Arc<dyn ToolServer>>,
    limits: Mutex<Limits>,
    seen: Mutex<BTreeMap<ServerName, LastList>>,
}

#[derive(Debug)]
struct LastList {
    /// Revision of the server before its list was requested.
    revision: u64,
    tools: Arc<[Tool]>,
    catalog: Arc<Catalog>,
}

impl Discovery {
    pub(crate) fn new(servers: BTreeMap<ServerName, Arc<dyn ToolServer>>, limits: Limits) -> Self {
        Self { servers, limits: Mutex::new(limits), seen: Mutex::default() }
    }

    /// Sets the limits for reading lists. Earlier lists, which may exceed them, are forgotten.
    pub(crate) fn set_limits(&self, limits: Limits) {
        *self.limits.lock() = limits;
        self.seen.lock().clear();
    }

    fn limits(&self) -> Limits {
        self.limits.lock().clone()
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.keys()
    }

    /// Returns the tool as last listed by its server, unless the server has announced a change since. Because servers
    /// may change tools without an announcement, this is only good enough to let a request continue, which ends with a
    /// new list; it is not good enough to make or refuse a call.
    pub(crate) fn known(&self, tool: &ToolId) -> Result<Option<Arc<Listed>>, Blocked> {
        let name = &tool.server;
        let Some((seen, listed)) =
            self.seen.lock().get(name).map(|seen| (seen.revision, seen.catalog.get(tool).cloned()))
        else {
            return Ok(None);
        };
        let is_current = revision(name, &self.server(name)?)? == seen;
        Ok(listed.filter(|_| is_current))
    }

    /// Asks the tool's server for its list and finds the tool in it.
    pub(crate) async fn discover(&self, tool: &ToolId) -> Result<Arc<Listed>, Blocked> {
        let (_, catalog) = self.look(&tool.server).await?;
        catalog.find(tool).cloned()
    }

    /// Asks the tool's server for its list again, whether or not it announced changes. Returns the server if the tool
    /// still has the form in which it was checked.
    pub(crate) async fn unchanged(&self, listed: &Listed) -> Result<CheckedServer, Blocked> {
        let tool = listed.id();
        let (form, catalog) = self.look(&tool.server).await?;
        if !catalog.find(tool)?.is_still(listed) {
            let message = format!("the tool `{tool}` has changed since the call was checked against its schema");
            return Err(Blocked::new(GateCode::Pg3, message, "list the tools again, and plan the call anew"));
        }
        Ok(form)
    }

    /// Checks that a tool still has the form in which it was checked, asking the server only if it has announced a change.
    pub(crate) async fn unannounced(&self, listed: &Listed) -> Result<(), Blocked> {
        match self.known(listed.id())? {
            Some(known) if known.is_still(listed) => Ok(()),
            _ => self.unchanged(listed).await.map(drop),
        }
    }

    /// Asks for the list right before a call, and again until the server announces no change in the meantime. The call
    /// can then be made at once: nothing waits between the list and the call.
    pub(crate) async fn still(&self, listed: &Listed) -> Result<CheckedServer, Blocked> {
        let name = &listed.id().server;
        for _ in 0..MOST_TRIES {
            let form = self.unchanged(listed).await?;
            if revision(name, &form.server)? == form.revision {
                return Ok(form);
            }
        }
        let message = format!("the server `{name}` keeps reporting that its tools have changed");
        Err(Blocked::new(GateCode::Pg3, message, "fix the server: it must notify only on change"))
    }

    /// Asks a server for its list and returns it with the revision from before the request.
    async fn look(&self, name: &ServerName) -> Result<(CheckedServer, Arc<Catalog>), Blocked> {
        let server = self.server(name)?;
        let revision = revision(name, &server)?;
        let catalog = self.ask(name, Arc::clone(&server), revision).await?;
        Ok((CheckedServer { server, revision }, catalog))
    }

    fn server(&self, name: &ServerName) -> Result<Arc<dyn ToolServer>, Blocked> {
        self.servers.get(name).cloned().ok_or_else(|| no_server(name, self.servers.keys()))
    }

    async fn ask(
        &self,
        name: &ServerName,
        server: Arc<dyn ToolServer>,
        revision: u64,
    ) -> Result<Arc<Catalog>, Blocked> {
        let limits = self.limits();
        let limit = Duration::from_secs(u64::from(limits.list_timeout_seconds));
        let asked = guarded(limit, async move { server.list_shared().await }).await;
        let tools = asked.map_err(|fault| unasked(name, &fault))?;
        if let Some(seen) = self.seen.lock().get_mut(name)
            && (Arc::ptr_eq(&seen.tools, &tools) || seen.tools == tools)
        {
            seen.revision = revision;
            return Ok(Arc::clone(&seen.catalog));
        }
        let catalog = Catalog::of_server(name, tools.to_vec(), limits.catalog())?;
        let catalog = Arc::new(catalog);
        self.seen.lock().insert(name.clone(), LastList { revision, tools, catalog: Arc::clone(&catalog) });
        Ok(catalog)
    }
}

/// Server at the revision at which a tool was checked.
#[derive(Debug)]
pub(crate) struct CheckedServer {
    pub(crate) server: Arc<dyn ToolServer>,
    pub(crate) revision: u64,
}

/// Maximum number of times a list is requested for one call to a server whose tools keep changing.
const MOST_TRIES: usize = 4;

/// Returns the revision of a server, whose code may panic.
fn revision(name: &ServerName, server: &Arc<dyn ToolServer>) -> Result<u64, Blocked> {
    caught(|| server.revision()).map_err(|fault| unasked(name, &fault))
}

fn unasked(name: &ServerName, fault: &Fault) -> Blocked {
    // The planner did not request the list, so it is not shown the server's message about it.
    let message = format!("cannot list the tools of the server `{name}`: {}", fault.typed());
    let reason = format!("cannot list the tools of the server `{name}`: {}", fault.unquoted());
    Blocked::new(GateCode::R3, message, "check that the server runs, then retry the request").unquoted_as(reason)
}
