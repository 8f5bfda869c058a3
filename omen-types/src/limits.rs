//! Limits for parsing, and the resulting limits for writing.

/// Maximum length of a line in a log, in bytes without its line end: 16 MiB. A longer line is refused without being
/// parsed. The gate's audit log has the same limit, but including the line end.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Maximum nesting of arrays and objects; the packet itself is the first level.
pub const MAX_DEPTH: u8 = 64;

/// Maximum number of schema errors reported for one packet; a note states how many more there are.
pub const MAX_ERRORS_A_PACKET: usize = 1000;

// Limits for the parts of a written packet. A line consists of a header, an envelope and a payload; a payload has at
// most two free-form values in addition to its texts.

/// Maximum size of the envelope of a written packet, in bytes of JSON.
pub const MAX_ENVELOPE_BYTES: usize = MAX_LINE_BYTES / 8;

/// Maximum length of an id in an episode, in bytes.
pub const MAX_ID_BYTES: usize = 4096;

/// Maximum size of a free-form value in a written packet, in bytes of JSON.
pub const MAX_VALUE_BYTES: usize = MAX_LINE_BYTES / 4;

/// Maximum size of the list of changes in a belief update, in bytes of JSON. The rest of the line is reserved for the
/// header and the evidence that the update cites.
pub const MAX_CHANGES_BYTES: usize = MAX_LINE_BYTES - 2 * MAX_ENVELOPE_BYTES;

/// Levels of a packet above its deepest free-form object: the packet, its payload, and two nested objects.
const LEVELS_ABOVE: u8 = 4;

/// Maximum nesting of a free-form object in a written packet; the object itself is the first level.
pub const MAX_FIELDS_DEPTH: u8 = MAX_DEPTH - LEVELS_ABOVE;

/// Maximum nesting of a free-form value: less than [`MAX_FIELDS_DEPTH`], so that a value fits into an object literal.
pub const MAX_VALUE_DEPTH: u8 = MAX_FIELDS_DEPTH - MAX_LITERAL_DEPTH;

/// Maximum nesting of an object literal in source code.
pub const MAX_LITERAL_DEPTH: u8 = 12;
