//! Check of a log that is in memory, as in an editor.

use std::path::Path;

use omen::finding::Finding;
use omen::lines::ReadError;
use omen::validator::{Sink, ValidatorOptions};

use super::baseline::Baseline;
use super::filter::Filter;
use super::options;
use crate::args::CheckArgs;
use crate::config::content::Config;
use crate::exit::Failure;
use crate::input::{self, Layout, LogFormat};

/// Reports on a text what `omen check` reports on a file with the same content, path and configuration.
#[derive(Debug)]
pub(crate) struct TextCheck {
    args: CheckArgs,
    options: ValidatorOptions,
    baseline: Option<Baseline>,
}

impl TextCheck {
    /// Prepares the check, and reads the configured baseline.
    pub(crate) fn new(config: Config) -> Result<Self, Failure> {
        let args = CheckArgs::from_config(config).map_err(|error| Failure::Usage(error.to_string()))?;
        let options = options(&args)?;
        let baseline = Baseline::from_args(&args.baseline)?;
        Ok(Self { args, options, baseline })
    }

    pub(crate) fn options(&self) -> &ValidatorOptions {
        &self.options
    }

    /// Returns the configured layout of packets.
    pub(crate) fn layout(&self) -> Layout {
        self.args.inputs.layout()
    }

    /// Checks the text of a log, and passes on at most `most` findings, or fewer if the configuration says so. Returns the number
    /// of further findings, or the reason why the text cannot be read.
    pub(crate) fn run(
        &mut self,
        path: &Path,
        text: &str,
        most: u64,
        report: impl FnMut(&Finding, Option<&str>),
    ) -> Result<u64, String> {
        let most = self.args.formats.findings.most(false).map_or(most, |configured| configured.min(most));
        let mut filter = Filter::new(&self.args, self.baseline.take());
        filter.begin();
        let mut reported = LimitedReport { path, filter, report, most, count: 0 };
        let format = LogFormat { layout: self.layout(), wrapping: None };
        let read = input::judge_text(text, path, &format, self.options.clone(), &mut reported);
        let more = reported.count.saturating_sub(most);
        self.baseline = reported.filter.into_baseline();
        match read {
            Ok(_) => Ok(more),
            Err((ReadError::Input(error), _)) => Err(error.to_string()),
            Err((ReadError::Sink(never), _)) => match never {},
        }
    }
}

/// Sink that passes on the first `most` findings that the filter leaves.
struct LimitedReport<'c, 'p, R> {
    path: &'p Path,
    filter: Filter<'c>,
    report: R,
    most: u64,
    count: u64,
}

impl<R: FnMut(&Finding, Option<&str>)> Sink for LimitedReport<'_, '_, R> {
    type Error = std::convert::Infallible;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Self::Error> {
        if self.filter.reports(self.path, &finding, line) {
            self.count += 1;
            if self.count <= self.most {
                (self.report)(&finding, line);
            }
        }
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}
