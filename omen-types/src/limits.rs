//! Limits on what is read at all.

/// Longest line, in bytes, its line end not counted: 16 MiB. A longer one is refused unread.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Deepest nesting of arrays and objects; the packet itself is the first level.
pub const MAX_DEPTH: u8 = 64;

/// Most schema errors that are listed for one packet; a note says how many more there are.
pub const MAX_ERRORS_A_PACKET: usize = 1000;
