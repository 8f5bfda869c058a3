//! Another configuration when its file changes.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::server::Local;
use omen_gate::{Config, Gate, ReloadError, Reloaded, SystemClock};
use omen_proxy::watch::Changes;
use tempfile::TempDir;
use tokio::sync::mpsc;

struct World {
    folder: TempDir,
    gate: Gate,
    log: Memory,
    reports: mpsc::UnboundedReceiver<Result<Reloaded, ReloadError>>,
    watching: tokio::task::JoinHandle<()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.toml");
        fs::write(&path, with(1)).unwrap();
        let log = Memory::default();
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let audit = Audit::over(log.clone(), key, Arc::new(SystemClock::default()), Options::default()).unwrap();
        let builder = Gate::builder(Config::load(&path).unwrap()).audit(audit);
        let gate = builder.server("here".parse().unwrap(), Local::new()).build().unwrap();
        let (sender, reports) = mpsc::unbounded_channel();
        let changes = Changes::watch(&path).unwrap();
        let watching = tokio::spawn(changes.reload(gate.clone(), move |report| drop(sender.send(report))));
        Self { folder, gate, log, reports, watching }
    }

    fn write(&self, text: &str) {
        fs::write(self.folder.path().join("gate.toml"), text).unwrap();
    }

    async fn report(&mut self) -> Result<Reloaded, ReloadError> {
        tokio::time::timeout(Duration::from_secs(60), self.reports.recv()).await.expect("in time").unwrap()
    }

    /// Waits until a text is in force. A file may be read while it is written, and is read again then.
    async fn until_in_force(&mut self, text: &str) {
        let hash = Config::parse(text).unwrap().hash();
        while self.gate.policy_hash() != hash {
            let _ = self.report().await;
        }
    }
}

fn with(steps: u32) -> String {
    format!("[servers.here]\n[limits]\nturn_steps = {steps}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_written_or_replaced_is_in_force() {
    let mut world = World::new();
    world.write(&with(2));
    world.until_in_force(&with(2)).await;
    // As editors do it.
    let draft = world.folder.path().join("draft");
    fs::write(&draft, with(3)).unwrap();
    fs::rename(&draft, world.folder.path().join("gate.toml")).unwrap();
    world.until_in_force(&with(3)).await;
    fs::remove_file(world.folder.path().join("gate.toml")).unwrap();
    loop {
        match world.report().await {
            Err(ReloadError::Invalid(errors)) if errors.to_string().contains("cannot be read") => break,
            _ => {}
        }
    }
    world.write(&with(4));
    world.until_in_force(&with(4)).await;
    let log = String::from_utf8(world.log.bytes()).unwrap();
    assert!(log.matches(r#""outcome":"loaded""#).count() == 3, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_an_error_is_reported_and_the_old_one_stays() {
    let mut world = World::new();
    let before = world.gate.policy_hash();
    world.write("[limits]\nturn_step = 2\n");
    let failed = loop {
        match world.report().await {
            // While it is written, it may be empty, which takes a restart.
            Err(ReloadError::Invalid(errors)) => break errors,
            Err(ReloadError::Refused(_)) => {}
            // Another test sends this process SIGHUP.
            Ok(same) => assert_eq!(same.before, same.policy),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(failed.0[0].message, "unknown key `limits.turn_step`");
    assert_eq!(world.gate.policy_hash(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_else_is_in_the_folder_does_not_matter() {
    let mut world = World::new();
    for number in 0..100 {
        fs::write(world.folder.path().join("audit.jsonl"), number.to_string()).unwrap();
    }
    // Nor does the same text once more.
    world.write(&with(1));
    world.write(&with(2));
    world.until_in_force(&with(2)).await;
    let log = String::from_utf8(world.log.bytes()).unwrap();
    assert_eq!(log.matches(r#""outcome":"loaded""#).count(), 1, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(unix)]
async fn sighup_has_it_read_again() {
    let mut world = World::new();
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP).unwrap();
    let same = world.report().await.unwrap();
    assert_eq!(same.before, same.policy);
}
