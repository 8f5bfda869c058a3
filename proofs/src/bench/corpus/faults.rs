//! The same log with faulty packets inserted.
//!
//! A faulty packet is rejected and changes nothing, so the surrounding packets stay legal, and the share of faulty ones is
//! known.

use fastrand::Rng;

use super::Corpus;

/// Fault of a packet.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// It is cut off.
    Cut,
    /// The first text is replaced by the second, wherever it occurs.
    Edit(&'static str, &'static str),
    /// The packet is repeated with the same id.
    Again,
    /// The packet is repeated with a new id.
    Renamed,
}

/// Text that a packet must contain, and the resulting fault.
type Entry = (&'static str, Fault);

/// Faults of the text.
const UNREADABLE: &[Entry] = &[
    ("{", Fault::Cut),
    ("\"confidence\":", Fault::Edit("\"confidence\":", "\"confidence\":.")),
    ("\"intent\":{\"summary\":\"", Fault::Edit("\"intent\":{\"summary\":\"", "\"intent\":{\"summary\":\"\t")),
    ("\"intent\":{\"summary\":\"", Fault::Edit("\"intent\":{\"summary\":\"", "\"intent\":{\"summary\":\"\\ud800")),
];

/// Faults against the schema.
const INVALID: &[Entry] = &[
    ("\"payload\":{", Fault::Edit("\"payload\":{", "\"payload\":{\"remark\":1,")),
    ("\"mcp\":{", Fault::Edit("\"mcp\":{", "\"mcp\":{\"stakes\":{},")),
    ("\"created_at\"", Fault::Edit("\"created_at\"", "\"createdAt\"")),
    ("\"stakes_level\":\"", Fault::Edit("\"stakes_level\":\"", "\"stakes_level\":\"VERY_")),
    ("\"token_budget\":", Fault::Edit("\"token_budget\":", "\"token_budget\":-")),
    ("\"satisficing_mode\":", Fault::Edit("\"satisficing_mode\":", "\"satisficing_mode\":0,\"_\":")),
];

/// Faults against ids, the state machine and the invariants.
const ILLEGAL: &[Entry] = &[
    ("\"BeliefUpdatePacket\"", Fault::Again),
    ("\"ObservationPacket\"", Fault::Again),
    ("\"decision_outcome\":\"ACT\"", Fault::Renamed),
    ("\"decision_outcome\":\"DEFER\"", Fault::Renamed),
    ("\"decision_outcome\":\"VERIFY_FIRST\"", Fault::Renamed),
    ("\"TaskResultPacket\"", Fault::Renamed),
    ("\"TaskDirectivePacket\"", Fault::Renamed),
    ("\"decision_outcome\":\"ACT\"", Fault::Edit("\"constitutional_check\":true", "\"constitutional_check\":false")),
    ("\"decision_outcome\":\"ACT\"", Fault::Edit("\"quality_tier\":\"PAR\"", "\"quality_tier\":\"SUBPAR\"")),
];

/// Makes about a tenth of all packets faulty.
pub const TENTH: u32 = 9;

/// Returns a corpus in compact form with faulty packets: one packet in `every` is preceded or followed by a faulty one.
#[must_use]
pub fn faulty(corpus: &Corpus, seed: u64, every: u32) -> Corpus {
    let mut rng = Rng::with_seed(seed);
    let mut bytes = Vec::with_capacity(corpus.bytes.len() + corpus.bytes.len() / 8);
    let mut packets = corpus.packets;
    let text = str::from_utf8(&corpus.bytes).unwrap_or_default();
    for line in text.split_inclusive('\n') {
        let is_chosen = rng.u32(..every.max(1)) == 0;
        let Some((is_before, broken)) = is_chosen.then(|| broken(line, &mut rng)).flatten() else {
            bytes.extend(line.as_bytes());
            continue;
        };
        packets += 1;
        let (first, second) = if is_before { (&*broken, line) } else { (line, &*broken) };
        bytes.extend(first.as_bytes());
        bytes.extend(second.as_bytes());
    }
    Corpus { bytes, packets, episodes: corpus.episodes }
}

/// Returns a faulty packet, and whether it comes before the one from which it was made.
fn broken(line: &str, rng: &mut Rng) -> Option<(bool, String)> {
    let fits = |needs: &str, fault: &Fault| match fault {
        Fault::Edit(from, _) => line.contains(needs) && line.contains(from),
        _ => line.contains(needs),
    };
    let group = rng.choice([UNREADABLE, INVALID, ILLEGAL])?;
    // Any packet can be cut off.
    let mut of = |group: &'static [Entry]| {
        rng.choice(group.iter().filter(|(needs, fault)| fits(needs, fault)).collect::<Vec<_>>())
    };
    let (_, fault) = of(group).or_else(|| of(UNREADABLE))?;
    Some(match fault {
        Fault::Cut => {
            let at = (1..line.len() - 1 - rng.usize(..line.len() - 2)).rev().find(|at| line.is_char_boundary(*at))?;
            (true, format!("{}\n", line.get(..at)?))
        }
        Fault::Edit(from, to) => (true, line.replacen(from, to, 1)),
        Fault::Again => (false, line.to_owned()),
        Fault::Renamed => (false, line.replacen("\"packet_id\":\"pkt_", "\"packet_id\":\"pkt_again_", 1)),
    })
}
