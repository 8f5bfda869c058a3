//! Reports of one run: one on standard output, and one for each file given by `--output`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen::Summary;
use omen::finding::Severity;

use super::args::FormatArgs;
use super::folded::FoldedReport;
use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use crate::exit::Failure;
use crate::output::{Color, Output};

/// Reports of one run.
pub(crate) struct Reports<'o> {
    stdout: (Box<dyn Report>, &'o mut Output),
    /// Whether the reader of standard output has closed it; the files are written nevertheless.
    is_closed: bool,
    files: Vec<(Box<dyn Report>, Output)>,
    /// Whether an error was reported.
    pub(crate) has_errors: bool,
}

impl<'o> Reports<'o> {
    /// Opens the files, and begins all reports by calling `begin`, which depends on the kind of findings. An output that is also
    /// an input, or is named twice, is a usage error, since data would be lost.
    pub(crate) fn open(
        args: &FormatArgs,
        color: Color,
        inputs: &[PathBuf],
        out: &'o mut Output,
        begin: fn(&mut dyn Report, &mut Output) -> io::Result<()>,
    ) -> Result<Self, Failure> {
        let mut known: Vec<(PathBuf, &str)> = inputs.iter().map(|path| (same(path), "an input")).collect();
        if args.outputs.iter().filter(|output| output.file.is_none()).count() + usize::from(args.format.is_some()) > 1 {
            return Err(Failure::Usage(
                "standard output takes one report: use one of `--format` and `--output FORMAT=-`, once".to_owned(),
            ));
        }
        let mut files = Vec::new();
        for (format, path) in args.outputs.iter().filter_map(|output| Some((output.format, output.file.as_deref()?))) {
            let place = same(path);
            if let Some((_, other)) = known.iter().find(|(known, _)| *known == place) {
                let path = path.display();
                return Err(Failure::Usage(format!("`--output {}={path}`: {path} is also {other}", format.name)));
            }
            known.push((place, "another output"));
            files.push((format, path));
        }
        let open = |(format, path): (&ReportFormat, &Path)| -> io::Result<(Box<dyn Report>, Output)> {
            Ok((FoldedReport::start(format, args.findings), Output::to_file(path, format.is_for_people, color)?))
        };
        let files = files.into_iter().map(open).collect::<io::Result<_>>()?;
        let stdout = (FoldedReport::start(args.stdout(), args.findings), out);
        let mut reports = Self { stdout, is_closed: false, files, has_errors: false };
        reports.each(begin)?;
        Ok(reports)
    }

    pub(crate) fn stdout(&mut self) -> &mut Output {
        self.stdout.1
    }

    pub(crate) fn file(&mut self, path: &Path) -> io::Result<()> {
        self.each(|report, out| report.file(out, path))
    }

    pub(crate) fn finding<'f>(
        &mut self,
        path: &Path,
        finding: impl Into<AnyFinding<'f>>,
        line: Option<&str>,
    ) -> io::Result<()> {
        let finding = finding.into();
        self.has_errors |= finding.severity() == Severity::Error;
        self.each(|report, out| report.finding(out, path, finding, line))
    }

    pub(crate) fn unreadable(&mut self, path: &Path, reason: &str) -> io::Result<()> {
        self.each(|report, out| report.unreadable(out, path, reason))
    }

    pub(crate) fn file_end(&mut self, path: &Path, summary: &Summary) -> io::Result<()> {
        self.each(|report, out| report.file_end(out, path, summary))
    }

    pub(crate) fn caught_up(&mut self) -> io::Result<()> {
        self.each(|_, out| out.caught_up())
    }

    /// Ends all reports, and moves the files into place. If `quiet`, no totals are written to standard output.
    pub(crate) fn finish(mut self, totals: &Totals<'_>, quiet: bool) -> io::Result<()> {
        let mut without = quiet && !self.is_closed;
        self.each(|report, out| {
            if !std::mem::take(&mut without) {
                report.totals(out, totals)?;
            }
            out.flush()
        })?;
        self.files.into_iter().try_for_each(|(_, out)| out.finish())
    }

    fn each(&mut self, mut act: impl FnMut(&mut dyn Report, &mut Output) -> io::Result<()>) -> io::Result<()> {
        let (report, out) = &mut self.stdout;
        if !self.is_closed {
            match act(&mut **report, out) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !self.files.is_empty() => {
                    self.is_closed = true
                }
                result => result?,
            }
        }
        self.files.iter_mut().try_for_each(|(report, out)| act(&mut **report, out))
    }
}

/// Returns a path that is the same for all names of a file, even if the file does not exist.
fn same(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}
