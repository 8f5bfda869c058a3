//! A server of its own for each test: on loopback, with its files in a temporary folder.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use omen_worker::connect::Server;
use omen_worker::names::Names;
use omen_worker::setup::Setup;
use tempfile::TempDir;

/// How many partitions the tests have.
pub(crate) const PARTITIONS: u16 = 8;

pub(crate) struct Nats {
    binary: PathBuf,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    child: Child,
}

impl Nats {
    /// Starts a server; `None` where there is none, which is a failure in CI.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(|_| String::new())
    }

    /// Starts a server with more in its configuration, which may name files of its folder.
    pub(crate) fn start_with(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let Some(binary) = std::env::var_os("OMEN_NATS_SERVER") else {
            assert!(std::env::var_os("CI").is_none(), "OMEN_NATS_SERVER is not set, which .ci/run does");
            crate::say("skipped: OMEN_NATS_SERVER is not set");
            return None;
        };
        // In memory, where it can be: what is killed is a process, and the disk of a busy machine can take seconds.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        // Free now; nobody else takes it in the moment until the server does.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        std::fs::write(
            folder.path().join("server.conf"),
            format!(
                "listen: \"127.0.0.1:{port}\"\nmax_payload: 32MB\nmax_pending: 128MB\njetstream {{ store_dir: \"{}\" }}\n{}\n",
                folder.path().join("store").display(),
                more(folder.path())
            ),
        )
        .unwrap();
        let binary = PathBuf::from(binary);
        let child = Self::run(&binary, &folder);
        let server = Self { binary, folder, port, child };
        server.wait();
        Some(server)
    }

    fn run(binary: &PathBuf, folder: &TempDir) -> Child {
        Command::new(binary)
            .arg("-c")
            .arg(folder.path().join("server.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts")
    }

    fn wait(&self) {
        let begin = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server, and starts it again with the same files.
    pub(crate) fn kill_and_start(&mut self) {
        self.kill();
        self.start_again();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        self.child = Self::run(&self.binary, &self.folder);
        self.wait();
    }

    pub(crate) fn address(&self) -> Server {
        Server { url: format!("nats://127.0.0.1:{}", self.port), ..Server::default() }
    }

    pub(crate) async fn context(&self) -> Context {
        let server = self.address();
        server.jetstream(server.connect("test", |_| {}).await.unwrap())
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn setup() -> Setup {
    Setup { names: Names::of("PACKETS"), partitions: PARTITIONS, replicas: 1 }
}
