//! Truncation of findings that are too long for a message.
//!
//! Excerpts in a finding are short, but the ids of a packet may be as long as the packet. A finding that the server does not
//! accept would stop its partition.

use omen::Finding;
use omen::render::json;

/// Returns a finding as a line of JSON without its line end, as `omen check` prints it. The parts of a finding that is too long
/// are truncated.
pub(crate) fn json(stream: &str, mut finding: Finding) -> Vec<u8> {
    let whole = written(stream, &finding);
    if whole.len() <= LARGEST {
        return whole;
    }
    for text in [&mut finding.packet_id, &mut finding.correlation_id, &mut finding.diagnostic.pointer] {
        text.iter_mut().for_each(cut);
    }
    if let Some(id) = finding.follows_from.as_mut().and_then(|cause| cause.packet_id.as_mut()) {
        cut(id);
    }
    let diagnostic = &mut finding.diagnostic;
    cut(&mut diagnostic.message);
    diagnostic.label.iter_mut().chain(&mut diagnostic.help).for_each(cut);
    diagnostic.notes.truncate(NOTES);
    diagnostic.notes.iter_mut().for_each(cut);
    written(stream, &finding)
}

fn written(stream: &str, finding: &Finding) -> Vec<u8> {
    let mut line = Vec::new();
    // Writing to a vector cannot fail, and every finding can be expressed in JSON.
    let _ = json::finding(&mut line, stream, finding);
    line.truncate(line.trim_ascii_end().len());
    line
}

fn cut(text: &mut String) {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
}

/// Maximum size of a finding in bytes: a quarter of the default message limit of a server.
const LARGEST: usize = 256 * 1024;

/// Maximum size of a part of a truncated finding in bytes.
const LONGEST: usize = 4 * 1024;

/// Maximum number of notes in a truncated finding.
const NOTES: usize = 8;

#[cfg(test)]
mod tests {
    use omen::validator::{Message, Validator, ValidatorOptions};

    use super::*;

    #[test]
    fn long_ids_are_cut() {
        let id = "x".repeat(2 * LARGEST);
        let packet = format!(r#"{{"header":{{"correlation_id":"corr_{id}","packet_id":"pkt_{id}"}}}}"#);
        let mut findings: Vec<Finding> = Vec::new();
        let Ok(()) =
            Validator::new(ValidatorOptions::default()).message(1, &Message::new(packet.as_bytes()), &mut findings);
        assert!(!findings.is_empty());
        for finding in findings {
            let short = json("PACKETS", finding);
            assert!(short.len() < LARGEST && short.starts_with(b"{") && short.ends_with(b"}"));
        }
    }
}
