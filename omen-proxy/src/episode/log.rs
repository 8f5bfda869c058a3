//! Log of a session's episodes, with the machine that has judged its content.

use std::io;
use std::sync::Arc;

use omen_base::Mutex;
use omen_fsm::Machine;
use omen_fsm::episode::{Line, Log};
use omen_types::{CorrelationId, Diagnostic, PacketFacts};

/// Log to which several episodes write.
#[derive(Clone)]
pub(super) struct SharedLog(Arc<Mutex<Box<dyn Log>>>);

impl SharedLog {
    pub(super) fn new(log: Box<dyn Log>) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// Writes lines that no episode has sent.
    pub(super) fn append(&self, lines: &[Line<'_>]) -> io::Result<()> {
        self.0.lock().append(lines)
    }
}

/// State of one episode according to the packets in its log.
#[derive(Debug, Default)]
pub(super) struct LoggedState {
    /// State machine of the episode, also used to judge a packet without sending it.
    pub(super) machine: Machine,
    /// Warnings about the latest packets that nobody has taken yet.
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) packets: u64,
}

/// Log of one episode.
#[derive(Clone)]
pub(super) struct Tee {
    pub(super) to: SharedLog,
    pub(super) written: Arc<Mutex<LoggedState>>,
}

impl Tee {
    pub(super) fn new(to: SharedLog) -> Self {
        Self { to, written: Arc::default() }
    }

    /// Log of an episode that has begun, with those of its lines that were accepted: the others changed nothing.
    pub(super) fn after(to: SharedLog, lines: &[String]) -> (Self, Vec<&str>) {
        let (mut written, mut accepted) = (LoggedState::default(), Vec::new());
        for line in lines {
            let Ok(facts) = PacketFacts::parse(line) else { continue };
            let verdict = written.machine.judge(&facts, None);
            if verdict.errors().next().is_none() {
                written.machine.accept(&facts, &verdict);
                accepted.push(line.as_str());
            }
            written.packets += 1;
        }
        (Self { to, written: Arc::new(Mutex::new(written)) }, accepted)
    }
}

impl Log for Tee {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.to.0.lock().append(lines)?;
        let mut written = self.written.lock();
        for line in lines {
            // INVARIANT: the episode has just judged this line.
            let facts = PacketFacts::parse(line.text).map_err(|rejected| io::Error::other(rejected.to_string()))?;
            let verdict = written.machine.judge(&facts, None);
            written.machine.accept(&facts, &verdict);
            written.packets += 1;
        }
        Ok(())
    }

    fn warn(&mut self, warning: &Diagnostic) {
        self.to.0.lock().warn(warning);
        self.written.lock().warnings.push(warning.clone());
    }

    fn holds(&self, episode: &CorrelationId) -> bool {
        self.to.0.lock().holds(episode)
    }
}
