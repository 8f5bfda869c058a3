//! Limits on what is read at all, and what follows from them for what is written.

/// Longest line of a log, in bytes without its line end: 16 MiB. A longer one is refused unread. The audit log of the gate
/// has the same limit, in which the line end counts.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Deepest nesting of arrays and objects; the packet itself is the first level.
pub const MAX_DEPTH: u8 = 64;

/// Most schema errors that are listed for one packet; a note says how many more there are.
pub const MAX_ERRORS_A_PACKET: usize = 1000;

// What a writer may put into one packet. A line holds a header, an envelope and a payload; a payload has at most two
// free-form values beside its texts.

/// Largest envelope that a packet is written with, in bytes of JSON.
pub const MAX_ENVELOPE_BYTES: usize = MAX_LINE_BYTES / 8;

/// Longest id that an episode gives or has, in bytes.
pub const MAX_ID_BYTES: usize = 4096;

/// Largest free-form value that is taken into a packet, in bytes of JSON.
pub const MAX_VALUE_BYTES: usize = MAX_LINE_BYTES / 4;

/// Largest list of changes that a belief update grows to, in bytes of JSON. The rest of the line is left for the
/// header and the evidence that the update names.
pub const MAX_CHANGES_BYTES: usize = MAX_LINE_BYTES - 2 * MAX_ENVELOPE_BYTES;

/// Levels of a packet above its deepest free-form object: the packet, its payload, and two objects in it.
const LEVELS_ABOVE: u8 = 4;

/// Deepest nesting of a free-form object that is taken into a packet; the object itself is the first level.
pub const MAX_FIELDS_DEPTH: u8 = MAX_DEPTH - LEVELS_ABOVE;

/// Deepest nesting of a free-form value. It is less than [`MAX_FIELDS_DEPTH`], so that a value fits into an object that a
/// program writes out.
pub const MAX_VALUE_DEPTH: u8 = MAX_FIELDS_DEPTH - MAX_LITERAL_DEPTH;

/// Deepest nesting of an object as it is written out in a program.
pub const MAX_LITERAL_DEPTH: u8 = 12;
