//! Servers reached over HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use url::{Host, Url};

use crate::base::bounded;

/// HTTP endpoint of a server: its address, and the headers sent with each request. A different address means a different server.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
    headers: BTreeMap<String, HeaderSource>,
    /// File with certificates (PEM) to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}

/// Source of a header value.
#[derive(Clone, PartialEq, Eq)]
pub enum HeaderSource {
    /// Literal value.
    Text(String),
    /// Environment variable, which keeps a secret out of the configuration.
    Env {
        /// Name of the variable.
        variable: String,
        /// Text before the variable's value, such as `Bearer `.
        prefix: String,
    },
}

/// Error for an unusable address or header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadEndpoint {
    message: String,
    help: String,
}

impl BadEndpoint {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// Returns the help: how to fix the error.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl Endpoint {
    /// Creates an endpoint with an address. An unencrypted address must be on this machine unless `plain_http` allows
    /// another one.
    ///
    /// # Errors
    /// If the address is not an `https` or `http` URL, contains a password or a fragment, or would be reached without
    /// encryption.
    pub fn new(url: &str, plain_http: bool) -> Result<Self, BadEndpoint> {
        // The message does not quote the address, which may contain a secret.
        let url = Url::parse(url).map_err(|error| {
            BadEndpoint::new(format!("invalid URL: {error}"), "write it as `https://example.com/mcp`")
        })?;
        if !matches!(url.scheme(), "https" | "http") {
            let message = format!("the scheme `{}` of the URL is not supported", bounded(url.scheme()));
            return Err(BadEndpoint::new(message, "write it as `https://example.com/mcp`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadEndpoint::new("the URL contains a user name or a password", IN_A_HEADER));
        }
        if url.fragment().is_some() {
            return Err(BadEndpoint::new(
                "the URL contains a fragment (`#`)",
                "remove it: it is not sent to the server",
            ));
        }
        let is_local = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if url.scheme() == "http" && !is_local && !plain_http {
            let host = bounded(url.host_str().unwrap_or_default());
            let message = format!("`http` to another machine (`{host}`) is not encrypted");
            return Err(BadEndpoint::new(
                message,
                "use `https`, or allow it with `plain_http = true` in the configuration or `--allow-plain-http`",
            ));
        }
        Ok(Self { url, headers: BTreeMap::new(), ca_file: None })
    }

    /// Adds a header to each request.
    ///
    /// # Errors
    /// If the header is invalid, is set by the transport itself, or contains a secret.
    pub fn header(mut self, name: &str, value: HeaderSource) -> Result<Self, BadEndpoint> {
        let name = name.to_ascii_lowercase();
        let shown = bounded(&name);
        if name.is_empty() || !name.bytes().all(is_token) {
            let help = "use only letters, digits and `-`, as in `X-Tenant`";
            return Err(BadEndpoint::new(format!("invalid header name `{shown}`"), help));
        }
        if OWN.contains(&name.as_str()) || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            let message = format!("the header `{shown}` is set by the proxy itself");
            return Err(BadEndpoint::new(message, "remove it"));
        }
        match &value {
            HeaderSource::Text(_) if SECRET.contains(&name.as_str()) => {
                let message = format!("the value of the header `{shown}` is a secret stored in the configuration");
                return Err(BadEndpoint::new(message, FROM_A_VARIABLE));
            }
            HeaderSource::Text(text) if !is_value(text) || text.trim() != text => {
                // The value may be a secret.
                let message = format!("invalid value of the header `{shown}`");
                return Err(BadEndpoint::new(message, "use visible ASCII characters, with spaces only between them"));
            }
            HeaderSource::Env { variable, .. } if variable.is_empty() || variable.contains(['=', '\0']) => {
                let message = format!("invalid name of an environment variable for the header `{shown}`");
                return Err(BadEndpoint::new(message, FROM_A_VARIABLE));
            }
            HeaderSource::Env { prefix, .. } if !is_value(prefix) || prefix.trim_start() != prefix => {
                let message = format!("invalid `prefix` of the header `{shown}`");
                return Err(BadEndpoint::new(message, "use visible ASCII characters, such as `Bearer `"));
            }
            _ => {}
        }
        if self.headers.insert(name, value).is_some() {
            return Err(BadEndpoint::new(format!("duplicate header `{shown}`"), "write each header once, in any case"));
        }
        Ok(self)
    }

    /// Returns the whole URL. Its query may contain a secret; [`shown`](Self::shown) omits it.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns whether requests are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the headers by lower-case name.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, HeaderSource> {
        &self.headers
    }

    /// Returns the address without its query.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        bounded(url.as_str())
    }
}

/// Omits the query and the header values, which may be secrets.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.shown())
            .field("headers", &self.headers)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

/// Omits the values, which may be secrets.
impl fmt::Debug for HeaderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.debug_tuple("Text").finish_non_exhaustive(),
            Self::Env { variable, .. } => f.debug_struct("Env").field("variable", variable).finish_non_exhaustive(),
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Headers that the transport sets itself, or that would change where a message ends or who reads it.
const OWN: [&str; 17] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
const OWN_PREFIXES: [&str; 1] = ["mcp-"];
/// Headers whose values are always secret.
const SECRET: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];
const IN_A_HEADER: &str =
    "send it in a header: `headers = { Authorization = { env = \"TOKEN\", prefix = \"Bearer \" } }`";
const FROM_A_VARIABLE: &str = "take it from a variable: `Authorization = { env = \"TOKEN\", prefix = \"Bearer \" }`";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Endpoint, HeaderSource};

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        for good in [
            "https://example.com/mcp",
            "http://127.0.0.1:3001/mcp",
            "http://127.1/",
            "http://[::1]:1/x",
            "http://localhost/",
        ] {
            assert!(Endpoint::new(good, false).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("example.com/mcp", "invalid URL"),
            ("ftp://example.com/", "the scheme `ftp`"),
            ("http://example.com/mcp", "not encrypted"),
            ("http://127.0.0.1.example.com/", "not encrypted"),
            ("http://localhost.example.com/", "not encrypted"),
            ("http://128.0.0.1/", "not encrypted"),
            ("https://me:secret@example.com/", "a user name"),
            ("https://me@example.com/", "a user name"),
            ("https://example.com/#x", "a fragment"),
            ("https:///", "invalid URL"),
        ] {
            let error = Endpoint::new(bad, false).unwrap_err();
            assert!(error.to_string().contains(why) && !error.help().is_empty(), "{bad}: {error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert!(Endpoint::new("http://example.com/mcp", true).is_ok());
    }

    #[test]
    fn a_header_is_one_that_the_transport_does_not_set_and_holds_no_secret() {
        let text = |text: &str| HeaderSource::Text(text.to_owned());
        let env = |prefix: &str| HeaderSource::Env { variable: "TOKEN".to_owned(), prefix: prefix.to_owned() };
        let endpoint = || Endpoint::new("https://example.com/mcp?key=hidden", false).unwrap();
        for (name, value, why) in [
            ("a b", text("x"), "invalid header name"),
            ("", text("x"), "invalid header name"),
            ("Host", text("x"), "set by the proxy"),
            ("MCP-Session-Id", text("x"), "set by the proxy"),
            ("Content-Length", text("x"), "set by the proxy"),
            ("X-A", text("x\r\ny: z"), "invalid value"),
            ("X-A", text(" x"), "invalid value"),
            ("X-A", text("\u{e9}"), "invalid value"),
            ("Authorization", text("Bearer very-secret"), "is a secret stored in the configuration"),
            ("cookie", text("very-secret"), "is a secret stored in the configuration"),
            ("Authorization", env("Bearer\n"), "invalid `prefix`"),
            ("Authorization", HeaderSource::Env { variable: String::new(), prefix: String::new() }, "invalid name"),
        ] {
            let error = endpoint().header(name, value).unwrap_err();
            assert!(error.to_string().contains(why), "{name}: {error}");
            assert!(!error.to_string().contains("very-secret"), "{error}");
        }
        let twice = endpoint().header("X-A", text("x")).unwrap().header("x-a", text("y"));
        assert!(twice.unwrap_err().to_string().contains("duplicate"));
        let good = endpoint().header("Authorization", env("Bearer ")).unwrap().header("X-A", text("shy")).unwrap();
        let shown = format!("{good:?} {}", good.shown());
        assert!(shown.contains("TOKEN") && !shown.contains("shy") && !shown.contains("hidden"), "{shown}");
    }
}
