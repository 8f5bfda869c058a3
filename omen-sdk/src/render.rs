//! Findings as text: for people ([`human`]) and for programs ([`json`]).
//!
//! ```
//! use omen::render::{human::Human, json};
//! use omen::{Finding, Sink, Validator, validator::ValidatorOptions};
//!
//! struct Print(Vec<u8>);
//!
//! impl Sink for Print {
//!     fn finding(&mut self, finding: Finding, line: Option<&str>) {
//!         print!("{}", Human::plain().finding("episode.jsonl", &finding, line));
//!         json::finding(&mut self.0, "episode.jsonl", &finding).expect("memory takes it");
//!     }
//! }
//!
//! let mut print = Print(Vec::new());
//! let mut validator = Validator::new(ValidatorOptions::default());
//! validator.feed(b"no packet\n", &mut print);
//! let summary = validator.finish(&mut print);
//! json::summary(&mut print.0, 1, &summary)?;
//! assert!(print.0.starts_with(br#"{"file":"episode.jsonl","line":1,"#));
//! # std::io::Result::Ok(())
//! ```
//!
//! Renderers only format. What is wrong, and in which words, is settled before they are called.

mod excerpt;
pub mod human;
pub mod json;
