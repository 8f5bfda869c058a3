//! A corpus of legal, varied, interleaved episodes, generated from a seed alone.

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

/// What the episodes of a corpus are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every path of the state machine, each to its end.
    Whole,
    /// Episodes that stay open, as they do while an agent is at work.
    Open,
    /// Episodes that have nothing left to do at their end.
    Closed,
}

/// Which episodes are generated. The same values give the same bytes everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of episodes.
    pub episodes: u64,
    /// How many of them are written at a time, packet by packet in turns.
    pub interleaved: usize,
    /// What they are.
    pub kind: Kind,
    /// How they are written.
    pub form: Form,
}

impl Plan {
    /// Complete episodes in compact form, of which more are written at a time than fit in a processor's first caches.
    #[must_use]
    pub fn new(seed: u64, episodes: u64) -> Self {
        Self { seed, episodes, interleaved: 2_000, kind: Kind::Whole, form: Form::Compact }
    }

    /// Generates the episodes in pieces of whole lines, each of at least `size` bytes but for the last; no piece is kept. `each`
    /// gets a piece and its number of packets.
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
    /// Generates complete episodes. The same seed, count and form give the same bytes everywhere, and the forms the same
    /// packets.
    #[must_use]
    pub fn generate(seed: u64, episodes: u64, form: Form) -> Self {
        let mut corpus = Self { bytes: Vec::new(), packets: 0, episodes };
        // All in one piece.
        Plan { form, ..Plan::new(seed, episodes) }.pieces(usize::MAX, |bytes, packets| {
            corpus.bytes = bytes.to_vec();
            corpus.packets = packets;
        });
        corpus
    }
}

/// Episodes, of which a limited number is being written at a time.
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

    /// Writes the next packet of a random episode; false if all have ended.
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
