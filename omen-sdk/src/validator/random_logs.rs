//! Random logs: interleaved examples, damaged in every way that a log file can be.

/// Line limit in bytes of the tests, so low that many lines exceed it.
pub(super) const LINE_LIMIT: usize = 16 * 1024;

/// Small random number generator; a seed yields the same log on every platform.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// Returns the names of the example logs.
pub(super) fn examples() -> Vec<&'static str> {
    let logs: Vec<_> = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).collect();
    assert!(logs.len() > 200);
    logs.into_iter().map(|(_, text)| *text).collect()
}

/// Returns a random log; the same seed yields the same log.
pub(super) fn random(seed: u64, examples: &[&str]) -> Vec<u8> {
    let mut random = Random::new(seed);
    let count = 1 + random.below(4);
    let mut sources: Vec<Vec<String>> = (0..count)
        .map(|_| {
            let log = examples[random.below(examples.len())];
            // If the same episode occurs twice, its ids repeat.
            let part = if random.one_in(3) { String::new() } else { format!("{}_", random.below(100)) };
            log.lines().map(|line| of_another_episode(line, &part)).collect()
        })
        .collect();
    for source in &mut sources {
        source.reverse();
    }
    let is_broken = !random.one_in(4);
    let mut log = Vec::new();
    while !sources.is_empty() && log.len() < ENOUGH {
        let at = random.below(sources.len());
        match sources[at].pop() {
            Some(line) if is_broken && random.one_in(5) && !line.is_empty() => {
                damage(line.into_bytes(), &mut random, &mut log)
            }
            Some(line) => log.extend_from_slice(line.as_bytes()),
            None => {
                sources.swap_remove(at);
                continue;
            }
        }
        let end: &[u8] = if random.one_in(6) { b"\r\n" } else { b"\n" };
        log.extend_from_slice(end);
        if random.one_in(12) {
            log.extend_from_slice([&b"\n"[..], b" \t\r\n", b"\r\n\n\n"][random.below(3)]);
        }
    }
    if random.one_in(3) {
        log.pop();
    }
    log
}

/// Returns a packet with another correlation id.
pub(super) fn of_another_episode(line: &str, part: &str) -> String {
    line.replace("\"correlation_id\":\"corr_", &format!("\"correlation_id\":\"corr_{part}"))
}

/// Approximate size in bytes at which the episodes of a log are truncated.
const ENOUGH: usize = 12 * 1024;

fn damage(mut line: Vec<u8>, random: &mut Random, log: &mut Vec<u8>) {
    let at = random.below(line.len());
    match random.below(9) {
        0 => line[at] = 0xff,
        1 => line[at] = b'\n',
        2 => line.truncate(at),
        3 => drop(line.remove(at)),
        4 => line[at] = b"{}[]\",:0x"[random.below(9)],
        5 => line.extend(std::iter::repeat_n(b' ', random.below(2 * LINE_LIMIT))),
        6 => line = b"{}\n".repeat(random.below(100)),
        7 => line.extend_from_slice(&[&b"\n"[..], &line.clone()].concat()),
        _ => line = br#"{"header":{"correlation_id":"corr_x","packet_id":"p"},"a":1,"b":[],"c":{}}"#.to_vec(),
    }
    log.extend_from_slice(&line);
}
