//! Keys of the configuration file.

use omen::validator::Level;

/// A key of the `check` table.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Description in the schema.
    pub(super) about: &'static str,
    pub(super) means: Means,
}

/// Meaning of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// List of paths to check.
    Inputs,
    /// List of patterns.
    Exclude,
    /// Whether `.gitignore` is respected.
    GitIgnore,
    /// List of codes to which the severity level applies.
    Level(Level),
    /// List of reports, `FORMAT=FILE`.
    Outputs,
    /// Value of the option with this id.
    Text(&'static str),
    /// Path for the option with this id, relative to the configuration file.
    File(&'static str),
    /// Number for the option with this id.
    Number(&'static str),
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "inputs",
        about: "What to check if no files are named: logs, directories with logs, globs. Relative to this file.",
        means: Means::Inputs,
    },
    Key {
        name: "exclude",
        about: "What to leave out in directories and globs, in the syntax of .gitignore, relative to this file.",
        means: Means::Exclude,
    },
    Key {
        name: "gitignore",
        about: "Whether files that a .gitignore or .ignore leaves out are not checked; `false` is `--no-ignore`.",
        means: Means::GitIgnore,
    },
    Key {
        name: "input",
        about: "How packets are laid out: one on each line, or in an array.",
        means: Means::Text("layout"),
    },
    Key { name: "format", about: "The output format.", means: Means::Text("format") },
    Key {
        name: "output",
        about: "Reports to write to files, each as FORMAT=FILE. Relative to this file.",
        means: Means::Outputs,
    },
    Key {
        name: "stage",
        about: "How far packets are checked: by their schema, each by itself, or in their episodes.",
        means: Means::Text("stage"),
    },
    Key {
        name: "now",
        about: "The time that logs are checked at, in RFC 3339 with an offset, instead of the clock of each episode.",
        means: Means::Text("now"),
    },
    Key {
        name: "baseline",
        about: "The known findings, which are not reported; `omen check --write-baseline` writes it. Relative to this file.",
        means: Means::File("baseline"),
    },
    Key {
        name: "allow",
        about: "Codes of invariants that are not reported, or `warnings` for all warnings.",
        means: Means::Level(Level::Allow),
    },
    Key { name: "warn", about: "Codes of invariants that are reported as warnings.", means: Means::Level(Level::Warn) },
    Key {
        name: "deny",
        about: "Codes of invariants that are reported as errors, or `warnings` for all warnings.",
        means: Means::Level(Level::Deny),
    },
    Key {
        name: "max-findings",
        about: "The most findings to show; the totals count all.",
        means: Means::Number("max_findings"),
    },
    Key { name: "jobs", about: "How many threads to use.", means: Means::Number("jobs") },
];

/// Name of the settings table.
pub(super) const TABLE: &str = "check";

/// Keys of an `ignore` table, each with its description in the schema.
pub(super) const IGNORE_KEYS: &[(&str, &str)] = &[
    ("code", "The code of the findings, such as INV-003."),
    ("path", "The logs, in the syntax of .gitignore, relative to this file."),
    ("episode", "The correlation id of the episode."),
    ("tool", "The `tool_id` of the directives. Only of packets that have a line of their own."),
    ("reason", "Why these findings stay."),
    ("until", "The last day on which they are not reported, in UTC."),
];

/// Name of the tables that list findings to omit.
pub(super) const IGNORE: &str = "ignore";
