//! Connections to a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use tracing::Span;

use super::JetStream;
use super::link::Link;
use super::setup;
use crate::failure::{During as _, Failure};

/// Settings of a connection, as in a context of the command `nats`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Server {
    /// Addresses, separated by commas.
    #[serde(default)]
    pub url: String,
    /// Path of a credentials file, with a JWT and a seed.
    #[serde(default)]
    pub creds: String,
    /// Path of a file with the seed of an NKEY.
    #[serde(default)]
    pub nkey: String,
    /// User name.
    #[serde(default)]
    pub user: String,
    /// Password of the user.
    #[serde(default)]
    pub password: String,
    /// Authentication token.
    #[serde(default)]
    pub token: String,
    /// Path of a file with the certificates of trusted authorities.
    #[serde(default)]
    pub ca: String,
    /// Path of a file with the client's certificate.
    #[serde(default)]
    pub cert: String,
    /// Path of a file with the private key of that certificate.
    #[serde(default)]
    pub key: String,
    /// Whether the TLS handshake comes before the server's first message.
    #[serde(default)]
    pub tls_first: bool,
    /// Prefix of the subjects for responses, if the account restricts them.
    #[serde(default)]
    pub inbox_prefix: String,
    /// JetStream domain.
    #[serde(default)]
    pub jetstream_domain: String,
}

impl Server {
    /// Reads a context of the command `nats`.
    ///
    /// # Errors
    /// If there is no context with this name, or it is invalid.
    pub fn of_context(name: &str) -> Result<Self, Failure> {
        let home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".config"))).unwrap_or_default();
        let path = home.join("nats").join("context").join(format!("{name}.json"));
        let text = std::fs::read(&path)
            .map_err(|error| Failure::Input(format!("cannot read the context {}: {error}", path.display())))?;
        serde_json::from_slice(&text)
            .map_err(|error| Failure::Input(format!("cannot read the context {}: {error}", path.display())))
    }

    /// Returns these settings, completed by those of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let or = |this: String, other: String| if this.is_empty() { other } else { this };
        Self {
            url: or(self.url, other.url),
            creds: or(self.creds, other.creds),
            nkey: or(self.nkey, other.nkey),
            user: or(self.user, other.user),
            password: or(self.password, other.password),
            token: or(self.token, other.token),
            ca: or(self.ca, other.ca),
            cert: or(self.cert, other.cert),
            key: or(self.key, other.key),
            tls_first: self.tls_first || other.tls_first,
            inbox_prefix: or(self.inbox_prefix, other.inbox_prefix),
            jetstream_domain: or(self.jetstream_domain, other.jetstream_domain),
        }
    }

    /// Connects under a client name. The client logs a lost connection, and reconnects.
    ///
    /// # Errors
    /// If the server is unreachable, rejects the credentials, or is too old.
    pub async fn connect(&self, name: &str) -> Result<Client, Failure> {
        self.link(name, Link::new()).await
    }

    /// Connects, and reports the state of the connection to `link`.
    pub(crate) async fn link(&self, name: &str, link: Link) -> Result<Client, Failure> {
        let mut options = ConnectOptions::new()
            .name(name)
            .max_reconnects(None)
            .request_timeout(Some(ANSWER))
            .ping_interval(PING)
            .reconnect_delay_callback(reconnect_delay);
        let (noted, span) = (link.clone(), Span::current());
        options = options.event_callback(move |event| {
            span.in_scope(|| noted.note(&event));
            std::future::ready(())
        });
        if !self.creds.is_empty() {
            options = options.credentials_file(&self.creds).await.map_err(|error| unreadable(&self.creds, &error))?;
        }
        if !self.nkey.is_empty() {
            let seed = std::fs::read_to_string(&self.nkey).map_err(|error| unreadable(&self.nkey, &error))?;
            options = options.nkey(seed.trim().to_owned());
        }
        let url = if self.url.is_empty() { DEFAULT_URL } else { &self.url };
        let addresses = addresses(url)?;
        // The client ignores the credentials in an address.
        match addresses.iter().find_map(named) {
            _ if !self.user.is_empty() => {
                options = options.user_and_password(self.user.clone(), self.password.clone());
            }
            _ if !self.token.is_empty() => options = options.token(self.token.clone()),
            Some((user, Some(password))) => options = options.user_and_password(user, password),
            Some((token, None)) => options = options.token(token),
            None => {}
        }
        if !self.ca.is_empty() {
            options = options.add_root_certificates(existing(&self.ca)?).require_tls(true);
        }
        if !self.cert.is_empty() {
            options = options.add_client_certificate(existing(&self.cert)?, existing(&self.key)?).require_tls(true);
        }
        if self.tls_first {
            options = options.tls_first();
        }
        if !self.inbox_prefix.is_empty() {
            options = options.custom_inbox_prefix(&self.inbox_prefix);
        }
        let client = options.connect(addresses).await.during(&format!("connect to {}", without_password(url)))?;
        setup::check_version(&client)?;
        link.check(client.connection_state() == State::Connected);
        Ok(client)
    }

    /// Returns the operations of a worker on a connection.
    pub(crate) fn broker(&self, context: async_nats::jetstream::Context) -> JetStream {
        JetStream::new(context, &self.jetstream_domain)
    }

    /// Returns the JetStream context of a connection.
    #[must_use]
    pub fn jetstream(&self, client: Client) -> async_nats::jetstream::Context {
        if self.jetstream_domain.is_empty() {
            async_nats::jetstream::new(client)
        } else {
            async_nats::jetstream::with_domain(client, &self.jetstream_domain)
        }
    }
}

fn addresses(url: &str) -> Result<Vec<ServerAddr>, Failure> {
    let address = |one: &str| {
        let invalid = |error: &dyn std::fmt::Display| {
            Failure::Input(format!(
                "invalid address `{}`: {error}; expected one such as `{DEFAULT_URL}`",
                without_password(one)
            ))
        };
        one.parse::<ServerAddr>().map_err(|error| invalid(&error))
    };
    url.split(',').map(|url| address(url.trim())).collect()
}

/// Returns the user and password in an address, or the token.
fn named(address: &ServerAddr) -> Option<(String, Option<String>)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(address.username()?), address.password().map(decoded)))
}

fn existing(path: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(path);
    std::fs::metadata(path).map_err(|error| unreadable(&path.display().to_string(), &error))?;
    Ok(path.to_owned())
}

fn unreadable(path: &str, error: &std::io::Error) -> Failure {
    Failure::Input(format!("cannot read {path}: {error}"))
}

/// Returns an address for display, without its password.
fn without_password(url: &str) -> String {
    let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    };
    url.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// Returns the pause before the next attempt to connect. The short upper limit reconnects within half a second after a long
/// outage.
fn reconnect_delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    if doublings == 0 {
        return Duration::ZERO;
    }
    SHORTEST_DELAY.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_DELAY)
}

const SHORTEST_DELAY: Duration = Duration::from_millis(1);
const LONGEST_DELAY: Duration = Duration::from_millis(500);

/// Response timeout. After a timeout, the stored messages show what has happened.
const ANSWER: Duration = Duration::from_secs(10);

/// Interval between pings on a silent connection. After three unanswered pings the connection is closed.
const PING: Duration = Duration::from_secs(2);

/// Address of a server on this machine.
const DEFAULT_URL: &str = "nats://127.0.0.1:4222";

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_comes_before_the_context() {
        let context: Server =
            serde_json::from_str(r#"{"url": "nats://a:4222", "creds": "/c", "description": "unknown to us"}"#)
                .expect("a context");
        let both = Server { url: "nats://b:4222".to_owned(), ..Server::default() }.or(context);
        assert_eq!((&*both.url, &*both.creds), ("nats://b:4222", "/c"));
    }

    #[test]
    fn an_address_may_have_a_password_or_a_token() {
        let named = |url| addresses(url).expect("an address").iter().find_map(named);
        let some = |user: &str, password: Option<&str>| Some((user.to_owned(), password.map(str::to_owned)));
        assert_eq!(named("nats://a:4222,nats://me:p%40ss@b:4222"), some("me", Some("p@ss")));
        assert_eq!((named("tls://t0ken@a"), named("a:4222")), (some("t0ken", None), None));
        let refused = addresses("nats://me:secret@a:port").expect_err("the port is not a number").to_string();
        assert!(refused.starts_with("invalid address `nats://a:port`") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn attempts_to_connect_again_have_short_pauses() {
        let millis = |attempts| reconnect_delay(attempts).as_millis();
        assert_eq!([0, 1, 2, 3, 9, 10, 11, usize::MAX].map(millis), [0, 0, 2, 4, 256, 500, 500, 500]);
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("tls://me:secret@host:4222,nats://other:1"), "tls://host:4222,nats://other:1");
    }
}
