//! Whether a change of a public API breaks its users.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How an API differs from the reviewed one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Changes that can break programs: `-` for a removed line, `+` for an added one.
    breaking: Vec<String>,
    /// Changes that only add.
    new: Vec<String>,
}

impl Changes {
    pub(crate) fn breaks(&self) -> bool {
        !self.breaking.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.breaking.is_empty() && self.new.is_empty()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("BREAKING: a new major version, or minor before 1.0", &self.breaking),
            ("new: a new minor version", &self.new),
        ];
        for (what, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(f, "{what}")?;
            lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}

/// Compares two listings, line by line. Lines that begin with `//` are comments.
///
/// A removed line breaks programs, and so does a changed one, which is removed in its old form. An added line breaks them if
/// they can rely on its absence: a variant of an enum that can be matched exhaustively, a field of a struct that can be
/// constructed, a required item of a trait, a type that is no longer `Send` or `Sync`.
pub(crate) fn compare(reviewed: &str, now: &str) -> Changes {
    let (reviewed, now) = (lines(reviewed), lines(now));
    let known = closed(&reviewed);
    let mut changes = Changes::default();
    for gone in reviewed.difference(&now) {
        let list = if is_negative(gone) { &mut changes.new } else { &mut changes.breaking };
        list.push(format!("- {gone}"));
    }
    for came in now.difference(&reviewed) {
        let list = if breaks(came, &known) { &mut changes.breaking } else { &mut changes.new };
        list.push(format!("+ {came}"));
    }
    changes
}

fn lines(listing: &str) -> BTreeSet<&str> {
    listing.lines().filter(|line| !line.starts_with("//") && !line.is_empty()).collect()
}

/// The enums, structs, variants and traits, and whether adding to them breaks programs.
fn closed<'l>(lines: &BTreeSet<&'l str>) -> BTreeMap<String, bool> {
    let named = |line: &&'l str| {
        let (attributes, item) = match line.find("] ") {
            Some(end) if line.starts_with("#[") => line.split_at(end + 2),
            _ => ("", *line),
        };
        let kinds = ["pub enum ", "pub struct ", "pub union ", "variant ", "pub trait ", "pub unsafe trait "];
        let rest = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
        let is_open = attributes.contains("non_exhaustive") || item.ends_with("{ .. }");
        Some((path(rest), !is_open))
    };
    lines.iter().filter_map(named).collect()
}

fn breaks(came: &str, closed: &BTreeMap<String, bool>) -> bool {
    let to_closed = |item: &str| {
        let path = path(item);
        path.rsplit_once("::").and_then(|(parent, _)| closed.get(parent)).copied().unwrap_or(false)
    };
    let came = match came.find("] ") {
        Some(end) if came.starts_with("#[") => came.get(end + 2..).unwrap_or_default(),
        _ => came,
    };
    if let Some(item) = came.strip_prefix("variant ").or_else(|| came.strip_prefix("field ")) {
        return to_closed(item);
    }
    if came.ends_with(';') {
        let words = ["async ", "unsafe ", "const ", "fn ", "type "];
        let mut item = came.trim_start_matches("pub ");
        while let Some(rest) = words.iter().find_map(|word| item.strip_prefix(word)) {
            item = rest;
        }
        return to_closed(item);
    }
    is_negative(came)
}

fn is_negative(line: &str) -> bool {
    line.starts_with("impl")
        && (line.contains(" !core::marker::Send for ") || line.contains(" !core::marker::Sync for "))
}

/// The path at the start of a text, without generic parameters: `a::B<T>::c(u8)` has `a::B::c`.
fn path(text: &str) -> String {
    let (mut path, mut depth) = (String::new(), 0_usize);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ':' if rest.next_if_eq(&':').is_some() => path.push_str("::"),
            ':' | '(' | ' ' | ';' => break,
            c => path.push(c),
        }
    }
    path
}

const REVIEWED: &str = "\
// Listed by rustc 1.0.
pub mod a
pub enum a::Closed
variant a::Closed::One
variant a::Closed::Many(u8)
variant a::Closed::Named
field a::Closed::Named::size: u8
#[non_exhaustive] pub enum a::Open
variant a::Open::One
pub struct a::Point
field a::Point::x: f64
pub struct a::Handle { .. }
pub trait a::Server<T>: core::marker::Send
pub fn a::Server::call(&self, u8) -> T;
pub fn a::Server::revision(&self) -> u64 { .. }
pub fn a::Handle::get(&self) -> core::option::Option<u8>
impl core::clone::Clone for a::Handle
";

/// Removes and adds lines, and checks what that is reported as.
#[track_caller]
fn check(removed: &[&str], added: &[&str], breaking: &[&str], new: &[&str]) {
    let mut now: Vec<&str> = REVIEWED.lines().collect();
    for line in removed {
        let before = now.len();
        now.retain(|there| there != line);
        assert_eq!(now.len() + 1, before, "`{line}` is not there");
    }
    now.extend(added);
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(compare(REVIEWED, &now.join("\n")), Changes { breaking: owned(breaking), new: owned(new) });
}

#[test]
fn the_same_api_in_another_order_is_no_change() {
    let mut lines: Vec<_> = REVIEWED.lines().collect();
    lines.reverse();
    assert!(compare(REVIEWED, &lines.join("\n")).is_empty());
}

#[test]
fn a_removed_or_changed_item_breaks() {
    let get = "pub fn a::Handle::get(&self) -> core::option::Option<u8>";
    check(&[get], &[], &["- pub fn a::Handle::get(&self) -> core::option::Option<u8>"], &[]);
    let changed = "pub fn a::Handle::get(&self, u8) -> core::option::Option<u8>";
    let (gone, came) = (format!("- {get}"), format!("+ {changed}"));
    check(&[get], &[changed], &[&gone], &[&came]);
    check(&["impl core::clone::Clone for a::Handle"], &[], &["- impl core::clone::Clone for a::Handle"], &[]);
    check(&["variant a::Open::One"], &[], &["- variant a::Open::One"], &[]);
}

#[test]
fn a_variant_breaks_only_where_all_may_be_matched() {
    check(&[], &["variant a::Closed::Two"], &["+ variant a::Closed::Two"], &[]);
    check(&[], &["variant a::Closed::Two(a::Handle)"], &["+ variant a::Closed::Two(a::Handle)"], &[]);
    check(&[], &["variant a::Open::Two"], &[], &["+ variant a::Open::Two"]);
    let other = ["pub enum a::Other", "variant a::Other::One"];
    check(&[], &other, &[], &["+ pub enum a::Other", "+ variant a::Other::One"]);
}

#[test]
fn a_field_breaks_only_where_others_may_put_the_value_together() {
    check(&[], &["field a::Point::y: f64"], &["+ field a::Point::y: f64"], &[]);
    check(&[], &["field a::Closed::Named::more: u8"], &["+ field a::Closed::Named::more: u8"], &[]);
    check(&[], &["field a::Handle::name: u8"], &[], &["+ field a::Handle::name: u8"]);
}

#[test]
fn a_required_item_of_a_trait_breaks_and_a_provided_one_does_not() {
    let (required, provided) = ("pub fn a::Server::stop(&self);", "pub fn a::Server::stop(&self) { .. }");
    check(&[], &[required], &["+ pub fn a::Server::stop(&self);"], &[]);
    check(&[], &[provided], &[], &["+ pub fn a::Server::stop(&self) { .. }"]);
    check(&[], &["pub type a::Server::Error;"], &["+ pub type a::Server::Error;"], &[]);
    let trait_of_its_own = ["pub trait a::Fresh", "pub fn a::Fresh::go(&self);"];
    check(&[], &trait_of_its_own, &[], &["+ pub fn a::Fresh::go(&self);", "+ pub trait a::Fresh"]);
}

#[test]
fn a_type_that_stays_on_its_thread_from_now_on_breaks() {
    let negative = "impl !core::marker::Send for a::Handle";
    check(&[], &[negative], &["+ impl !core::marker::Send for a::Handle"], &[]);
    let before = format!("{REVIEWED}{negative}\n");
    assert_eq!(compare(&before, REVIEWED), Changes { new: vec![format!("- {negative}")], ..Changes::default() });
}

#[test]
fn the_report_tells_both_kinds_apart() {
    let now = REVIEWED.replace("variant a::Open::One", "variant a::Open::Two");
    assert_eq!(
        compare(REVIEWED, &now).to_string(),
        "BREAKING: a new major version, or minor before 1.0\n  - variant a::Open::One\n\
         new: a new minor version\n  + variant a::Open::Two\n"
    );
}
