//! Random logs: interleaved examples with damaged lines.

use omen::render::json;
use omen::{Finding, Validator, ValidatorOptions};

/// Small random number generator: a seed gives the same log on every platform.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// Returns a log of several examples. `name` makes its correlation ids different from those of other logs.
pub(crate) fn random(seed: u64, name: &str) -> String {
    let examples: Vec<&str> =
        omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).map(|(_, text)| *text).collect();
    assert!(examples.len() > 200);
    let mut random = Random::new(seed);
    let count = 2 + random.below(5);
    let mut sources: Vec<Vec<String>> = (0..count)
        .map(|at| {
            let id = format!("\"correlation_id\":\"corr_{name}{at}_");
            let lines = examples[random.below(examples.len())].lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| line.replace("\"correlation_id\":\"corr_", &id)).rev().collect()
        })
        .collect();
    let mut log = String::new();
    while !sources.is_empty() {
        let at = random.below(sources.len());
        let Some(line) = sources[at].pop() else {
            drop(sources.swap_remove(at));
            continue;
        };
        // The first line determines the format of a log, while messages have no format to detect.
        if !log.is_empty() && random.one_in(8) {
            log.push_str(&damage(line, &mut random));
        } else {
            log.push_str(&line);
        }
        log.push('\n');
    }
    log
}

fn damage(line: String, random: &mut Random) -> String {
    let ends: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
    let at = ends[random.below(ends.len())];
    match random.below(6) {
        0 => line[..at.max(1)].to_owned(),
        1 => line.replacen("\"payload\"", "\"pay\"", 1),
        2 => line.replacen("\"correlation_id\"", "\"correlation\"", 1),
        3 => "{}".to_owned(),
        4 => line.replacen(":\"", ":1,\"x\":\"", 3),
        _ => format!("{line}\n{line}"),
    }
}

/// Returns the findings of `omen check` for a log.
pub(crate) fn checked_with(log: &str, options: ValidatorOptions) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(options);
    let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    let Ok(_) = validator.finish(&mut findings);
    findings
}

/// Returns a finding as `omen check --format json` prints it.
pub(crate) fn written(file: &str, finding: &Finding) -> String {
    let mut line = Vec::new();
    json::finding(&mut line, file, finding).unwrap();
    String::from_utf8(line).unwrap().trim_end().to_owned()
}
