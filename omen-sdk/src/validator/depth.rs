//! How far a line is judged: by itself, or in its episode.

use super::charity::Charities;
use super::episodes::Episodes;
use super::judge::Judged;
use super::line::Parsed;
use super::options::{Depth, ValidatorOptions};
use super::{alone, judge as in_episode};

/// Judges a line as far as the options ask for. Returns `None` for a packet without findings, unless `all` are wanted.
#[inline]
pub(super) fn judge<'t>(
    line: &Parsed<'t>,
    number: u64,
    place: Option<u32>,
    judges: (&mut Episodes, &mut Charities),
    options: &ValidatorOptions,
    all: bool,
) -> Option<Judged<'t>> {
    match options.depth {
        Depth::Episode => in_episode::judge(line, number, place, judges, options, all),
        Depth::Schema | Depth::Packet => alone::judge(line, options, all),
    }
}
