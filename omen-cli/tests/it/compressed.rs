//! Compressed logs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Returns stored (uncompressed) blocks, so that a part of the archive has a part of the lines.
fn plain_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A skippable frame, which has no content.
const SKIPPABLE: &[u8] = &[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'?', b'\n', b'?'];

fn check(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["check", "--format", "json"].iter().chain(args).copied()).current_dir(folder))
}

/// Returns the findings without the name of the file.
fn nameless(run: &Run) -> String {
    let (mut findings, mut summary) = json(run);
    for finding in &mut findings {
        finding["file"] = Value::Null;
    }
    summary["files"] = Value::Null;
    format!("{findings:?} {summary}")
}

#[test]
fn an_archive_has_the_findings_of_its_content() {
    let log = log(BAD).as_bytes();
    let (first, second) = log.split_at(log.len() / 2);
    let archives = [
        ("a.jsonl.gz", gzip(log)),
        ("b.jsonl.zst", zstd(log)),
        ("members.jsonl.gz", [gzip(first), gzip(b""), gzip(second)].concat()),
        ("frames.jsonl.zst", [zstd(first), SKIPPABLE.to_vec(), zstd(b""), zstd(second)].concat()),
        ("skip.jsonl.zst", [SKIPPABLE.to_vec(), zstd(log)].concat()),
        // Recognized by its first bytes.
        ("named", gzip(log)),
        ("named.log", zstd(log)),
    ];
    let folder = folder(&[("plain.jsonl", log)]);
    let expected = nameless(&check(&folder, &["plain.jsonl"]));
    for (name, bytes) in &archives {
        write(folder.path(), name, bytes);
        for jobs in ["1", "3"] {
            let run = check(&folder, &["-j", jobs, name]);
            assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{name}");
            assert_eq!(nameless(&run), expected, "{name}");
        }
        let stdin = run(omen(["check", "--format", "json"]).write_stdin(bytes.clone()));
        assert_eq!(nameless(&stdin), expected, "{name} through standard input");
    }
    let (_, summary) = json(&check(&folder, &["."]));
    assert_eq!((&summary["files"], &summary["rejected"]), (&6.into(), &6.into()));
}

#[test]
fn an_archive_that_ends_early_is_unreadable() {
    let log = log(BAD).repeat(40);
    for (name, bytes) in [("a.gz", plain_gzip(log.as_bytes())), ("a.zst", zstd(log.as_bytes()))] {
        let kind = if name == "a.gz" { "gzip" } else { "zstd" };
        for length in [0, 1, 2, 3, 4, 7, bytes.len() / 2, bytes.len() - 1] {
            let folder = folder(&[(name, &bytes[..length])]);
            let run = check(&folder, &[name]);
            let expected = format!(
                "omen: cannot read {name}: the {kind} archive is truncated; only what could be decoded was read\n"
            );
            assert_eq!((run.code, &run.stderr), (3, &expected), "{name}, {length} bytes");
            assert_eq!(json(&run).1["files"], 0);
        }
    }
    let bytes = plain_gzip(log.as_bytes());
    let run = run(omen(["check", "--format", "json"]).write_stdin(&bytes[..bytes.len() / 2]));
    let (findings, summary) = json(&run);
    assert!(run.code == 3 && findings.len() > 10 && summary["packets"].as_u64() > Some(100), "{summary}");
}

/// Blocks of at most 128 KiB that refer to earlier ones: the decoder keeps them back until it has the last one.
#[test]
fn what_a_truncated_archive_has_decoded_is_checked() {
    let log = log(BAD).repeat(40);
    let archives = [zstd(log.as_bytes()), compress_to_vec(log.as_bytes(), CompressionLevel::Uncompressed)];
    for bytes in archives {
        let packets = |length: usize| {
            let run = run(omen(["check", "--format", "json"]).write_stdin(&bytes[..length]));
            let expected =
                "omen: cannot read <stdin>: the zstd archive is truncated; only what could be decoded was read\n";
            assert_eq!((run.code, run.stderr.as_str()), (3, expected));
            let (findings, summary) = json(&run);
            let of_content = |finding: &Value| finding["code"] == "E4" || finding["code"] == "ID";
            // The content of the incomplete block is not guessed.
            assert!(findings.iter().all(of_content), "{findings:?}");
            summary["packets"].as_u64().unwrap()
        };
        let all = log.lines().count() as u64;
        // Without all or part of the checksum, all blocks are complete.
        assert_eq!(packets(bytes.len() - 1), all);
        assert_eq!(packets(bytes.len() - 4), all);
        let half = packets(bytes.len() / 2);
        assert!(half > all / 4 && half < all, "{half} of {all}");
        assert_eq!(packets(20), 0);
    }
}

#[test]
fn a_corrupt_archive_is_unreadable() {
    let log = log(GOOD).repeat(20);
    let flipped = |mut bytes: Vec<u8>, at: usize| {
        bytes[at] ^= 0x55;
        bytes
    };
    let (gzip, zstd) = (plain_gzip(log.as_bytes()), zstd(log.as_bytes()));
    let (gzip_end, zstd_end) = (gzip.len() - 6, zstd.len() - 2);
    for (name, bytes) in [
        ("checksum.gz", flipped(gzip.clone(), gzip_end)),
        ("checksum.zst", flipped(zstd.clone(), zstd_end)),
        ("block.gz", flipped(gzip.clone(), 10)),
        ("block.zst", flipped(zstd.clone(), 40)),
        ("tail.gz", [gzip, b"more than a header".to_vec()].concat()),
        ("tail.zst", [zstd, b"more than a header".to_vec()].concat()),
    ] {
        let folder = folder(&[(name, &bytes)]);
        let run = check(&folder, &[name]);
        let kind = if name.ends_with("gz") { "gzip" } else { "zstd" };
        let expected = format!("omen: cannot read {name}: the {kind} archive is corrupt (");
        assert!(run.code == 3 && run.stderr.starts_with(&expected), "{name}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

/// A frame may require more memory than is available.
#[test]
fn a_frame_with_a_huge_window_is_refused() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00];
    let folder = folder(&[("bomb.zst", &frame)]);
    let run = check(&folder, &["bomb.zst"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("archive is corrupt (") && run.stderr.contains("indow"), "{}", run.stderr);
}

#[test]
fn a_line_that_is_too_long_is_reported_from_an_archive_too() {
    let mut log = vec![b'x'; 17 * 1024 * 1024];
    log.extend_from_slice(b"\n?\n");
    let folder = folder(&[("a.gz", &gzip(&log)), ("b.zst", &zstd(&log))]);
    let (findings, summary) = json(&check(&folder, &["a.gz", "b.zst"]));
    let lines: Vec<_> = findings.iter().map(|finding| finding["line"].as_u64()).collect();
    assert_eq!(lines, [Some(1), Some(2), Some(1), Some(2)]);
    assert_eq!(summary["bytes"].as_u64(), Some(2 * log.len() as u64));
}

#[test]
fn an_archive_of_nothing_is_an_empty_log() {
    let folder = folder(&[("a.gz", &gzip(b"")), ("b.zst", &zstd(b"")), ("c.zst", SKIPPABLE)]);
    let run = check(&folder, &["a.gz", "b.zst", "c.zst"]);
    assert_eq!((run.code, json(&run).1["files"].as_u64()), (0, Some(3)));
    assert_eq!(run.stderr.matches("contains no packets").count(), 3, "{}", run.stderr);
}

/// A text with the name of an archive is checked as a text.
#[test]
fn a_text_with_the_name_of_an_archive_is_a_text() {
    let folder = folder(&[("a.jsonl.gz", log(GOOD).as_bytes()), ("(b.zst", b"(\n")]);
    assert_eq!(check(&folder, &["a.jsonl.gz"]).code, 0);
    assert_eq!(json(&check(&folder, &["(b.zst"])).0.len(), 1);
}
