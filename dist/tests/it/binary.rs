//! What is read from the headers of binaries, with this test for one.

use std::fs;

use omen_dist::{Binary, PLATFORMS};

fn own() -> Vec<u8> {
    fs::read(std::env::current_exe().unwrap()).unwrap()
}

/// The newest version of glibc that stands anywhere in a binary as a text.
fn newest(bytes: &[u8]) -> Option<(u32, u32)> {
    let text = String::from_utf8_lossy(bytes);
    let minors = text.split("GLIBC_2.").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    minors.max().map(|minor| (2, minor))
}

fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = own();
    let places: Vec<_> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

fn error(bytes: &[u8]) -> String {
    Binary::read(bytes).expect_err("it is refused")
}

#[test]
fn a_program_runs_where_glibc_is_as_new_as_its_newest_symbol() {
    let bytes = own();
    let binary = Binary::read(&bytes).expect("this test is a program");
    assert_eq!(binary.platform.wheel, std::env::consts::ARCH);
    assert_eq!(Some(binary.glibc), newest(&bytes));
    assert!(binary.glibc >= (2, 17), "rustc requires at least that");
}

#[test]
fn each_doubt_is_a_refusal() {
    for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &own()[..40]] {
        assert!(error(bytes).starts_with("expected a program for Linux, in the format ELF: "), "{}", error(bytes));
    }
    let patched = |at: usize, bytes: &[u8]| {
        let mut own = own();
        own[at..at + bytes.len()].copy_from_slice(bytes);
        error(&own)
    };
    let targets = PLATFORMS.map(|platform| platform.target).join(", ");
    assert_eq!(patched(18, &[40, 0]), format!("the binary is for the machine 40 of ELF; expected one of {targets}"));
    // Without sections, nothing says what it requires.
    assert!(patched(40, &[0; 8]).starts_with("the binary has no list of what it requires"));
    assert!(error(&own()[..4096]).starts_with("invalid ELF: ") || error(&own()[..4096]).starts_with("expected"));
    let other = error(&replaced(b"\0libc.so.6\0", b"\0libx.so.6\0"));
    assert_eq!(other, "the binary requires `libx.so.6`, which a system with glibc may lack");
    let unknown = error(&replaced(b"\0GLIBC_2.", b"\0GLIBX_2."));
    assert!(unknown.starts_with("the binary requires symbols of `GLIBX_2."), "{unknown}");
    let newer = error(&replaced(b"\0GCC_3.", b"\0GCC_9."));
    assert!(newer.starts_with("the binary requires symbols of `GCC_9."), "{newer}");
}

#[test]
fn a_damaged_header_does_no_harm() {
    let own = own();
    for at in 0..64 {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut bytes = own.clone();
            bytes[at] = byte;
            let _ = Binary::read(&bytes);
        }
    }
}
