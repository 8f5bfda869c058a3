//! Members of a packet that begin with `_`.

use omen_types::{Metadata, Packet};
use serde_json::json;

use crate::packets::{self, accepted, edited, line, refused};

#[test]
fn metadata_is_kept_at_the_top_and_refused_elsewhere() {
    let text = line(packets::alert());
    let with = edited(&text, &[(r#"{"header""#, r#"{"_trace":{"id":[1,null]},"_":0,"_ä":"x","header""#)]);
    let Packet::IntegrityAlert(packet) = accepted(&with) else { panic!("type") };
    assert_eq!(
        serde_json::to_value(packet.metadata.as_map()).unwrap(),
        json!({ "_": 0, "_trace": { "id": [1, null] }, "_ä": "x" })
    );
    assert_eq!(accepted(&line(packet.clone())), packet.into());
    for name in ["x_", "-x", " _x", "trace", ""] {
        refused(&edited(&text, &[(r#"{"header""#, &format!(r#"{{"{name}":0,"header""#))]));
    }
    refused(&edited(&text, &[(r#""payload":{"#, r#""payload":{"_trace":0,"#)]));
    refused(&edited(&text, &[(r#"{"header""#, r#"{"_a":0,"_a":0,"header""#)]));
    refused(&edited(&text, &[(r#"{"header""#, r#"{"_a":{"b":0,"b":0},"header""#)]));
}

#[test]
fn metadata_takes_names_with_an_underscore_only() {
    let mut metadata = Metadata::new();
    assert_eq!(metadata.insert("_a", json!(1)), Ok(None));
    assert_eq!(metadata.insert("_a", json!(2)), Ok(Some(json!(1))));
    assert_eq!(
        metadata.insert("header", json!(1)).unwrap_err().to_string(),
        "invalid metadata name `header`; expected a name that begins with `_`"
    );
    let mut packet = packets::queue_update();
    packet.metadata = metadata;
    let packet = Packet::from(packet);
    assert_eq!(packet.check(), Ok(()));
    let text = line(packet.clone());
    assert!(text.ends_with(r#","_a":2}"#), "{text}");
    assert_eq!(accepted(&text), packet);
}
