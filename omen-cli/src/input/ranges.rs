//! Positions of packets in a text.

use std::ops::Range;

use omen::input::{Layout, MARK, PacketLines, PacketSplitter};

use super::source;

/// Returns the byte range of each packet in a text, in order, without surrounding whitespace. Anything found where a packet is
/// expected counts as one.
pub(crate) fn packet_ranges(text: &str, layout: Layout) -> Vec<Range<usize>> {
    let mark = if text.as_bytes().starts_with(MARK) { MARK.len() } else { 0 };
    if layout.of(source(text)).layout != Layout::Array {
        return lines(text, mark);
    }
    let (mut splitter, mut lines) = (PacketSplitter::default(), PacketLines::default());
    splitter.feed(text.as_bytes(), &mut lines);
    splitter.finish(&mut lines);
    let mut starts = vec![mark];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    let packets = lines.bytes.split(|byte| *byte == b'\n').zip(&lines.places);
    let mut ranges: Vec<_> = packets
        .filter_map(|(packet, place)| {
            let line = *starts.get(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
            let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
            let (before, _) = text.get(line..)?.char_indices().nth(column)?;
            // `packet` may have other line ends, but of the same length.
            let start = line + before;
            Some(start..(start + packet.trim_ascii_end().len()).min(text.len()))
        })
        .collect();
    // An unclosed array is reported at its bracket, but after its packets.
    ranges.sort_by_key(|range| range.start);
    ranges
}

fn lines(text: &str, mark: usize) -> Vec<Range<usize>> {
    let mut start = mark;
    let all = text.get(mark..).unwrap_or_default().split_inclusive('\n');
    let ranges = all.map(|line| {
        let begin = start + line.len() - line.trim_ascii_start().len();
        start += line.len();
        begin..begin + line.trim_ascii().len()
    });
    ranges.filter(|range| !range.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<_> = packet_ranges(text, Layout::Auto).into_iter().map(|range| text.get(range)).collect();
        assert_eq!(found, expect.iter().copied().map(Some).collect::<Vec<_>>(), "{text:?}");
    }

    #[test]
    fn each_packet_has_its_range() {
        check("", &[]);
        check("{\"a\":1}\r\n\n  x é \n{}", &["{\"a\":1}", "x é", "{}"]);
        check("\u{feff}{}\n{}", &["{}", "{}"]);
        check("[\n {\"é\": 1},{}\n]", &["{\"é\": 1}", "{}"]);
        check("\u{feff}[{\n\"a\": \"é\"\r\n}, {}]", &["{\n\"a\": \"é\"\r\n}", "{}"]);
        check("[\n{},\n{\"a\":", &["{}", "{\"a\":"]);
        check("[\n{}\n", &["[", "{}"]);
    }
}
