//! Proofs about texts, compared with an independent implementation that tries all texts of a small world.

#![cfg(unix)]

mod arrays;
mod grants;
mod sums;

use std::collections::BTreeMap;
use std::path::Path;

use omen_gate::Config;
use omen_gate::prove::{Proof, prove};
use omen_testkit::proofs::Proofs;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use crate::arguments::{any_values, config_of, tool_of};
use crate::random::Random;

/// Test of a text.
#[derive(Clone, Debug)]
enum Demand {
    Matches(&'static str),
    Length(Option<usize>, Option<usize>),
    In(Vec<&'static str>),
    Host(Vec<&'static str>, Vec<&'static str>, Vec<u16>),
    Under(Vec<&'static str>),
    Command(Vec<&'static str>, Option<&'static str>, Option<&'static str>),
}

fn pick<T: Clone>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())].clone()
}

fn some<T: Clone>(random: &mut Random, from: &[T]) -> Vec<T> {
    let count = 1 + random.below(2);
    (0..count).map(|_| pick(random, from)).collect()
}

/// World of texts: some tests, and texts among which each combination of their results is.
struct World {
    demands: fn(&mut Random) -> Demand,
    texts: Vec<String>,
}

const PATTERNS: [&str; 16] = [
    "a+", "a*", "(ab)*", "[ab]{2}", "a.*", "b?a", "[a-z]+", "(a|b)*b", ".{1,2}", "é+", "a|bb", "[^a]*", "(?s:.*)",
    "(?i)AB?", r"\w+", "a{0,3}b",
];

fn words() -> World {
    let mut texts = vec![String::new()];
    for length in 0..4 {
        let longer = texts.iter().filter(|text| text.chars().count() == length);
        let longer: Vec<_> =
            longer.flat_map(|text| ["a", "b", "A", "é", "\n", "-"].map(|last| text.clone() + last)).collect();
        texts.extend(longer);
    }
    let demands = |random: &mut Random| match random.below(6) {
        0 => {
            let (min, max) = (random.below(3), random.below(4));
            pick(
                random,
                &[
                    Demand::Length(Some(min), None),
                    Demand::Length(None, Some(max)),
                    Demand::Length(Some(min), Some(min + max)),
                ],
            )
        }
        1 => Demand::In(some(random, &["a", "b", "ab", "aa", ""])),
        _ => Demand::Matches(pick(random, &PATTERNS)),
    };
    World { demands, texts }
}

fn urls() -> World {
    let hosts = ["example.com", "api.example.com", "a.b.example.com", "API.example.com", "127.0.0.1", "evil.test"];
    let mut texts = Vec::new();
    for scheme in ["https", "http", "ws", "git"] {
        for host in hosts {
            for port in ["", ":443", ":80", ":8443", ":9"] {
                for rest in ["", "/", "/v1/x", "?q"] {
                    texts.push(format!("{scheme}://{host}{port}{rest}"));
                }
            }
        }
    }
    let demands = |random: &mut Random| match random.below(5) {
        0 => Demand::Matches(pick(
            random,
            &["https://.*", ".*/v1/.*", "[a-z]+://[a-z.]+/?.*", r"https://api\.example\.com(/.*)?"],
        )),
        1 => Demand::Length(None, Some(16 + random.below(12))),
        _ => {
            let hosts =
                some(random, &["example.com", "api.example.com", "*.example.com", "*.b.example.com", "127.0.0.1"]);
            let schemes = pick(random, &[vec!["https"], vec!["https"], vec!["http", "https"], vec!["ws"]]);
            Demand::Host(hosts, schemes, pick(random, &[vec![], vec![], vec![443], vec![8443, 443], vec![80]]))
        }
    };
    World { demands, texts }
}

fn paths(folder: &Path) -> World {
    let mut texts = Vec::new();
    for folder in [folder.join("data"), folder.join("data/sub"), folder.join("other"), folder.to_owned(), "/".into()] {
        for name in ["", "a", "a.md", "x/y.md", "é", "abcdefghijklmnop", "sub", "a/../../b", "..", "./a", "a/"] {
            texts.push(folder.join(name).display().to_string());
        }
    }
    let demands = |random: &mut Random| match random.below(5) {
        0 => Demand::Matches(pick(random, &[r".*\.md", r"/.*[a-z]", r"(/[\w.-]+)+"])),
        1 => Demand::Length(None, Some(20 + random.below(30))),
        _ => Demand::Under(some(random, &["data", "data/sub", "other", "."])),
    };
    World { demands, texts }
}

/// Lines of one or two commands.
fn lines(folder: &Path) -> World {
    let files = ["data/x", "other/x"].map(|file| format!(" > {}", folder.join(file).display()));
    let redirects: Vec<_> = files.into_iter().chain(["", " > /dev/null"].map(str::to_owned)).collect();
    let mut commands = Vec::new();
    for program in ["ls", "cat", "echo", "git"] {
        let arguments: &[&str] = if program == "git" {
            &["", "status", "log", "log a", "log -n", "log 7"]
        } else {
            &["", "a", "-n", "7", "a 7", "status"]
        };
        for arguments in arguments {
            for redirect in &redirects {
                commands.push(format!("{program} {arguments}{redirect}"));
            }
        }
    }
    let pairs =
        commands.iter().step_by(5).flat_map(|first| commands.iter().map(move |second| format!("{first} && {second}")));
    let texts = pairs.chain(commands.iter().cloned()).chain(["$(ls)".to_owned(), String::new()]).collect();
    let demands = |random: &mut Random| {
        let programs = some(random, &["ls", "cat", "echo", "git"]);
        let argument =
            pick(random, &[None, None, Some("[a-z]+"), Some("[a-z]+|-n"), Some("[a-z]+|[0-9]"), Some("status|log")]);
        Demand::Command(programs, argument, pick(random, &[None, None, Some("data"), Some("other"), Some(".")]))
    };
    World { demands, texts }
}

impl Demand {
    fn toml(&self) -> (&'static str, String) {
        let list = |texts: &[&str]| format!("{texts:?}");
        match self {
            Self::Matches(pattern) => ("matches", format!("matches = '{pattern}'")),
            Self::Length(min, max) => {
                let bound = |name: &str, bound: &Option<usize>| bound.map(|bound| format!("{name} = {bound}"));
                let bounds: Vec<_> = [bound("min", min), bound("max", max)].into_iter().flatten().collect();
                ("length", format!("length = {{ {} }}", bounds.join(", ")))
            }
            Self::In(texts) => ("in", format!("in = {}", list(texts))),
            Self::Host(hosts, schemes, ports) => {
                let ports = if ports.is_empty() { String::new() } else { format!(", port = {ports:?}") };
                ("host", format!("host = {}, scheme = {}{ports}", list(hosts), list(schemes)))
            }
            Self::Under(folders) => ("under", format!("under = {}", list(folders))),
            Self::Command(programs, argument, redirect) => {
                let more = |key: &str, value: &Option<&str>| {
                    value.map_or(String::new(), |value| format!(", {key} = '{value}'"))
                };
                let (argument, redirect) = (more("argument", argument), more("redirect", redirect));
                ("command", format!("command = {{ program = {}{argument}{redirect} }}", list(programs)))
            }
        }
    }

    /// Independent implementation.
    fn judge(&self, text: &str, folder: &Path) -> bool {
        match self {
            Self::Matches(pattern) => Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap().is_match(text),
            Self::Length(min, max) => {
                let length = text.chars().count();
                min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
            }
            Self::In(texts) => texts.contains(&text),
            Self::Host(hosts, schemes, ports) => {
                // Readers of URLs take a backslash for a slash or for a character of the path.
                if text.contains('\\') {
                    return false;
                }
                let Some((scheme, rest)) = text.split_once("://") else { return false };
                let authority = rest.split(['/', '?', '#']).next().unwrap();
                let (host, port) =
                    authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
                let usual = match scheme.to_ascii_lowercase().as_str() {
                    "https" => 443,
                    "http" | "ws" => 80,
                    _ => return false,
                };
                let port = port.map_or(usual, |port| port.parse().unwrap());
                let host = host.to_ascii_lowercase();
                let is_host = hosts.iter().any(|allowed| match allowed.strip_prefix('*') {
                    Some(below) => host.ends_with(below) && host.len() > below.len(),
                    None => host == *allowed,
                });
                let is_port = if ports.is_empty() { port == usual } else { ports.contains(&port) };
                is_host && is_port && schemes.contains(&scheme.to_ascii_lowercase().as_str())
            }
            Self::Under(folders) => {
                let mut path = std::path::PathBuf::new();
                for part in Path::new(text).iter() {
                    match part.to_str().unwrap() {
                        ".." => drop(path.pop()),
                        part => path.push(part),
                    }
                }
                let is_below =
                    |below: &&str| path.starts_with(if *below == "." { folder.to_owned() } else { folder.join(below) });
                text.starts_with('/') && !text.starts_with("//") && folders.iter().any(is_below)
            }
            Self::Command(programs, argument, redirect) => {
                let argument = argument.map(|pattern| Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap());
                // Of what a shell expands, the world has one line.
                !text.is_empty()
                    && !text.contains('$')
                    && text.split(" && ").flat_map(|text| text.split(" ; ")).all(|command| {
                        let (command, file) =
                            command.split_once(" > ").map_or((command, None), |(command, file)| (command, Some(file)));
                        let words: Vec<_> = command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
                        let Some((program, arguments)) = words.split_first() else { return false };
                        let is_known = *program != "git"
                            || arguments.first().is_none_or(|first| ["status", "log", "add"].contains(first));
                        let is_file = file.is_none_or(|file| {
                            let file = file.trim_matches('\'');
                            let below = |below: &str| {
                                Path::new(file).starts_with(if below == "." {
                                    folder.to_owned()
                                } else {
                                    folder.join(below)
                                })
                            };
                            file == "/dev/null" || redirect.is_some_and(below)
                        });
                        let mut arguments = arguments.iter();
                        programs.contains(program)
                            && is_known
                            && is_file
                            && arguments.all(|word| argument.as_ref().is_none_or(|pattern| pattern.is_match(word)))
                    })
            }
        }
    }
}

/// Tests of one member: at most one of each key, as in a configuration.
fn demands(random: &mut Random, world: &World) -> BTreeMap<&'static str, (String, Demand)> {
    let count = 1 + random.below(3);
    let demands = (0..count).map(|_| {
        let demand = (world.demands)(random);
        let (key, text) = demand.toml();
        (key, (text, demand))
    });
    demands.collect()
}

fn config(folder: &Path, demands: &BTreeMap<&'static str, (String, Demand)>) -> Option<Config> {
    let texts: Vec<_> = demands.values().map(|(text, _)| text.as_str()).collect();
    let rules = format!("{{ '/text' = {{ {} }} }}", texts.join(", "));
    // Rules that can never hold are no configuration.
    std::panic::catch_unwind(|| config_of(folder, &tool_of(any_values()), &rules)).ok()
}

/// Argument of the call that shows a difference.
fn shown(proof: &Proof) -> Option<&Value> {
    let difference = proof.differences.first()?;
    assert_eq!(difference.disagreement, None, "{difference:?}");
    Some(difference.steps.last()?.args.get("text").unwrap_or(&Value::Null))
}

async fn compare_with_all_texts(folder: &TempDir, world: &World, seed: u64) {
    let folder = folder.path().canonicalize().unwrap();
    let mut random = Random(seed);
    let wanted = Proofs::wanted().choose(24, 100);
    let (mut decided, mut different, mut tried) = (0, 0, 0);
    while tried < wanted {
        let sides = [demands(&mut random, world), demands(&mut random, world)];
        let [Some(old), Some(new)] = [0, 1].map(|side: usize| config(&folder, &sides[side])) else { continue };
        tried += 1;
        let proof = prove(&old, &new).await;
        let passes = |side: usize, text: &str| sides[side].values().all(|(_, demand)| demand.judge(text, &folder));
        let found = shown(&proof);
        if let Some(text) = found.and_then(Value::as_str) {
            assert!(passes(1, text) && !passes(0, text), "{sides:?}: {text:?}");
        }
        if !proof.outside.is_empty() {
            println!("{:?}: {sides:?}", proof.outside);
            continue;
        }
        decided += 1;
        different += usize::from(found.is_some());
        let missed = world.texts.iter().find(|text| passes(1, text) && !passes(0, text));
        assert!(missed.is_none() || found.is_some(), "{sides:?}: {missed:?}");
    }
    println!("{tried} tried, {decided} decided, {different} different");
    assert!(2 * decided >= tried && 4 * different >= tried);
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["data/sub", "other"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder
}

#[tokio::test]
async fn patterns_are_compared_as_all_texts_are() {
    compare_with_all_texts(&folder(), &words(), 1).await;
}

#[tokio::test]
async fn hosts_are_compared_as_all_urls_are() {
    compare_with_all_texts(&folder(), &urls(), 2).await;
}

#[tokio::test]
async fn folders_are_compared_as_all_paths_are() {
    let folder = folder();
    let world = paths(&folder.path().canonicalize().unwrap());
    compare_with_all_texts(&folder, &world, 3).await;
}

#[tokio::test]
async fn commands_are_compared_as_all_lines_are() {
    let folder = folder();
    let world = lines(&folder.path().canonicalize().unwrap());
    compare_with_all_texts(&folder, &world, 5).await;
}
