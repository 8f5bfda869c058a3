//! Streams: what was read is reported before the reader blocks, and memory is bounded.
