//! A log in memory.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::Store;

/// A log that is gone when the process is, for tests and for trying things. A clone is the same log, so that what was
/// written can be read from outside.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    content: Arc<Mutex<Content>>,
}

#[derive(Debug, Default)]
struct Content {
    log: Vec<u8>,
    head: Option<Vec<u8>>,
}

impl Memory {
    /// A log with a content.
    #[must_use]
    pub fn new(log: Vec<u8>, head: Option<Vec<u8>>) -> Self {
        Self { content: Arc::new(Mutex::new(Content { log, head })) }
    }

    /// The log's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.with(|content| content.log.clone())
    }

    /// The head record's bytes, if there is one.
    #[must_use]
    pub fn head_bytes(&self) -> Option<Vec<u8>> {
        self.with(|content| content.head.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut Content) -> T) -> T {
        f(&mut self.content.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store for Memory {
    fn log(&mut self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(io::Cursor::new(self.bytes())))
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.head_bytes())
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.with(|content| {
            content.log.resize(offset, 0);
            content.log.extend_from_slice(line);
        });
        Ok(())
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.replace_head(head)
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.with(|content| content.head = Some(head.to_vec()));
        Ok(())
    }
}
