//! Timestamps in packets: text and offset are kept, and instants are compared.

use omen_types::{Instant, Packet, PacketFacts, Timestamp};

use crate::packets::{self, accepted, edited, line, refused};

fn with(timestamp: &str) -> String {
    edited(&line(packets::alert()), &[("2026-03-01T10:00:00Z", timestamp)])
}

#[test]
fn text_and_offset_come_back_as_they_were() {
    let noon: Instant = "2026-03-01T12:00:00Z".parse().unwrap();
    for text in [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01T14:00:00+02:00",
        "2026-03-01T06:15:00-05:45",
        "2026-03-01T12:00:00.000-00:00",
        "2026-03-02T11:59:00+23:59",
    ] {
        let packet = accepted(&with(text));
        assert_eq!(packet.header().created_at.as_str(), text);
        assert_eq!(packet.header().created_at.instant(), noon);
        assert_eq!(PacketFacts::parse(&with(text)).unwrap().header.created_at, noon);
        assert_eq!(line(packet), with(text));
    }
}

#[test]
fn two_texts_of_one_instant_are_two_timestamps() {
    let utc = Timestamp::new("2026-03-01T12:00:00Z").unwrap();
    let east = Timestamp::new("2026-03-01T13:00:00+01:00").unwrap();
    assert_ne!(utc, east);
    assert_eq!(utc.partial_cmp(&east), None);
    assert!(utc < Timestamp::new("2026-03-01T12:00:00.1Z").unwrap());
    assert_eq!(Timestamp::from(east.instant()), utc);
}

#[test]
fn what_is_no_timestamp_is_refused() {
    for text in [
        "2026-03-01T10:00:00",
        "2026-03-01",
        "2026-03-01 10:00:00Z",
        "2026-02-29T10:00:00Z",
        "2026-03-01T10:00:60Z",
        "2026-03-01T10:00:00Z\\n",
        "2026-03-01T10:00:00.Z",
        "2026-03-01T10:00:0-Z",
        "20.6-03-01T10:00:00Z",
        "",
    ] {
        let rejected = refused(&with(text));
        assert_eq!(rejected.errors.len(), 1);
        assert_eq!(rejected.errors[0].pointer.as_deref(), Some("/header/created_at"));
    }
    for text in ["2024-02-29T00:00:00Z", "2016-12-31T23:59:60Z", "2017-01-01T01:59:60.5+02:00", "0000-01-01T00:00:00Z"]
    {
        let packet: Packet = accepted(&with(text));
        assert_eq!(packet.check(), Ok(()));
    }
}

#[test]
fn the_time_of_the_system_is_an_instant() {
    use std::time::{Duration, SystemTime};
    let epoch = SystemTime::UNIX_EPOCH;
    let nanos = Duration::from_nanos;
    for (time, text) in [
        (epoch, "1970-01-01T00:00:00Z"),
        (epoch + nanos(1_500_000_000), "1970-01-01T00:00:01.5Z"),
        (epoch + Duration::from_secs(1_772_359_200), "2026-03-01T10:00:00Z"),
        (epoch - nanos(1), "1969-12-31T23:59:59.999999999Z"),
        (epoch - nanos(1_000_000_000), "1969-12-31T23:59:59Z"),
        (epoch - nanos(1_250_000_000), "1969-12-31T23:59:58.75Z"),
    ] {
        assert_eq!(omen_types::Instant::from(time).to_string(), text);
        assert_eq!(omen_types::Instant::from(time), text.parse().unwrap());
    }
}
