//! Modules depend on each other in one direction.
//!
//! A file that needs another one, which needs the first, cannot be read, tested or moved by itself. Here every `use` and every
//! path of the sources is followed to the file that defines the item, through re-exports. A file that needs itself by
//! way of others fails the test, and so does a room of `omen-gate` that needs one above it. Code in `#[cfg(test)]` and
//! generated code do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::Path;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use xtask::package::libraries;

use crate::type_names::crates;

/// The files of a crate through which circles lead. Generated code needs what is written by hand beside it, which needs the
/// generated types; both are in the module of the first.
const EXCEPT: &[(&str, &[&str])] = &[("omen-types", &["packet"]), ("omen-fsm", &["episode"])];

/// The rooms of `omen-gate`, from the ground up: each needs only those before it.
const ROOMS: &[&str] = &["base", "call", "catalog", "grant", "config", "server", "answer", "request"];

/// The most modules at the root of a library.
const MOST_ROOMS: usize = 13;

#[test]
fn no_file_needs_itself_by_way_of_others() {
    let circles: Vec<_> = crates()
        .flat_map(|name| {
            let mut modules = Modules::of_crate(name);
            for file in EXCEPT.iter().filter(|(of, _)| *of == name).flat_map(|(_, files)| *files) {
                let module = modules.0.get_mut(&file.split("::").map(str::to_owned).collect::<Segments>());
                let module = module.unwrap_or_else(|| panic!("{name} has no file `{file}`"));
                module.needed.clear();
                module.handed_on.clear();
            }
            modules.circles().into_iter().map(move |circle| format!("{name}: {circle}"))
        })
        .collect();
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
}

#[test]
fn no_room_of_the_gate_needs_one_above_it() {
    let faults = Modules::of_crate("omen-gate").arrows_up(ROOMS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_root_of_a_library_has_few_rooms() {
    let roots = |name: &str| -> BTreeSet<String> {
        Modules::of_crate(name).0.into_keys().filter_map(|path| path.into_iter().next()).collect()
    };
    assert_eq!(roots("omen-gate"), ROOMS.iter().map(|room| (*room).to_owned()).collect(), "the rooms in the sources");
    for name in libraries().expect("the manifests") {
        let rooms = roots(&name);
        assert!(rooms.len() <= MOST_ROOMS, "{name} has {} rooms: {rooms:?}", rooms.len());
    }
}

#[test]
fn a_circle_is_printed_as_a_path() {
    let circle = |files: &[(&str, &str)]| Modules::from_texts(files.iter().copied()).circles();
    let through_items = [
        ("", "mod a; mod b; pub use b::B;"),
        ("a", "use crate::b::B; pub struct A(B);"),
        ("b", "use super::a; pub struct B(Option<Box<a::A>>);"),
    ];
    assert_eq!(circle(&through_items), ["a -> b -> a (a: crate::b::B, b: super::a)"]);
    let through_a_face = [
        ("", "mod room;"),
        ("room", "mod inner; mod other; pub use inner::Inner; pub use other::Other;"),
        ("room::inner", "pub struct Inner(crate::room::Other);"),
        ("room::other", "pub struct Other; impl Other { fn all() -> [super::Inner; 0] { [] } }"),
    ];
    let found =
        "room::inner -> room::other -> room::inner (room::inner: crate::room::Other, room::other: super::Inner)";
    assert_eq!(circle(&through_a_face), [found]);
    let parent_and_child = [
        ("", "mod parent;"),
        ("parent", "mod child; pub use child::Child; pub struct Parent(Child);"),
        ("parent::child", "use super::Parent; pub struct Child(Box<Parent>);"),
    ];
    assert_eq!(
        circle(&parent_and_child),
        ["parent -> parent::child -> parent (parent: child::Child, parent::child: super::Parent)"]
    );
    let in_a_macro = [
        ("", "mod a; mod b;"),
        ("a", "pub struct A; fn f() { println!(\"{}\", crate::b::B); }"),
        ("b", "pub struct B; use crate::a::*; fn g(_: A) {}"),
    ];
    assert_eq!(circle(&in_a_macro), ["a -> b -> a (a: crate::b::B, b: crate::a::*)"]);
}

#[test]
fn what_is_no_circle_is_none() {
    // A parent that only hands on what its child defines does not need it; nor do tests make an arrow.
    let files = [
        ("", "mod parent;"),
        ("parent", "mod child; pub use child::Child; pub struct Parent;"),
        (
            "parent::child",
            "use super::Parent; pub struct Child(Parent); #[cfg(test)] mod tests { use crate::other::Other; }",
        ),
        ("other", "use crate::parent::Child; pub struct Other(Child);"),
    ];
    assert_eq!(Modules::from_texts(files).circles(), [""; 0]);
}

#[test]
fn generated_code_makes_no_arrow() {
    let files =
        [("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "fn f() { quote!(use crate::a::A; super::a::A) }")];
    assert_eq!(Modules::from_texts(files).circles(), [""; 0]);
}

#[test]
fn an_arrow_that_runs_up_is_found() {
    let files = [
        ("", "mod low; mod high; pub use high::High;"),
        ("low", "pub struct Low; fn f(_: crate::high::High) {}"),
        ("low::inner", "use crate::High;"),
        ("high", "use crate::low::Low; pub struct High(Low);"),
    ];
    assert_eq!(
        Modules::from_texts(files).arrows_up(&["low", "high"]),
        [
            "low needs high, which is above it: crate::high::High",
            "low::inner imports crate::High through lib.rs: name the room"
        ]
    );
}

/// A path in the sources, as its segments.
type Segments = Vec<String>;

/// The modules of a crate that are files, by path. That of `lib.rs` is empty.
struct Modules(BTreeMap<Segments, Module>);

/// What one file says.
#[derive(Default)]
struct Module {
    /// The names that `use` brings in, with what each stands for.
    names: BTreeMap<String, Segments>,
    /// The modules all names of which are brought in.
    globs: Vec<Segments>,
    /// What the file itself defines.
    defined: BTreeSet<String>,
    /// All words outside of `use`.
    words: BTreeSet<String>,
    /// The paths that are needed, as they are written and from the root on.
    needed: Vec<Way>,
    /// The paths that are handed on: needed only where the name is used in the file itself.
    handed_on: Vec<(String, Way)>,
}

/// A path as it is written, and from the root on.
#[derive(Clone)]
struct Way {
    written: String,
    from_root: Segments,
}

impl Modules {
    fn of_crate(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let mut files = Vec::new();
        read(&root, &mut Vec::new(), &mut files);
        assert!(!files.is_empty(), "the sources of {name} are there");
        Self::from_texts(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
    }

    /// Takes files as paths such as `room::file`, with their texts.
    fn from_texts<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let module = |(path, text): (&str, &str)| {
            let path: Segments = path.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect();
            let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let mut reader = Reader { module: Module::default(), at: path.clone() };
            reader.read(tokens);
            (path, reader.module)
        };
        let mut modules: BTreeMap<_, _> = files.into_iter().map(module).collect();
        // A path may begin with the name of a module below.
        let all: Vec<Segments> = modules.keys().cloned().collect();
        for (at, module) in &mut modules {
            let below = all.iter().filter(|path| path.len() == at.len() + 1 && path.starts_with(at));
            let below: BTreeSet<_> = below.filter_map(|path| path.last()).collect();
            let relative = |path: &Way| {
                let written: Segments = path.written.split("::").map(str::to_owned).collect();
                let is_relative = path.from_root.is_empty() && below.contains(&written[0]);
                is_relative.then(|| Way { from_root: [at.clone(), written].concat(), ..path.clone() })
            };
            let is_known = |path: &Way| !path.from_root.is_empty();
            module.needed = module
                .needed
                .iter()
                .filter_map(|path| relative(path).or(is_known(path).then(|| path.clone())))
                .collect();
            for (_, path) in &mut module.handed_on {
                *path = relative(path).unwrap_or_else(|| path.clone());
            }
            module.handed_on.retain(|(_, path)| is_known(path));
            for target in module.names.values_mut().chain(&mut module.globs) {
                if target.first().is_some_and(|first| below.contains(first)) && !all.contains(&vec![target[0].clone()])
                {
                    *target = [at.clone(), target.clone()].concat();
                }
            }
        }
        Self(modules)
    }

    /// The file that defines what stands at a path.
    fn home(&self, path: &[String]) -> Segments {
        self.home_within(path, 8)
    }

    fn home_within(&self, path: &[String], hops: usize) -> Segments {
        let mut at: Segments = Vec::new();
        for (number, segment) in path.iter().enumerate() {
            let below = [at.as_slice(), std::slice::from_ref(segment)].concat();
            if self.0.contains_key(&below) {
                at = below;
                continue;
            }
            let Some(module) = self.0.get(&at).filter(|_| hops > 0) else { break };
            if let Some(target) = module.names.get(segment) {
                return self.home_within(&[target.as_slice(), &path[number + 1..]].concat(), hops - 1);
            }
            let defines = |glob: &&Segments| {
                let target = self.home_within(glob, hops - 1);
                self.0.get(&target).is_some_and(|module| module.defined.contains(segment))
            };
            if let Some(glob) = module.globs.iter().find(defines) {
                return self.home_within(glob, hops - 1);
            }
            break;
        }
        at
    }

    /// What a file needs, with the paths by which it says so.
    fn arrows(&self, at: &Segments) -> BTreeMap<Segments, String> {
        let module = &self.0[at];
        let used = module.handed_on.iter().filter(|(name, _)| module.words.contains(name)).map(|(_, path)| path);
        let arrows = module.needed.iter().chain(used).map(|path| (self.home(&path.from_root), path.written.clone()));
        let mut first = BTreeMap::new();
        for (to, written) in arrows.filter(|(to, _)| to != at && !to.is_empty()) {
            first.entry(to).or_insert(written);
        }
        first
    }

    /// One circle for each file that closes one, as a path.
    fn circles(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut done = BTreeSet::new();
        for start in self.0.keys().filter(|path| !path.is_empty()) {
            self.search(start, &mut Vec::new(), &mut done, &mut found);
        }
        found
    }

    fn search(&self, at: &Segments, way: &mut Vec<Segments>, done: &mut BTreeSet<Segments>, found: &mut Vec<String>) {
        if let Some(begin) = way.iter().position(|one| one == at) {
            let circle = [&way[begin..], std::slice::from_ref(at)].concat();
            let path: Vec<_> = circle.iter().map(|one| one.join("::")).collect();
            let why =
                circle.windows(2).map(|pair| format!("{}: {}", pair[0].join("::"), self.arrows(&pair[0])[&pair[1]]));
            found.push(format!("{} ({})", path.join(" -> "), why.collect::<Vec<_>>().join(", ")));
            return;
        }
        if done.contains(at) {
            return;
        }
        way.push(at.clone());
        for to in self.arrows(at).keys() {
            self.search(to, way, done, found);
        }
        way.pop();
        done.insert(at.clone());
    }

    /// What a room needs of a room above it, and what is imported through `lib.rs`.
    fn arrows_up(&self, rooms: &[&str]) -> Vec<String> {
        let height =
            |room: &str| rooms.iter().position(|one| *one == room).unwrap_or_else(|| panic!("`{room}` is not a room"));
        let mut faults = Vec::new();
        for (at, module) in self.0.iter().filter(|(at, _)| !at.is_empty()) {
            for Way { written, from_root } in module.needed.iter().chain(module.handed_on.iter().map(|(_, path)| path))
            {
                let (name, room) = (at.join("::"), &from_root[0]);
                if !self.0.contains_key(std::slice::from_ref(room)) {
                    faults.push(format!("{name} imports {written} through lib.rs: name the room"));
                } else if height(room) > height(&at[0]) {
                    faults.push(format!("{name} needs {room}, which is above it: {written}"));
                }
            }
        }
        faults
    }
}

fn read(folder: &Path, at: &mut Vec<String>, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            at.push(name);
            read(&path, at, files);
            at.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = if name == "lib" || name == "mod" { Vec::new() } else { vec![name] };
            files.push(([at.as_slice(), &own].concat().join("::"), fs::read_to_string(&path).expect("a source file")));
        }
    }
}

/// Goes through the tokens of a file, macros included.
struct Reader {
    module: Module,
    /// The module that the tokens are in: that of the file, or one that is written out in it.
    at: Segments,
}

impl Reader {
    fn read(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        let mut is_public = false;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if is(tokens.peek(), '!') {
                        tokens.next();
                    }
                    if let Some(TokenTree::Group(attribute)) = tokens.next()
                        && is_test(&attribute)
                    {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    match word.as_str() {
                        "pub" => {
                            is_public = true;
                            if matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                            {
                                tokens.next();
                            }
                            continue;
                        }
                        "use" if !is(tokens.peek(), '<') => self.import(&mut tokens, is_public),
                        "mod" => self.module(&mut tokens),
                        "struct" | "enum" | "union" | "trait" | "fn" | "const" | "static" | "type" => {
                            if let Some(TokenTree::Ident(name)) = tokens.peek() {
                                self.module.defined.insert(name.to_string());
                            }
                        }
                        _ => self.path(word, &mut tokens),
                    }
                }
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            is_public = false;
        }
    }

    /// `mod name;` says nothing; the code of `mod name { … }` belongs to this file.
    fn module(&mut self, tokens: &mut Peekable<IntoIter>) {
        let Some(TokenTree::Ident(name)) = tokens.next() else { return };
        if let Some(TokenTree::Group(group)) = tokens.peek() {
            let code = group.stream();
            self.at.push(name.to_string());
            self.read(code);
            self.at.pop();
            tokens.next();
        }
    }

    /// A path in the code: `crate::room::Item`, or a single word.
    fn path(&mut self, first: String, tokens: &mut Peekable<IntoIter>) {
        let mut segments = vec![first];
        while is(tokens.peek(), ':') {
            tokens.next();
            if !is(tokens.peek(), ':') {
                break;
            }
            tokens.next();
            match tokens.peek() {
                Some(TokenTree::Ident(next)) => segments.push(next.to_string()),
                _ => break,
            }
            tokens.next();
        }
        // What `quote!` writes is in another crate.
        if segments.last().is_some_and(|last| last == "quote" || last == "parse_quote") && is(tokens.peek(), '!') {
            tokens.nth(1);
            return;
        }
        self.module.words.extend(segments.iter().cloned());
        if segments.len() > 1 {
            let path = self.absolute(&segments);
            self.module.needed.push(path);
        }
    }

    fn import(&mut self, tokens: &mut Peekable<IntoIter>, is_public: bool) {
        let tree: TokenStream = tokens
            .by_ref()
            .take_while(|token| !matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'))
            .collect();
        self.tree(tree, &[], is_public);
    }

    /// One branch of a `use`.
    fn tree(&mut self, tokens: TokenStream, before: &[String], is_public: bool) {
        let mut path = before.to_vec();
        let mut name = None;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => name = tokens.next().map(|name| name.to_string()),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    let mut glob = self.absolute(&path);
                    glob.written.push_str("::*");
                    self.module.globs.push(glob.from_root.clone());
                    self.need(String::new(), glob, false);
                    return;
                }
                TokenTree::Group(group) => {
                    let mut branch = TokenStream::new();
                    for token in group.stream() {
                        match token {
                            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                                self.tree(std::mem::take(&mut branch), &path, is_public);
                            }
                            token => branch.extend([token]),
                        }
                    }
                    self.tree(branch, &path, is_public);
                    return;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if path.len() <= before.len() {
            return;
        }
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        let found = self.absolute(&path);
        // What stands for a module below is made absolute once all files are known.
        let target = if found.from_root.is_empty() { path } else { found.from_root.clone() };
        self.module.names.insert(name.clone(), target);
        self.need(name, found, is_public);
    }

    fn need(&mut self, name: String, path: Way, is_public: bool) {
        if is_public { self.module.handed_on.push((name, path)) } else { self.module.needed.push(path) }
    }

    /// A path from the root on, which is empty for one that begins with neither `crate`, `super` nor `self`.
    fn absolute(&self, segments: &[String]) -> Way {
        let mut from_root = match segments.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.at.clone(),
            _ => return Way { written: segments.join("::"), from_root: Vec::new() },
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => drop(from_root.pop()),
                name => from_root.push(name.to_owned()),
            }
        }
        Way { written: segments.join("::"), from_root }
    }
}

fn is(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Whether an attribute is `cfg(test)`.
fn is_test(attribute: &Group) -> bool {
    attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// Goes past an item: to its `;` or its braces.
fn skip_item(tokens: &mut Peekable<IntoIter>) {
    for token in tokens.by_ref() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}
