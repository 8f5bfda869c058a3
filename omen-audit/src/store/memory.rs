//! Log stored in memory.

use std::io::{self, Read};
use std::sync::Arc;

use omen_base::Mutex;

use super::Store;

/// Volatile log, for tests and experiments. Clones are the same log, so its content can be read from outside.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    content: Arc<Mutex<Content>>,
}

#[derive(Debug, Default)]
struct Content {
    log: Option<Vec<u8>>,
    head: Option<Vec<u8>>,
    /// Bytes that were set aside, with their offset.
    kept: Vec<(u64, Vec<u8>)>,
    next: Option<Memory>,
}

impl Memory {
    /// Creates a log with the given content.
    #[must_use]
    pub fn new(log: Vec<u8>, head: Option<Vec<u8>>) -> Self {
        Self { content: Arc::new(Mutex::new(Content { log: Some(log), head, ..Content::default() })) }
    }

    /// Returns the bytes of the log; empty if there is no log.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.with(|content| content.log.clone().unwrap_or_default())
    }

    /// Returns the bytes that repairs have set aside, oldest first.
    #[must_use]
    pub fn kept_bytes(&self) -> Vec<Vec<u8>> {
        self.with(|content| content.kept.iter().map(|(_, bytes)| bytes.clone()).collect())
    }

    /// Returns the bytes of the head record, if it exists.
    #[must_use]
    pub fn head_bytes(&self) -> Option<Vec<u8>> {
        self.with(|content| content.head.clone())
    }

    /// Returns the file that continues this one, if the log was rotated.
    #[must_use]
    pub fn following(&self) -> Option<Self> {
        self.with(|content| content.next.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut Content) -> T) -> T {
        f(&mut self.content.lock())
    }
}

impl Store for Memory {
    fn waits(&self) -> bool {
        false
    }

    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        let log = self.with(|content| content.log.clone());
        Ok(log.map(|log| Box::new(io::Cursor::new(log)) as Box<dyn Read>))
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.head_bytes())
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.with(|content| {
            let log = content.log.get_or_insert_default();
            log.resize(offset, 0);
            log.extend_from_slice(line);
        });
        Ok(())
    }

    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        self.with(|content| {
            let log = content.log.get_or_insert_default();
            let tail = log.split_off(start.min(log.len()));
            content.kept.push((offset, tail));
        });
        Ok(())
    }

    /// Returns the names of kept pieces, which are numbers.
    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        let names = |content: &mut Content| {
            let numbered = content.kept.iter().zip(1_u64..).filter(|((from, _), _)| *from == offset);
            numbered.map(|(_, number)| number.to_string()).collect()
        };
        Ok(self.with(names))
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.replace_head(head)
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.with(|content| content.head = Some(head.to_vec()));
        Ok(())
    }

    fn has_next(&mut self) -> io::Result<bool> {
        let next = self.following();
        Ok(next.is_some_and(|next| next.with(|content| content.log.is_some() || content.head.is_some())))
    }

    fn next(&mut self) -> io::Result<Box<dyn Store>> {
        Ok(Box::new(self.with(|content| content.next.get_or_insert_default().clone())))
    }
}
