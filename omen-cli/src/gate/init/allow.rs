//! Check of the tools named by `--allow`.

use omen::render::human::clean;
use omen_gate::catalog::{Catalog, Listed};
use omen_gate::{ServerName, ToolName};
use omen_types::suggest::nearest;

use crate::exit::Failure;

/// Checks that each tool is listed and can be allowed.
pub(super) fn check(tools: &[ToolName], server: &ServerName, catalog: &Catalog) -> Result<(), Failure> {
    let server = clean(server.as_str());
    for name in tools {
        let shown = clean(name.as_str());
        let Some(listed) = catalog.iter().find(|listed| listed.id().tool == *name) else {
            let names = || catalog.iter().map(|listed| listed.id().tool.as_str());
            let hint = match nearest(name.as_str(), names()) {
                Some(near) => format!("did you mean `{}`?", clean(near)),
                None => format!(
                    "its tools are {}",
                    names().map(|name| format!("`{}`", clean(name))).collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(Failure::Usage(format!("the server `{server}` lists no tool `{shown}`; {hint}")));
        };
        if let Some(why) = cannot(listed) {
            let why = clean(&why).into_owned();
            return Err(Failure::Usage(format!("the tool `{shown}` of `{server}` cannot be allowed: {why}")));
        }
    }
    Ok(())
}

fn cannot(listed: &Listed) -> Option<String> {
    let problem = listed.problem().map(ToString::to_string);
    problem.or_else(|| listed.pin().err().map(ToString::to_string))
}
