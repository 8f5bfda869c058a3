//! Inputs as text, one per line, so that a corpus is a single file.

/// Writes an input as a line of printable ASCII: backslashes and all other bytes are escaped.
#[must_use]
pub fn escape(input: &[u8]) -> String {
    let mut line = String::with_capacity(input.len());
    for byte in input {
        match byte {
            b'\\' => line += r"\\",
            b'\n' => line += r"\n",
            b' '..=b'~' => line.push(char::from(*byte)),
            _ => line += &format!("\\x{byte:02x}"),
        }
    }
    line
}

/// Reads a line that [`escape`] has written.
#[must_use]
pub fn unescape(line: &str) -> Vec<u8> {
    let mut input = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        input.extend_from_slice(plain.as_bytes());
        let (byte, length) = match escaped.as_bytes() {
            [b'n', ..] => (b'\n', 1),
            [b'x', ..] => (escaped.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(b'?'), 3),
            _ => (b'\\', 1),
        };
        input.push(byte);
        rest = escaped.get(length..).unwrap_or_default();
    }
    input.extend_from_slice(rest.as_bytes());
    input
}
