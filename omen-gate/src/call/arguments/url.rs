//! Rule that confines URLs to known hosts.
//!
//! The host is read twice: from the text, in the one plain form that every program reads alike, and by the rules of
//! browsers. If the two readings differ, some program would connect to another host, so the URL is refused.

use std::fmt;
use std::sync::LazyLock;

use omen_types::scalar::invisible::is_invisible;
use serde_json::Value;
use url::Url;

use super::pattern::{TextBounds, characters};
use super::types::ValueTypes;
use super::violation::RefusalReason;
use crate::base::bounded;

/// Allowed URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Urls {
    pub(crate) hosts: Vec<Host>,
    /// Schemes in lower case; `https` unless the operator states others.
    pub(crate) schemes: Vec<String>,
    /// Ports; if empty, the default port of the scheme.
    pub(crate) ports: Vec<u16>,
}

/// Host, or all subdomains of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Name as compared: lower case, ASCII, IP addresses in canonical form.
    name: String,
    /// Whether this matches all subdomains of the name and not the name itself.
    below: bool,
}

impl Host {
    /// Parses a host as written by the operator: `api.example.com`, `*.example.com`, `[::1]`.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let (below, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
        let parsed =
            url::Host::parse(name).map_err(|_| "expected a host name or an address, without scheme, port and path")?;
        let plain = parsed.to_string();
        match parsed {
            url::Host::Domain(_) if plain.ends_with('.') => Err("a host name must not end with a dot"),
            url::Host::Ipv4(_) | url::Host::Ipv6(_) if below => Err("an IP address has no subdomains"),
            url::Host::Domain(_) if !has_plain_labels(&plain) => {
                Err("a host name consists of letters, digits, `-` and `_`, and `*.` is allowed only at its start")
            }
            url::Host::Domain(_) => Ok(Self { name: plain, below }),
            _ if plain == name => Ok(Self { name: plain, below }),
            _ => Err("an IP address must be written in its canonical form"),
        }
    }

    fn is(&self, host: &str) -> bool {
        match host.strip_suffix(self.name.as_str()) {
            Some(before) if self.below => before.len() > 1 && before.ends_with('.'),
            Some(before) => before.is_empty(),
            None => false,
        }
    }
}

impl Urls {
    pub(super) fn judge(&self, value: &Value) -> Result<(), RefusalReason> {
        let Value::String(text) = value else { return Err(RefusalReason::other_type(ValueTypes::STRING, value)) };
        self.leads_to(text).map_err(|why| RefusalReason::new(why, self.help()))
    }

    fn leads_to(&self, text: &str) -> Result<(), &'static str> {
        if text.chars().any(|c| is_invisible(c) || c.is_whitespace() || c == '\\') {
            return Err(
                "it contains whitespace, a backslash or an invisible character, which programs remove or replace",
            );
        }
        let (scheme, rest) = text.split_once("://").ok_or("it does not begin with a scheme and `://`")?;
        let scheme = scheme.to_ascii_lowercase();
        if !self.schemes.contains(&scheme) {
            return Err("its scheme is not allowed");
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (host, port) = parts(authority)?;
        let known = Url::parse(text).map_err(|_| "it is not a valid URL")?;
        if known.host_str() != Some(host.as_str()) || known.scheme() != scheme {
            return Err("its host is written in a form that some programs read as a different host");
        }
        if !self.hosts.iter().any(|allowed| allowed.is(&host)) {
            return Err("its host is not allowed");
        }
        let usual = usual_port(&scheme);
        let is_right = match (self.ports.as_slice(), port.or(usual)) {
            ([], effective) => effective == usual,
            (ports, Some(effective)) => ports.contains(&effective),
            (_, None) => false,
        };
        if is_right { Ok(()) } else { Err("its port is not allowed") }
    }

    /// Returns the languages of accepted URLs. Only a URL parser knows which names with the prefix `xn--` are valid, and it
    /// keeps the case of hosts in unknown schemes.
    pub(super) fn text_bounds(&self) -> TextBounds {
        static REST: LazyLock<String> = LazyLock::new(|| {
            let is_plain = |c: char| !is_invisible(c) && !c.is_whitespace() && c != '\\';
            format!(r"(?:[/?#]{}*)?", characters(is_plain))
        });
        let [mut sure, mut possible] = [Vec::new(), Vec::new()];
        for scheme in &self.schemes {
            let usual = usual_port(scheme);
            let is_usual = self.ports.is_empty() || usual.is_some_and(|port| self.ports.contains(&port));
            let ports: Vec<_> = if self.ports.is_empty() { usual.into_iter().collect() } else { self.ports.clone() };
            let ports: Vec<_> = ports.iter().map(|port| format!(":{port}")).collect();
            let ports = format!("(?:{}){}", ports.join("|"), if is_usual { "?" } else { "" });
            let hosts = |label: &str| {
                let host = |host: &Host| {
                    let below = if host.below { format!(r"(?:{label}\.)+") } else { String::new() };
                    below + &regex::escape(&host.name)
                };
                self.hosts.iter().map(host).collect::<Vec<_>>().join("|")
            };
            let scheme_text = regex::escape(scheme);
            let url = |flags: &str, label: &str| {
                format!("(?i-u:{scheme_text})://(?{flags}-u:{}){ports}{}", hosts(label), *REST)
            };
            possible.push(url("i", "[a-z0-9_-]+"));
            if scheme != "file" {
                sure.push(url(if usual.is_some() { "i" } else { "" }, LABEL_IN_ASCII));
            }
        }
        let any = |urls: Vec<String>| format!(r"\A(?:{})\z", urls.join("|"));
        let (sure, possible) = (if sure.is_empty() { r"\z\A.".to_owned() } else { any(sure) }, any(possible));
        let is_exact = sure == possible;
        TextBounds { sure, possible: (!is_exact).then_some(possible) }
    }

    fn help(&self) -> String {
        let scheme = self.schemes.first().map_or("https", String::as_str);
        let hosts: Vec<_> = self.hosts.iter().map(|host| format!("`{scheme}://{host}/…`")).collect();
        format!("pass a URL such as {}, with nothing else before the path", bounded(&hosts.join(" or ")))
    }
}

/// Splits an authority into the lower-case host and the port, if both have the one form that all programs read alike.
fn parts(authority: &str) -> Result<(String, Option<u16>), &'static str> {
    if authority.contains('@') {
        return Err("it has a user name before its host");
    }
    if authority.contains('%') {
        return Err("its host contains encoded characters");
    }
    if !authority.is_ascii() {
        return Err("its host contains non-ASCII characters; use its ASCII form, which begins with `xn--`");
    }
    let (host, port) = match authority.rfind(']') {
        Some(end) => authority.split_at(end + 1),
        None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
    };
    let port = match port {
        "" => None,
        port => Some(
            port.strip_prefix(':')
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0'))
                .and_then(|digits| digits.parse().ok())
                .ok_or("its port is not a plain number")?,
        ),
    };
    if host.is_empty() {
        return Err("it has no host");
    }
    if !host.starts_with('[') && !has_plain_labels(host) {
        return Err("its host has an empty part, or a character that host names cannot contain");
    }
    Ok((host.to_ascii_lowercase(), port))
}

/// Returns whether every program looks up the same name for a host. If it has an empty label or a `*`, some programs
/// refuse it and others drop a part.
fn has_plain_labels(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    host.split('.').all(|label| !label.is_empty() && label.bytes().all(is_plain))
}

/// Regular expression for part of a host name without the prefix `xn--`.
const LABEL_IN_ASCII: &str =
    "(?:[a-wyz0-9_-][a-z0-9_-]*|x|x[a-mo-z0-9_-][a-z0-9_-]*|xn|xn[a-z0-9_][a-z0-9_-]*|xn-|xn-[a-z0-9_][a-z0-9_-]*)";

fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.name)
    }
}

impl fmt::Display for Urls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.hosts.iter().map(|host| format!("\"{host}\"")).collect();
        write!(f, "host = [{}]", bounded(&hosts.join(", ")))?;
        if self.schemes != ["https"] {
            write!(f, ", scheme = {:?}", self.schemes)?;
        }
        if !self.ports.is_empty() {
            write!(f, ", port = {:?}", self.ports)?;
        }
        Ok(())
    }
}
