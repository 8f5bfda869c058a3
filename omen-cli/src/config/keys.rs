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
        about: "Logs, directories with logs, and globs to check if no files are given as arguments. Relative to this \
                file.",
        means: Means::Inputs,
    },
    Key {
        name: "exclude",
        about: "Files and directories to skip in directories and globs, in the syntax of .gitignore, relative to this \
                file.",
        means: Means::Exclude,
    },
    Key {
        name: "gitignore",
        about: "Whether files excluded by a .gitignore or .ignore are skipped; `false` is `--no-ignore`.",
        means: Means::GitIgnore,
    },
    Key { name: "input", about: "The layout of packets: one per line, or in an array.", means: Means::Text("layout") },
    Key { name: "format", about: "The output format.", means: Means::Text("format") },
    Key {
        name: "output",
        about: "Reports to write to files, each as FORMAT=FILE. Relative to this file.",
        means: Means::Outputs,
    },
    Key {
        name: "stage",
        about: "The depth of the check: packets by their schema, each on its own, or in their episodes.",
        means: Means::Text("stage"),
    },
    Key {
        name: "now",
        about: "The time as of which logs are checked, in RFC 3339 with an offset, instead of the clock of each episode.",
        means: Means::Text("now"),
    },
    Key {
        name: "baseline",
        about: "The file of known findings, which are not reported; `omen check --write-baseline` writes it. Relative \
                to this file.",
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
        about: "The maximum number of findings to show; the totals count all.",
        means: Means::Number("max_findings"),
    },
    Key { name: "jobs", about: "The number of threads to use.", means: Means::Number("jobs") },
];

/// Name of the settings table.
pub(super) const TABLE: &str = "check";

/// Keys of an `ignore` table, each with its description in the schema.
pub(super) const IGNORE_KEYS: &[(&str, &str)] = &[
    ("code", "The code of the findings, such as INV-003."),
    ("path", "The logs, in the syntax of .gitignore, relative to this file."),
    ("episode", "The correlation id of the episode."),
    ("tool", "The `tool_id` of the directives. Matches only packets that have a line of their own."),
    ("reason", "Why these findings stay."),
    ("until", "The last day on which the findings are ignored, in UTC."),
];

/// Name of the tables that list findings to omit.
pub(super) const IGNORE: &str = "ignore";
