//! Names by which a client knows the tools and prompts of several servers: `SERVER__NAME`. The first `__` ends the server name.

use omen_gate::{ServerName, bounded};

use omen_mcp::json;

/// Separator between the name of a server and the name of a tool or a prompt.
const SEPARATOR: &str = "__";

/// Maximum number of characters that clients accept in a tool name: the protocol's own limit, and that of common model APIs.
pub(crate) const LONGEST: usize = 128;
const LONGEST_OF_MODELS: usize = 64;

/// Maximum number of servers for one client.
const MOST_SERVERS: usize = 64;

/// Reason why servers cannot be proxied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadServers {
    /// There are no servers.
    #[error("expected at least one server")]
    None,
    /// There are more servers than a client may have.
    #[error("expected at most {MOST_SERVERS} servers, found {0}")]
    TooMany(usize),
    /// The first separator in a prefixed name would not directly follow the server name.
    #[error(
        "the server name `{0}` contains `__` or ends with `_`; rename the server: its tools are listed as `SERVER__NAME`, and the \
         first `__` ends the name of the server"
    )]
    Separator(ServerName),
    /// Some readers treat the two names as equal.
    #[error("the server names `{0}` and `{1}` differ only in case; rename one of them")]
    Similar(ServerName, ServerName),
    /// The configuration has no server with this name.
    #[error("the configuration has no server `{0}`")]
    Unknown(ServerName),
}

/// Checks that each name identifies its server unambiguously.
pub(crate) fn check_servers(names: &[&ServerName]) -> Result<(), BadServers> {
    if names.is_empty() {
        return Err(BadServers::None);
    }
    if names.len() > MOST_SERVERS {
        return Err(BadServers::TooMany(names.len()));
    }
    // The tools of an only server keep their names.
    if names.len() == 1 {
        return Ok(());
    }
    for (at, name) in names.iter().enumerate() {
        if prefixed(name, "").find(SEPARATOR) != Some(name.as_str().len()) {
            return Err(BadServers::Separator((*name).clone()));
        }
        let others = names.iter().take(at);
        if let Some(other) = others.into_iter().find(|other| json::same_folded(other.as_str(), name.as_str())) {
            return Err(BadServers::Similar((*other).clone(), (*name).clone()));
        }
    }
    Ok(())
}

/// Returns the name by which a client knows an item of a server.
pub(crate) fn prefixed(server: &ServerName, name: &str) -> String {
    format!("{server}{SEPARATOR}{name}")
}

/// Splits a name into the name of a server and the name by which that server knows the item.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR).filter(|(server, name)| !server.is_empty() && !name.is_empty())
}

/// Returns whether common clients and model APIs accept a name.
pub(crate) fn is_plain(name: &str) -> bool {
    name.chars().count() <= LONGEST_OF_MODELS
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Formats server names for messages.
pub(crate) fn shown<'n>(names: impl IntoIterator<Item = &'n ServerName>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{}`", bounded(name.as_str()))).collect();
    names.join(", ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use omen_gate::ServerName;

    use super::{BadServers, check_servers, is_plain, prefixed, split};

    fn all(names: &[&str]) -> Result<(), BadServers> {
        let names: Vec<ServerName> = names.iter().map(|name| name.parse().unwrap()).collect();
        check_servers(&names.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_prefixed_name_is_split_into_what_it_was_made_of() {
        for server in ["files", "_f", "a_b", "a-b", "é", "a.b"] {
            for tool in ["read", "_read", "__read", "a__b", "_", "é__"] {
                let name = server.parse().unwrap();
                assert_eq!(check_servers(&[&name]), Ok(()), "{server}");
                assert_eq!(split(&prefixed(&name, tool)), Some((server, tool)));
            }
        }
        for none in ["", "read", "a_b", "__read", "files__"] {
            assert_eq!(split(none), None, "{none}");
        }
    }

    #[test]
    fn servers_whose_names_leave_a_doubt_cannot_share_a_client() {
        for bad in ["a__b", "__a", "a_", "_", "a__"] {
            assert!(matches!(all(&["x", bad]), Err(BadServers::Separator(_))), "{bad}");
        }
        assert!(matches!(all(&["files", "Files"]), Err(BadServers::Similar(..))));
        assert!(matches!(all(&["s", "ſ"]), Err(BadServers::Similar(..))));
        assert_eq!(all(&[]), Err(BadServers::None));
        let many: Vec<_> = (0..65).map(|n| n.to_string()).collect();
        assert_eq!(all(&many.iter().map(String::as_str).collect::<Vec<_>>()), Err(BadServers::TooMany(65)));
        assert_eq!(all(&["a", "b"]), Ok(()));
    }

    #[test]
    fn names_that_model_apis_refuse_are_found() {
        assert!(is_plain("files__read-file") && is_plain(&"a".repeat(64)));
        assert!(!is_plain(&"a".repeat(65)) && !is_plain("files__read.file") && !is_plain("é"));
    }
}
