//! A corpus of legal, varied, interleaved episodes, generated from a seed alone.

use fastrand::Rng;

mod envelope;
mod episode;
mod words;
mod writer;

use episode::{Episode, OPEN, Step, WHOLE};
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

impl Corpus {
    /// Generates complete episodes. The same seed and count give the same bytes everywhere; with `shuffled`, the same packets
    /// with the members of every object in another order.
    #[must_use]
    pub fn generate(seed: u64, episodes: u64, shuffled: bool) -> Self {
        let mut writer = Writer::new(shuffled.then_some(seed));
        let mut interleaved = Interleaved::new(seed, episodes, WHOLE);
        let mut packets = 0;
        while interleaved.write(&mut writer) {
            packets += 1;
        }
        Self { bytes: writer.into_bytes(), packets, episodes }
    }
}

/// Generates episodes that stay open, line by line; no line is kept.
pub fn open_episodes(seed: u64, episodes: u64, mut each: impl FnMut(&[u8])) {
    let mut writer = Writer::new(None);
    let mut interleaved = Interleaved::new(seed, episodes, OPEN);
    while interleaved.write(&mut writer) {
        each(writer.bytes());
        writer.clear();
    }
}

/// Episodes, of which a limited number is being written at a time.
struct Interleaved {
    rng: Rng,
    seed: u64,
    ways: &'static [(u32, &'static [Step])],
    running: Vec<Episode>,
    begun: u64,
    episodes: u64,
}

impl Interleaved {
    fn new(seed: u64, episodes: u64, ways: &'static [(u32, &'static [Step])]) -> Self {
        Self { rng: Rng::with_seed(seed), seed, ways, running: Vec::new(), begun: 0, episodes }
    }

    /// Writes the next packet of a random episode; false if all have ended.
    fn write(&mut self, writer: &mut Writer) -> bool {
        loop {
            while self.running.len() < RUNNING && self.begun < self.episodes {
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

/// How many episodes are being written at a time: more than fit in a processor's first caches.
const RUNNING: usize = 2_000;
