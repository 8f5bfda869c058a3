//! Name of a server, derived from its command or address.

use omen_gate::ServerName;

use crate::gate::commands::{is_launcher, stem};

/// Returns the name of the package or program, without affixes common to all servers: `filesystem` for
/// `npx -y @modelcontextprotocol/server-filesystem ./data`.
pub(super) fn of_command(command: &[String]) -> Option<ServerName> {
    let words = || command.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    // The first word that is not a launcher is the program; a launcher alone is itself the server.
    let word = words().find(|word| !is_launcher(word)).or_else(|| words().next()).unwrap_or_default();
    let package = word.rsplit_once('/').map_or(word, |(_, name)| name);
    // Cut off a version, as in `server@1.2`.
    let package = package.split_once('@').map_or(package, |(name, _)| name);
    let mut name = stem(package);
    for prefix in ["mcp-server-", "mcp_server_", "server-", "mcp-"] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    for suffix in ["-mcp-server", "_mcp_server", "-server", "_server", "-mcp", "_mcp"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    ServerName::new(name.trim_matches(['-', '_'])).ok()
}

/// Returns the organisation's name from the host of an address: `example` for `https://mcp.example.com/mcp`; `None` for an
/// address without one.
pub(super) fn of_address(url: &str) -> Option<ServerName> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    let labels: Vec<_> = host.split('.').collect();
    // The last label is a top-level domain; a number belongs to an IP address.
    let names = labels.get(..labels.len().checked_sub(1)?)?;
    let is_name = |label: &&&str| label.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut names = names.iter().filter(is_name).filter(|label| !["api", "mcp", "www"].contains(*label));
    ServerName::new(names.next_back()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{of_address, of_command};

    #[test]
    fn what_is_started_names_it() {
        for (command, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem ./data", "filesystem"),
            ("npx -y @modelcontextprotocol/server-everything@2026.8.31", "everything"),
            ("uvx mcp-server-git --repository .", "git"),
            ("node build/index.js", "index"),
            ("/usr/local/bin/github-mcp-server stdio", "github"),
            ("./server", "server"),
            ("python3 tools/weather_server.py", "weather"),
            ("npx", "npx"),
            ("---", ""),
            ("\u{202e}", ""),
        ] {
            let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(of_command(&words).as_ref().map_or("", |name| name.as_str()), name, "{command}");
        }
    }
    #[test]
    fn a_host_names_a_server() {
        for (url, name) in [
            ("https://mcp.example.com/mcp", "example"),
            ("https://example.com:8443/mcp?x=a.b", "example"),
            ("https://mcp.dev/", ""),
            ("http://localhost:3001/mcp", ""),
            ("http://127.0.0.1:3001/mcp", ""),
            ("http://[::1]:3001/mcp", ""),
        ] {
            assert_eq!(of_address(url).as_ref().map_or("", |name| name.as_str()), name, "{url}");
        }
    }
}
