#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| omen_fuzz::parse(input));
