//! Number of threads that check a log.

use std::io::Read;
use std::num::NonZeroUsize;
use std::thread;

use omen::lines::ReadError;
use omen::validator::{ParallelValidator, Sink, Summary, Validator, ValidatorOptions};

/// Returns the number of threads that the system has for this process; one if that is unknown.
pub(crate) fn available() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A validator with one thread or with several. They report the same.
pub(crate) enum AnyValidator {
    One(Box<Validator>),
    Several(Box<ParallelValidator>),
}

impl AnyValidator {
    pub(crate) fn new(options: ValidatorOptions, jobs: NonZeroUsize) -> Self {
        if jobs == NonZeroUsize::MIN {
            Self::One(Box::new(Validator::new(options)))
        } else {
            Self::Several(Box::new(ParallelValidator::new(options, jobs)))
        }
    }

    pub(crate) fn read<S: Sink>(
        &mut self,
        reader: impl Read + Send + 'static,
        sink: &mut S,
    ) -> Result<(), ReadError<S::Error>> {
        match self {
            Self::One(validator) => validator.read(reader, sink),
            Self::Several(validator) => validator.read(reader, sink),
        }
    }

    pub(crate) fn feed<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::One(validator) => validator.feed(bytes, sink),
            Self::Several(validator) => validator.feed(bytes, sink),
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        match self {
            Self::One(validator) => validator.summary(),
            Self::Several(validator) => validator.summary(),
        }
    }

    pub(crate) fn finish<S: Sink>(self, sink: &mut S) -> Result<Summary, S::Error> {
        match self {
            Self::One(validator) => validator.finish(sink),
            Self::Several(validator) => validator.finish(sink),
        }
    }
}
