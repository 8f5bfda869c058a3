//! Snapshot encoding shared by several modules of `root_cause`.

use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::PacketType;

use crate::finding::Cause;

pub(super) fn write_type(packet_type: Option<PacketType>, writer: &mut Writer<'_>) {
    writer.byte(packet_type.map_or(0, |one| one as u8 + 1));
}

pub(super) fn read_type(reader: &mut Reader<'_>) -> Option<PacketType> {
    usize::from(reader.byte()).checked_sub(1).and_then(|at| PacketType::ALL.get(at).copied())
}

pub(super) fn write_cause(cause: &Cause, writer: &mut Writer<'_>) {
    writer.number(cause.line);
    write_text(cause.packet_id.as_deref(), writer);
}

pub(super) fn read_cause(reader: &mut Reader<'_>) -> Cause {
    Cause { line: reader.number(), packet_id: read_text(reader) }
}

pub(super) fn write_text(text: Option<&str>, writer: &mut Writer<'_>) {
    writer.byte(u8::from(text.is_some()));
    writer.text(text.unwrap_or_default());
}

pub(super) fn read_text(reader: &mut Reader<'_>) -> Option<String> {
    let (is_there, text) = (reader.byte() == 1, reader.text());
    is_there.then(|| text.to_owned())
}
