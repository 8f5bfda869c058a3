//! Validator with one thread or with several.

use std::io::Read;
use std::num::NonZeroUsize;
use std::thread;

use crate::lines::ReadError;
use crate::validator::{ParallelValidator, Sink, Summary, Validator, ValidatorOptions};

/// Returns the number of threads that the system offers this process, or one if that is unknown.
#[must_use]
pub fn available_jobs() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Validator with one thread or with several. Both report the same findings.
///
/// Sinks are trait objects, so that the compiler makes one copy of the validator for all sinks with the same error.
#[derive(Debug)]
pub enum AnyValidator {
    /// Validator on the calling thread.
    One(Box<Validator>),
    /// Validator with several threads.
    Several(Box<ParallelValidator>),
}

impl AnyValidator {
    /// Creates a validator that uses up to `jobs` threads.
    #[must_use]
    pub fn new(options: ValidatorOptions, jobs: NonZeroUsize) -> Self {
        if jobs == NonZeroUsize::MIN {
            Self::One(Box::new(Validator::new(options)))
        } else {
            Self::Several(Box::new(ParallelValidator::new(options, jobs)))
        }
    }

    /// Checks everything that a reader returns.
    ///
    /// # Errors
    /// If the reader fails, after everything that it had returned was checked, or the first error of the sink.
    pub fn read<E>(
        &mut self,
        reader: impl Read + Send + 'static,
        sink: &mut dyn Sink<Error = E>,
    ) -> Result<(), ReadError<E>> {
        match self {
            Self::One(validator) => validator.read(reader, sink),
            Self::Several(validator) => validator.read(reader, sink),
        }
    }

    /// Checks the next bytes of the stream; chunks may have any size.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn feed<E>(&mut self, bytes: &[u8], sink: &mut dyn Sink<Error = E>) -> Result<(), E> {
        match self {
            Self::One(validator) => validator.feed(bytes, sink),
            Self::Several(validator) => validator.feed(bytes, sink),
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        match self {
            Self::One(validator) => validator.summary(),
            Self::Several(validator) => validator.summary(),
        }
    }

    /// Ends the stream and checks what is still open.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish<E>(self, sink: &mut dyn Sink<Error = E>) -> Result<Summary, E> {
        match self {
            Self::One(validator) => validator.finish(sink),
            Self::Several(validator) => validator.finish(sink),
        }
    }
}
