//! Names of types within each crate.
//!
//! Two types of one name, or a type named by a bare participle, cannot be understood without their file. `type_names.json`
//! has, for each crate, the names that it defines more than once, with an upper bound for each. A bound may only decrease:
//! `OMEN_BLESS=1 cargo test -p xtask --test it type_names::` lowers the bounds, and never raises or adds one. The crates in
//! [`CLEAN`] have no private type of such a name at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Crates in which a name belongs to at most one private type, and none of them is a bare participle.
const CLEAN: &[&str] = &[
    "omen-audit",
    "omen-base",
    "omen-cli",
    "omen-codegen",
    "omen-fsm",
    "omen-gate",
    "omen-hook",
    "omen-invariants",
    "omen-mcp",
    "omen-order",
    "omen-proxy",
    "omen-sdk",
    "omen-types",
    "omen-worker",
];

/// Irregular participles. All words that end in `ed` count as well.
const PARTICIPLES: &[&str] = &[
    "Begun", "Built", "Chosen", "Done", "Found", "Given", "Gone", "Held", "Hidden", "Kept", "Known", "Left", "Lost",
    "Made", "Proven", "Said", "Seen", "Sent", "Shown", "Spent", "Taken", "Written",
];

/// Upper bounds for the number of types with a name, by crate and name.
type Bounds = BTreeMap<String, BTreeMap<String, usize>>;

#[test]
fn the_number_of_types_with_one_name_only_decreases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/type_names.json");
    let mut bounds: Bounds = serde_json::from_str(&fs::read_to_string(&folder).expect("the bounds")).expect("bounds");
    let found: Bounds = crates().map(|name| (name.to_owned(), repeated(&types_of(name)))).collect();
    if std::env::var_os("OMEN_BLESS").is_some() {
        bounds.retain(|name, _| found.contains_key(name));
        for (name, of_crate) in &mut bounds {
            let found = &found[name];
            of_crate.retain(|name, _| found.contains_key(name));
            of_crate.iter_mut().for_each(|(name, bound)| *bound = found[name].min(*bound));
        }
        bounds.retain(|_, of_crate| !of_crate.is_empty());
        let text = serde_json::to_string_pretty(&bounds).expect("JSON") + "\n";
        fs::write(&folder, text).expect("written");
    }
    let faults = exceeded(&bounds, &found);
    assert!(faults.is_empty(), "rename a type, so that its name says what it is:\n{}", faults.join("\n"));
}

#[test]
fn private_types_of_clean_crates_have_names_of_their_own() {
    for name in CLEAN {
        let faults = unclear(&types_of(name));
        assert!(faults.is_empty(), "{name}: rename these types:\n{}", faults.join("\n"));
    }
}

#[test]
fn a_bound_is_exceeded_by_one_more_type() {
    let counts = |counts: &[(&str, usize)]| -> Bounds {
        let of_crate = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        BTreeMap::from([("omen-x".to_owned(), of_crate)])
    };
    let bounds = counts(&[("State", 3)]);
    assert_eq!(exceeded(&bounds, &counts(&[("State", 3)])), [""; 0]);
    assert_eq!(exceeded(&bounds, &counts(&[])), [""; 0]);
    assert_eq!(exceeded(&bounds, &counts(&[("State", 4)])), ["omen-x: 4 types are named `State`, at most 3 may be"]);
    assert_eq!(exceeded(&bounds, &counts(&[("Step", 2)])), ["omen-x: 2 types are named `Step`, at most 1 may be"]);
}

#[test]
fn types_are_read_from_the_sources() {
    let text = "
        pub struct Row; pub(crate) struct Row<T>(T); pub trait Taken {} struct Seen; enum Order {}
        mod inner { type Order = (); fn f() { struct Local; } }
        impl Iterator for Row { type Item = u8; } macro_rules! m { () => { struct Emitted; } }
        #[cfg(test)] mod tests { struct Row; }";
    let mut types = Vec::new();
    read(text.parse().expect("Rust"), &mut types);
    let names: Vec<_> = types.iter().map(|(name, is_public)| (name.as_str(), *is_public)).collect();
    let expected =
        [("Row", true), ("Row", false), ("Taken", true), ("Seen", false), ("Order", false), ("Order", false)];
    assert_eq!(names, expected);
    assert_eq!(repeated(&types), BTreeMap::from([("Order".to_owned(), 2), ("Row".to_owned(), 2)]));
    assert_eq!(
        unclear(&types),
        ["2 types are named `Order`", "2 types are named `Row`", "`Seen` is a bare participle"]
    );
}

/// Returns the names that more types have than permitted.
fn exceeded(bounds: &Bounds, found: &Bounds) -> Vec<String> {
    let all = found.iter().flat_map(|(of, names)| names.iter().map(move |(name, count)| (of, name, *count)));
    all.filter_map(|(of, name, count)| {
        let bound = bounds.get(of).and_then(|names| names.get(name)).copied().unwrap_or(1);
        (count > bound).then(|| format!("{of}: {count} types are named `{name}`, at most {bound} may be"))
    })
    .collect()
}

/// Returns the faults of a clean crate. Public types keep their names, because users depend on them.
fn unclear(types: &[(String, bool)]) -> Vec<String> {
    let is_private = |name: &str| types.iter().any(|(other, is_public)| other == name && !is_public);
    let twice = repeated(types).into_iter().filter(|(name, _)| is_private(name));
    let mut faults: Vec<_> = twice.map(|(name, count)| format!("{count} types are named `{name}`")).collect();
    let is_participle = |name: &str| {
        let is_one_word = name.chars().filter(|c| c.is_uppercase()).count() == 1;
        is_one_word && (name.ends_with("ed") || PARTICIPLES.contains(&name))
    };
    let participles = types.iter().filter(|(name, is_public)| !is_public && is_participle(name));
    faults.extend(participles.map(|(name, _)| format!("`{name}` is a bare participle")));
    faults
}

/// Returns the names that more than one type has, each with the number of types.
fn repeated(types: &[(String, bool)]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (name, _) in types {
        *counts.entry(name.clone()).or_insert(0) += 1;
    }
    counts.retain(|_, count| *count > 1);
    counts
}

/// Returns the folders of the workspace's crates that have sources.
pub(crate) fn crates() -> impl Iterator<Item = &'static str> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    xtask::package::members().filter(move |name| root.join(name).join("src").is_dir())
}

/// Returns the types of a crate, each with whether it is `pub`.
fn types_of(name: &str) -> Vec<(String, bool)> {
    let mut types = Vec::new();
    read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"), &mut types);
    types
}

fn read_folder(folder: &Path, types: &mut Vec<(String, bool)>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_folder(&path, types);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            read(text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display())), types);
        }
    }
}

/// Reads the items of a module and its inline modules. Bodies, macros and tests are skipped.
fn read(tokens: TokenStream, types: &mut Vec<(String, bool)>) {
    let (mut is_public, mut is_test) = (false, false);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "pub" => {
                let is_restricted = |next: &TokenTree| matches!(next, TokenTree::Group(_));
                is_public = tokens.next_if(is_restricted).is_none();
                continue;
            }
            TokenTree::Ident(word) if word == "mod" => {
                tokens.next();
                if let Some(TokenTree::Group(body)) = tokens.next()
                    && !is_test
                {
                    read(body.stream(), types);
                }
            }
            TokenTree::Ident(word) if ["struct", "enum", "trait", "type"].iter().any(|keyword| word == keyword) => {
                if let Some(TokenTree::Ident(name)) = tokens.next()
                    && !is_test
                {
                    types.push((name.to_string(), is_public));
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                is_test |= group.to_string().replace(' ', "") == "[cfg(test)]";
                continue;
            }
            TokenTree::Punct(punct) if punct.as_char() == '#' => continue,
            _ => {}
        }
        (is_public, is_test) = (false, false);
    }
}
