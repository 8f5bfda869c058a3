//! A corpus of legal, varied, interleaved episodes, generated from only a seed.

use fastrand::Rng;

mod envelope;
mod episode;
pub mod faults;
mod words;
mod writer;

pub use writer::Form;

use episode::{CLOSED, Episode, OPEN, Step, WHOLE};
use writer::Writer;

/// JSON Lines.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The text.
    pub bytes: Vec<u8>,
    /// Number of lines.
    pub packets: u64,
    /// Number of episodes.
    pub episodes: u64,
}

/// Kind of the episodes in a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All paths through the state machine, to their ends.
    Whole,
    /// Episodes that stay open, like those of an agent at work.
    Open,
    /// Episodes with nothing left to do at their end.
    Closed,
}

/// Selection of the generated episodes. The same values give the same bytes on every platform.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of episodes.
    pub episodes: u64,
    /// Number of episodes that are written at a time, taking turns packet by packet.
    pub interleaved: usize,
    /// Kind of the episodes.
    pub kind: Kind,
    /// Form of their text.
    pub form: Form,
}

impl Plan {
    /// Returns a plan for complete episodes in compact form, too many of them interleaved for a processor's first caches.
    #[must_use]
    pub fn new(seed: u64, episodes: u64) -> Self {
        Self { seed, episodes, interleaved: 2_000, kind: Kind::Whole, form: Form::Compact }
    }

    /// Generates the episodes in pieces of whole lines, each of at least `size` bytes except the last; no piece is kept. `each`
    /// receives a piece and its number of packets.
    pub fn pieces(&self, size: usize, mut each: impl FnMut(&[u8], u64)) {
        let mut writer = Writer::new(self.form, self.seed);
        let mut interleaved = Interleaved::new(self);
        let mut packets = 0;
        while interleaved.write(&mut writer) {
            packets += 1;
            if writer.bytes().len() >= size {
                each(writer.bytes(), packets);
                writer.clear();
                packets = 0;
            }
        }
        if packets > 0 {
            each(writer.bytes(), packets);
        }
    }
}

impl Corpus {
    /// Generates complete episodes. The same seed, count and form give the same bytes on every platform, and all forms contain
    /// the same packets.
    #[must_use]
    pub fn generate(seed: u64, episodes: u64, form: Form) -> Self {
        let mut corpus = Self { bytes: Vec::new(), packets: 0, episodes };
        // A single piece.
        Plan { form, ..Plan::new(seed, episodes) }.pieces(usize::MAX, |bytes, packets| {
            corpus.bytes = bytes.to_vec();
            corpus.packets = packets;
        });
        corpus
    }
}

/// Episodes of which a limited number is written at a time.
struct Interleaved {
    rng: Rng,
    seed: u64,
    ways: &'static [(u32, &'static [Step])],
    at_once: usize,
    running: Vec<Episode>,
    begun: u64,
    episodes: u64,
}

impl Interleaved {
    fn new(plan: &Plan) -> Self {
        let ways = match plan.kind {
            Kind::Whole => WHOLE,
            Kind::Open => OPEN,
            Kind::Closed => CLOSED,
        };
        let Plan { seed, episodes, interleaved, .. } = *plan;
        Self {
            rng: Rng::with_seed(seed),
            seed,
            ways,
            at_once: interleaved.max(1),
            running: Vec::new(),
            begun: 0,
            episodes,
        }
    }

    /// Writes the next packet of a random episode. Returns `false` if all have ended.
    fn write(&mut self, writer: &mut Writer) -> bool {
        loop {
            while self.running.len() < self.at_once && self.begun < self.episodes {
                self.running.push(Episode::new(self.seed, self.begun, self.ways));
                self.begun += 1;
            }
            if self.running.is_empty() {
                return false;
            }
            let at = self.rng.usize(..self.running.len());
            if self.running.get_mut(at).is_some_and(|episode| episode.write(writer)) {
                return true;
            }
            self.running.swap_remove(at);
        }
    }
}
