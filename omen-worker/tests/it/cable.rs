//! A network that can be cut: connections to the server that pass through this process.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) struct Cable {
    pub(crate) address: SocketAddr,
    connections: Arc<Mutex<JoinSet<()>>>,
    silent: watch::Sender<()>,
    listener: tokio::task::JoinHandle<()>,
}

impl Cable {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(JoinSet::new()));
        let all = Arc::clone(&connections);
        let silent = watch::Sender::new(());
        let silences = silent.subscribe();
        let listener = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut silences = silences.clone();
                silences.mark_unchanged();
                all.lock().unwrap().spawn(async move {
                    let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        _ = silences.changed() => std::future::pending().await,
                    }
                });
            }
        });
        Self { address, connections, silent, listener }
    }

    /// Blocks all traffic on the open connections. Neither end is notified.
    pub(crate) fn silence(&self) {
        self.silent.send_replace(());
    }

    /// Cuts all connections, with the data in transit.
    pub(crate) fn cut(&self) -> usize {
        let mut connections = self.connections.lock().unwrap();
        while connections.try_join_next().is_some() {}
        let count = connections.len();
        connections.abort_all();
        count
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.listener.abort();
        self.cut();
    }
}
