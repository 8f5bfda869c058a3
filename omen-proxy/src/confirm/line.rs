//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// Reads the next line, without its line feed; none at the end. What follows the last line feed is a line, too.
///
/// # Errors
/// If it cannot be read, or is longer than this.
pub(super) async fn next(reader: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(limit).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    match line.len() > longest {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("the line exceeds {longest} bytes"))),
        false => Ok(Some(line)),
    }
}
