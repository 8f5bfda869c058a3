//! Fixes of `omen check`, as arguments.

use clap::Args;

use crate::fix::Fix;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FixArgs {
    /// Apply safe fixes to the logs, and report the findings that remain
    ///
    /// These are the case of values, numbers in quotes, times without a zone (assumed to be UTC), misspelt names of fields, the
    /// misspelt id of an open directive, byte order marks between packets, and fences of Markdown. Nothing is fixed that could make a false log look
    /// true, such as a claim, its evidence or an approval. A log is replaced when it is complete; compressed logs and
    /// standard input are left alone.
    #[arg(long, conflicts_with = "diff")]
    fix: bool,

    /// Print what `--fix` would change, as a unified diff, and change nothing
    #[arg(long, conflicts_with_all = ["outputs", "statistics", "write_baseline"])]
    diff: bool,

    /// With --fix or --diff: also apply fixes that are only likely to be right, such as the only episode of a log
    #[arg(long)]
    unsafe_fixes: bool,
}

impl FixArgs {
    /// Returns the options for fixing, if any.
    pub(crate) fn fix(self) -> Option<Fix> {
        let Self { fix, diff, unsafe_fixes } = self;
        (fix || diff).then_some(Fix { is_shown: diff, is_unsafe: unsafe_fixes })
    }

    /// Returns whether an option has no effect by itself.
    pub(crate) fn is_idle(self) -> bool {
        self.unsafe_fixes && self.fix().is_none()
    }
}
