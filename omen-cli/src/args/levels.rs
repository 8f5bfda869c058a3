//! `-A`, `-W` and `-D`: severities of invariants.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use omen::validator::{Level, Levels, NotAdjustable};
use omen_types::Code;

use super::codes::NameParser;
use crate::config::content::{LevelTarget, WARNINGS};

/// Levels given by `-A`, `-W` and `-D`, in the order given: for each code, the last one applies.
#[derive(Debug, Default)]
pub(crate) struct LevelArgs(Vec<(LevelTarget, Level)>);

impl LevelArgs {
    const FLAGS: [(Level, &'static str, char, &'static str); 3] = [
        (Level::Allow, "allow", 'A', "Do not report these invariants"),
        (Level::Warn, "warn", 'W', "Report these invariants as warnings, and accept the packets"),
        (Level::Deny, "deny", 'D', "Report these invariants as errors, and reject the packets"),
    ];

    /// Returns whether no level is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the levels, applied after those of the configuration.
    pub(crate) fn after(&self, configured: &[(LevelTarget, Level)]) -> Result<Levels, NotAdjustable> {
        let mut levels = Levels::default();
        for (target, level) in configured.iter().chain(&self.0) {
            match target {
                LevelTarget::Code(code) => levels.set(*code, *level)?,
                LevelTarget::Warnings => levels.set_warnings(*level),
            }
        }
        Ok(levels)
    }

    /// Returns all levels as options in the order in which they apply, such as `-A INV-011`.
    pub(crate) fn options(&self, configured: &[(LevelTarget, Level)]) -> Vec<String> {
        let short = |level: Level| Self::FLAGS.iter().find(|(flag, ..)| *flag == level).map_or('?', |flag| flag.2);
        let all = configured.iter().chain(&self.0);
        all.map(|(target, level)| match target {
            LevelTarget::Code(code) => format!("-{} {code}", short(*level)),
            LevelTarget::Warnings => format!("-{} {WARNINGS}", short(*level)),
        })
        .collect()
    }
}

impl Args for LevelArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::FLAGS.map(|(_, name, short, help)| {
            Arg::new(name)
                .short(short)
                .long(name)
                .value_name("CODES")
                .value_parser(parser())
                .value_delimiter(',')
                .hide_possible_values(true)
                .action(ArgAction::Append)
                .help(help)
        }))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for (level, name, ..) in Self::FLAGS {
            let indices = matches.indices_of(name).into_iter().flatten();
            let targets = matches.get_many::<LevelTarget>(name).into_iter().flatten();
            given.extend(indices.zip(targets).map(|(index, target)| (index, *target, level)));
        }
        given.sort_by_key(|(index, ..)| *index);
        Ok(Self(given.into_iter().map(|(_, target, level)| (target, level)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the parser for a target.
fn parser() -> NameParser<LevelTarget> {
    let names = || {
        let codes = Code::ALL.iter().filter(|code| code.is_adjustable());
        let codes = codes.map(|code| PossibleValue::new(code.as_str()).help(code.info().title));
        codes.chain([PossibleValue::new(WARNINGS).help("all warnings")]).collect()
    };
    NameParser { parse: LevelTarget::parse, names }
}
