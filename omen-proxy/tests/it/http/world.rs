//! A proxy over HTTP in front of servers that a test plays.

use std::net::Ipv4Addr;
use std::sync::Arc;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::mcp::ServerLimits;
use omen_gate::{Fault, SystemClock};
use omen_mcp::http::server::{Access, HttpLimits};
use omen_proxy::{Ended, ProxyBuilder, Source, Transport};
use omen_testkit::logs::Logs;
use tokio::io::{duplex, split};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use super::client::Client;
use crate::support::{End, KEY, Seen, serve, within};

/// A proxy that runs.
pub(crate) struct Http {
    pub(crate) client: Client,
    pub(crate) log: Memory,
    pub(crate) logs: Logs,
    /// The servers that were connected to, and that the test plays itself.
    pub(crate) servers: mpsc::UnboundedReceiver<End>,
    proxy: JoinHandle<Ended>,
    stop: Option<oneshot::Sender<()>>,
}

pub(crate) fn local() -> Access {
    Access::new(Ipv4Addr::LOCALHOST.into())
}

impl Http {
    /// A proxy in front of servers that a test plays.
    pub(crate) async fn with_servers(proxy: ProxyBuilder, access: Access, limits: HttpLimits) -> Self {
        let log = Memory::default();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
        let logs = Logs::capture();
        let proxy = proxy.audit(audit);
        let (connected, servers) = mpsc::unbounded_channel();
        let server = ServerLimits { line_bytes: 1 << 20, ..ServerLimits::default() };
        let source = Source::streams(server, move || {
            let (near, far) = duplex(1 << 16);
            let (output, input) = split(near);
            connected.send(End::new(far)).map_err(|_| Fault::unreachable("the test is over"))?;
            Ok((input, output))
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let client = Client::new(listener.local_addr().unwrap());
        let (stop, until) = oneshot::channel::<()>();
        let until = async {
            if until.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let proxy = proxy.server("s".parse().unwrap(), source).build().unwrap();
        let proxy = tokio::spawn(
            async move { proxy.serve(Transport::http(listener, access, limits), until).await.expect("it serves") }
                .instrument(logs.span()),
        );
        Self { client, log, logs, servers, proxy, stop: Some(stop) }
    }

    /// A proxy in front of servers in good order.
    pub(crate) async fn limited(proxy: ProxyBuilder, access: Access, limits: HttpLimits) -> (Self, Seen) {
        let mut http = Self::with_servers(proxy, access, limits).await;
        let seen = Seen::default();
        let served = seen.clone();
        let (_, none) = mpsc::unbounded_channel();
        let mut servers = std::mem::replace(&mut http.servers, none);
        tokio::spawn(async move {
            while let Some(server) = servers.recv().await {
                tokio::spawn(serve(server, served.clone()));
            }
        });
        (http, seen)
    }

    pub(crate) async fn new(proxy: ProxyBuilder) -> (Self, Seen) {
        Self::limited(proxy, local(), HttpLimits::default()).await
    }

    /// The server that was connected to next.
    pub(crate) async fn server(&mut self) -> End {
        within(self.servers.recv()).await.expect("a server")
    }

    /// Asks the proxy to stop, and waits until it has.
    pub(crate) async fn stop(mut self) -> Memory {
        self.stop.take().unwrap().send(()).unwrap();
        assert_eq!(within(&mut self.proxy).await.unwrap(), Ended::Asked);
        self.log
    }

    pub(crate) fn noted(&self, text: &str) -> bool {
        self.logs.find(&[text]).is_some()
    }
}

/// Waits until something has come about.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    within(async {
        while !holds() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    })
    .await;
}
