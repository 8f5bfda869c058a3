//! What the servers list now.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Gate;
use crate::catalog::{Catalog, Listed, no_server};
use crate::fault::caught;
use crate::server::ToolServer;
use crate::tool::Tool;
use crate::{Blocked, Code, Fault, ServerName, ToolId, guarded};

/// The lists that servers gave last, with those of their schemas compiled that were asked for. A server is asked each
/// time; what it says again is not compiled again.
#[derive(Debug, Default)]
pub(super) struct Discovery(Mutex<BTreeMap<ServerName, Seen>>);

#[derive(Debug)]
struct Seen {
    /// The server's revision before it was asked.
    revision: u64,
    tools: Vec<Tool>,
    catalog: Arc<Catalog>,
}

impl Discovery {
    /// A list is replaced as a whole.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerName, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    /// Asks the tool's server for its list, and finds the tool in it.
    pub(crate) async fn discover(&self, tool: &ToolId) -> Result<Arc<Listed>, Blocked> {
        let server = self.server(&tool.server)?;
        let revision = revision(&tool.server, &server)?;
        let catalog = self.ask(&tool.server, server, revision).await?;
        catalog.find(tool).cloned()
    }

    /// Gives the server of a tool, if the tool is still in the form in which it was looked at. Where the server's
    /// revision is another one, it is asked again.
    pub(crate) async fn unchanged(&self, listed: &Listed) -> Result<Form, Blocked> {
        let tool = listed.id();
        let server = self.server(&tool.server)?;
        let revision = revision(&tool.server, &server)?;
        let seen = self
            .0
            .discovery
            .lock()
            .get(&tool.server)
            .filter(|seen| seen.revision == revision)
            .map(|seen| Arc::clone(&seen.catalog));
        let now = match seen {
            Some(catalog) => catalog,
            None => self.ask(&tool.server, Arc::clone(&server), revision).await?,
        };
        if now.find(tool)?.tool() != listed.tool() {
            let message = format!("the tool `{tool}` has changed since the call was held against its schema");
            return Err(Blocked::new(Code::Pg3, message, "plan the call again, against the tool as it is now"));
        }
        Ok(Form { server, revision })
    }

    /// Whether that is so now, too, and does not have to be asked again: then the call can be made at once.
    pub(crate) async fn still(&self, listed: &Listed, mut form: Form) -> Result<Form, Blocked> {
        let name = &listed.id().server;
        for _ in 0..MOST_TRIES {
            if revision(name, &form.server)? == form.revision {
                return Ok(form);
            }
            form = self.unchanged(listed).await?;
        }
        let message = format!("the server `{name}` says all the time that its tools have changed");
        Err(Blocked::new(Code::Pg3, message, "mend the server: it is to say so when they have changed, and then only"))
    }

    fn server(&self, name: &ServerName) -> Result<Arc<dyn ToolServer>, Blocked> {
        self.0.servers.get(name).cloned().ok_or_else(|| no_server(name, self.0.servers.keys()))
    }

    async fn ask(
        &self,
        name: &ServerName,
        server: Arc<dyn ToolServer>,
        revision: u64,
    ) -> Result<Arc<Catalog>, Blocked> {
        let limits = self.limits();
        let limit = Duration::from_secs(u64::from(limits.list_timeout_seconds));
        let tools = guarded(limit, async move { server.list().await }).await.map_err(|fault| unasked(name, &fault))?;
        if let Some(seen) = self.0.discovery.lock().get_mut(name)
            && seen.tools == tools
        {
            seen.revision = revision;
            return Ok(Arc::clone(&seen.catalog));
        }
        let catalog = Catalog::of_server(name, tools.clone(), limits)?;
        let catalog = Arc::new(catalog);
        self.0.discovery.lock().insert(name.clone(), Seen { revision, tools, catalog: Arc::clone(&catalog) });
        Ok(catalog)
    }
}

/// A server, at the revision at which a tool was looked at.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) server: Arc<dyn ToolServer>,
    pub(crate) revision: u64,
}

/// How often a server whose tools have changed is asked again for one call.
const MOST_TRIES: usize = 4;

/// The server's own code tells it, and may panic.
fn revision(name: &ServerName, server: &Arc<dyn ToolServer>) -> Result<u64, Blocked> {
    caught(|| server.revision()).map_err(|fault| unasked(name, &fault))
}

fn unasked(name: &ServerName, fault: &Fault) -> Blocked {
    let message = format!("the server `{name}` cannot be asked for its tools: {fault}");
    Blocked::new(Code::R3, message, "see that the server runs; then make the request anew")
}
