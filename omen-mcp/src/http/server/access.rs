//! Access to the server over HTTP: its host names, the web pages that may use it, and the token.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::{HeaderMap, StatusCode, Uri};
use omen_base::bounded;

use super::headers::single;
use super::refusal::Refusal;
use super::token::Token;

/// Checks made on each request before anything else is read.
///
/// The host is checked because a web page can make its own name resolve to this machine (DNS rebinding), and the origin because
/// a web page can send requests to any name. By default, the host must be this machine, if the server listens on loopback, or
/// otherwise the address that it listens on; and no web page may use the server. On loopback, clients may name the server's own
/// origin: the server serves no pages, so no page has this origin.
#[derive(Clone, Debug)]
pub struct Access {
    hosts: Vec<Authority>,
    origins: Vec<String>,
    token: Option<Token>,
}

/// Error in the requested access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAccess {
    /// The text is not a host.
    #[error("invalid host `{0}`; expected a name or an address, with or without a port, e.g. `gate.example.com`")]
    Host(String),
    /// The text is not an origin.
    #[error(
        "invalid origin `{0}`; expected a scheme, a host and a port if there is one, e.g. `https://app.example.com`"
    )]
    Origin(String),
    /// Other machines could use the server.
    #[error("`{0}` is not a loopback address: require a token from clients")]
    NoToken(IpAddr),
    /// The host name of the server is unknown.
    #[error("`{0}` binds all interfaces: allow the host name that clients use")]
    NoHost(IpAddr),
}

/// Host, with its port if the port matters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    /// Name in lower case. An IPv6 address is in brackets.
    name: String,
    port: Option<u16>,
}

/// Names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Authority {
    fn read(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            // Colons within a bracketed address do not separate a port.
            Some((name, port)) if !port.contains(']') => {
                let is_number = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
                (name, Some(port.parse().ok().filter(|_| is_number)?))
            }
            _ => (text, None),
        };
        let inner = name.strip_prefix('[').map_or(Some(name), |rest| rest.strip_suffix(']'))?;
        let is_bracketed = inner.len() != name.len();
        let fits = |byte: u8| match byte {
            b':' => is_bracketed,
            b'.' | b'-' | b'_' => true,
            byte => byte.is_ascii_alphanumeric(),
        };
        (!inner.is_empty() && inner.bytes().all(fits)).then(|| Self { name: name.to_ascii_lowercase(), port })
    }
}

impl Access {
    /// Creates the access for a server that listens on this address.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        let of = |name: &str| Authority { name: name.to_owned(), port: None };
        let own = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let hosts = if address.is_loopback() {
            LOOPBACK.map(of).into_iter().chain([of(&own)]).collect()
        } else if address.is_unspecified() {
            Vec::new()
        } else {
            vec![of(&own)]
        };
        Self { hosts, origins: Vec::new(), token: None }
    }

    /// Allows an additional name in `Host`. A name without a port is allowed with any port.
    ///
    /// # Errors
    /// If the text is not a host.
    pub fn allow_host(mut self, host: &str) -> Result<Self, BadAccess> {
        self.hosts.push(Authority::read(host).ok_or_else(|| BadAccess::Host(bounded(host)))?);
        Ok(self)
    }

    /// Allows web pages of an origin.
    ///
    /// # Errors
    /// If the text is not an origin.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, BadAccess> {
        let bad = || BadAccess::Origin(bounded(origin));
        let (scheme, host) = origin.split_once("://").ok_or_else(bad)?;
        let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        if !is_web || Authority::read(host).is_none() {
            return Err(bad());
        }
        self.origins.push(origin.to_ascii_lowercase());
        Ok(self)
    }

    /// Serves only clients that have a token.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Checks that a server may listen on an address with this access.
    ///
    /// # Errors
    /// If other machines could use the server without a token, or it has no host name.
    pub fn check(&self, address: IpAddr) -> Result<(), BadAccess> {
        if !address.is_loopback() && self.token.is_none() {
            return Err(BadAccess::NoToken(address));
        }
        if self.hosts.is_empty() {
            return Err(BadAccess::NoHost(address));
        }
        Ok(())
    }

    /// Returns whether an admitted request has presented a token.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks a request. Returns the origin if it comes from a web page that may use the server.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap, is_preflight: bool) -> Result<Option<String>, Refusal> {
        self.check_host(uri, headers)?;
        let origin = self.check_origin(headers)?;
        // A browser first asks, without the token, whether it may send one.
        if !is_preflight {
            self.check_token(headers)?;
        }
        Ok(origin)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = single(headers, &HOST)?.ok_or_else(|| {
            Refusal::new(StatusCode::BAD_REQUEST, "missing header `Host`", "send a host name of this server")
        })?;
        // If the target also contains a name, both must be the same, because readers differ in which one they trust.
        let targets_other = uri.authority().is_some_and(|target| !target.as_str().eq_ignore_ascii_case(host));
        let asked = Authority::read(host).filter(|_| !targets_other);
        let is_ours = |asked: &Authority| {
            self.hosts.iter().any(|own| own.name == asked.name && (own.port.is_none() || own.port == asked.port))
        };
        if asked.is_some_and(|asked| is_ours(&asked)) {
            return Ok(());
        }
        let reason = format!("the host `{}` is not a name of this server", bounded(host));
        Err(Refusal::new(StatusCode::FORBIDDEN, reason, "use an allowed name, or ask the operator to allow this one"))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<Option<String>, Refusal> {
        let Some(origin) = single(headers, &ORIGIN)? else { return Ok(None) };
        if self.origins.contains(&origin.to_ascii_lowercase()) {
            return Ok(Some(origin.to_owned()));
        }
        let host = single(headers, &HOST)?.unwrap_or_default();
        let is_own = origin.split_once("://").is_some_and(|(scheme, authority)| {
            scheme.eq_ignore_ascii_case("http") && authority.eq_ignore_ascii_case(host)
        });
        let is_here = Authority::read(host).is_some_and(|host| LOOPBACK.contains(&host.name.as_str()));
        if is_own && is_here {
            return Ok(None);
        }
        let reason = format!("web pages of the origin `{}` may not use this server", bounded(origin));
        Err(Refusal::new(StatusCode::FORBIDDEN, reason, "ask the operator to allow this origin"))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let unauthorized =
            |reason: &str| Refusal::new(StatusCode::UNAUTHORIZED, reason, "send `Authorization: Bearer TOKEN`");
        let sent = single(headers, &AUTHORIZATION)?.ok_or_else(|| unauthorized("missing bearer token"))?;
        let (scheme, sent) = sent.split_once(' ').ok_or_else(|| unauthorized("missing bearer token"))?;
        if scheme.eq_ignore_ascii_case("bearer") && token.is(sent.trim_start_matches(' ')) {
            return Ok(());
        }
        Err(unauthorized("wrong bearer token"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::{HeaderMap, Uri};

    use super::{Access, Authority, BadAccess};
    use crate::http::server::token::Token;

    fn status(access: &Access, uri: &str, headers: &[(&'static str, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let uri: Uri = uri.parse().unwrap();
        access.admit(&uri, &map, false).err().map(|refused| refused.status().as_u16())
    }

    #[test]
    fn the_host_is_one_of_those_that_the_server_goes_by() {
        let access = Access::new("127.0.0.1".parse().unwrap()).allow_host("gate.example.com:8443").unwrap();
        for host in ["localhost", "LOCALHOST:7", "127.0.0.1:80", "[::1]:80", "gate.example.com:8443"] {
            assert_eq!(status(&access, "/mcp", &[("host", host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "gate.example.com",
            "gate.example.com:1",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "a@localhost",
            "127.0.0.1.",
            "2130706433",
            "[::1",
            "",
        ] {
            assert_eq!(status(&access, "/mcp", &[("host", host)]), Some(403), "{host}");
        }
        assert_eq!(status(&access, "/mcp", &[]), Some(400));
        assert_eq!(status(&access, "/mcp", &[("host", "localhost"), ("host", "localhost")]), Some(400));
        assert_eq!(status(&access, "http://evil.example/mcp", &[("host", "localhost")]), Some(403));
        assert_eq!(status(&access, "http://localhost/mcp", &[("host", "localhost")]), None);
    }

    #[test]
    fn a_web_page_may_use_the_server_only_if_its_origin_is_allowed() {
        let access = Access::new("127.0.0.1".parse().unwrap()).allow_origin("https://App.example.com").unwrap();
        let with = |origin| status(&access, "/mcp", &[("host", "localhost"), ("origin", origin)]);
        assert_eq!(with("https://app.example.com"), None);
        for origin in ["null", "http://app.example.com", "https://app.example.com:8", "http://localhost:8", ""] {
            assert_eq!(with(origin), Some(403), "{origin}");
        }
        let own = |host, origin| status(&access, "/mcp", &[("host", host), ("origin", origin)]);
        assert_eq!((own("localhost:80", "http://LOCALHOST:80"), own("[::1]:8", "http://[::1]:8")), (None, None));
        for origin in ["https://localhost:80", "http://localhost:81", "http://127.0.0.1:80", "http://localhost"] {
            assert_eq!(own("localhost:80", origin), Some(403), "{origin}");
        }
        // On other names, there may be pages with the same origin.
        let named = access.clone().allow_host("gate.example.com").unwrap();
        let headers = [("host", "gate.example.com"), ("origin", "http://gate.example.com")];
        assert_eq!(status(&named, "/mcp", &headers), Some(403));
        for origin in ["null", "*", "https://", "ftp://a", "https://a/b", "https://a b", "app.example.com"] {
            let access = Access::new("127.0.0.1".parse().unwrap()).allow_origin(origin);
            assert_eq!(access.unwrap_err(), BadAccess::Origin(origin.to_owned()));
        }
    }

    #[test]
    fn other_machines_need_a_token_and_a_name() {
        let address = "0.0.0.0".parse().unwrap();
        let any = Access::new(address);
        assert_eq!(any.check(address), Err(BadAccess::NoToken(address)));
        let local = Access::new("127.0.0.1".parse().unwrap());
        assert_eq!((local.check("::1".parse().unwrap()), local.check(address)), (Ok(()), any.check(address)));
        let with_token = any.token(Token::new("0123456789abcdef".to_owned()).unwrap());
        assert_eq!(with_token.check(address), Err(BadAccess::NoHost(address)));
        let named = with_token.allow_host("gate.example.com").unwrap();
        assert_eq!(named.check(address), Ok(()));
        let of = |value: &str| status(&named, "/mcp", &[("host", "gate.example.com"), ("authorization", value)]);
        assert_eq!((of("Bearer 0123456789abcdef"), of("bearer  0123456789abcdef")), (None, None));
        for wrong in
            ["Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0", "Bearer", "Basic 0123456789abcdef", "", "x"]
        {
            assert_eq!(of(wrong), Some(401), "{wrong}");
        }
        assert_eq!(status(&named, "/mcp", &[("host", "gate.example.com")]), Some(401));
        assert_eq!(Authority::read("[::1]:8").unwrap().port, Some(8));
    }
}
