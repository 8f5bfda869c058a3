//! Protocol era of a server, determined by its answer to `server/discover`.

use omen_gate::Fault;
use omen_gate::mcp::fault_of;
use serde_json::Value;

use omen_mcp::frame::{Frame, Kind};
use omen_mcp::handshake::Era;
use omen_mcp::json;

/// Last protocol version with a handshake, and first one without.
pub(super) const WITH_HANDSHAKE: &str = "2025-11-25";
pub(super) const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// Code for a server that does not speak the requested version (2026-07-28).
const UNSUPPORTED: i64 = -32_022;
/// Errors known only to servers without a handshake: headers that do not repeat the body, and a missing capability.
const OF_STATELESS: [i64; 2] = [-32_020, -32_021];
/// Codes for a client that is not admitted or asks too often. They are the same in both eras.
const NOT_LET_IN: [i64; 4] = [401, 403, 407, 429];

/// Returns the era that an answer to `server/discover` shows. Servers with a handshake do not have that method, and each refuses
/// it differently: with an error of any code, a status, invalid data, the end of the connection, or not at all. Only an answer
/// specific to servers without a handshake therefore counts as one.
///
/// # Errors
/// If a handshake cannot help: the server cannot be reached, admits nobody, or speaks only later versions.
pub(super) fn shown(answer: Result<Frame, Fault>) -> Result<Era, Fault> {
    let frame = match answer {
        Ok(frame) => frame,
        Err(Fault::Refused { code, .. }) if !NOT_LET_IN.contains(&code) => return Ok(Era::Handshake),
        Err(Fault::Malformed { .. } | Fault::Died { .. } | Fault::Timeout { .. }) => return Ok(Era::Handshake),
        Err(fault) => return Err(fault),
    };
    let body = frame.body().and_then(|body| json::object(frame.text(), body).ok()).unwrap_or_default();
    if frame.kind == Kind::Result {
        return agreed(body.get("supportedVersions"));
    }
    match fault_of(&frame) {
        Fault::Refused { code: UNSUPPORTED, .. } => agreed(body.get("data").and_then(|data| data.get("supported"))),
        fault @ Fault::Refused { code, .. } if OF_STATELESS.contains(&code) => Err(fault),
        _ => Ok(Era::Handshake),
    }
}

/// Returns the era according to the versions that the server lists. Versions are dates.
fn agreed(listed: Option<&Value>) -> Result<Era, Fault> {
    let versions: Vec<_> = listed.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if versions.contains(&WITHOUT_HANDSHAKE) {
        return Ok(Era::Stateless);
    }
    // Without a list nothing is known. A list that contains an old version comes from a server with a handshake.
    if versions.is_empty() || versions.iter().any(|version| *version <= WITH_HANDSHAKE) {
        return Ok(Era::Handshake);
    }
    let why = format!("it speaks the versions {} of the protocol, and not {WITHOUT_HANDSHAKE}", versions.join(", "));
    Err(Fault::refused(UNSUPPORTED, &why))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use omen_gate::Fault;

    use super::shown;
    use omen_mcp::frame::Frame;
    use omen_mcp::handshake::Era;

    fn era_from(rest: &str) -> Result<Era, String> {
        let frame = Frame::read(format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#).into_bytes()).unwrap();
        shown(Ok(frame)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn the_versions_that_a_server_speaks_say_its_era() {
        for (versions, era) in [
            (r#"["2026-07-28"]"#, Era::Stateless),
            (r#"["2025-11-25","2026-07-28","2027-01-01"]"#, Era::Stateless),
            (r#"["2025-11-25"]"#, Era::Handshake),
            (r#"["2027-01-01","2024-11-05"]"#, Era::Handshake),
            ("[]", Era::Handshake),
            ("[7]", Era::Handshake),
            (r#""2026-07-28""#, Era::Handshake),
            ("null", Era::Handshake),
        ] {
            assert_eq!(era_from(&format!(r#""result":{{"supportedVersions":{versions}}}"#)), Ok(era), "{versions}");
            let error = format!(r#""error":{{"code":-32022,"message":"no","data":{{"supported":{versions}}}}}"#);
            assert_eq!(era_from(&error), Ok(era), "{versions}");
        }
        for later in [
            r#""result":{"supportedVersions":["2027-01-01"]}"#,
            r#""error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}"#,
        ] {
            assert!(
                era_from(later).unwrap_err().contains("it speaks the versions 2027-01-01 of the protocol"),
                "{later}"
            );
        }
    }

    #[test]
    fn an_error_shows_an_era_only_if_the_other_does_not_have_it() {
        for code in [-32_020, -32_021] {
            assert!(
                era_from(&format!(r#""error":{{"code":{code},"message":"bad header"}}"#))
                    .unwrap_err()
                    .contains("bad header")
            );
        }
        for error in [
            r#"{"code":-32601,"message":"no such method"}"#,
            r#"{"code":-32000,"message":"no session"}"#,
            r#"{"code":-32022,"message":"no"}"#,
            r#"{"code":-32022,"message":"no","data":7}"#,
            r#"{"code":"x"}"#,
            "{}",
        ] {
            assert_eq!(era_from(&format!(r#""error":{error}"#)), Ok(Era::Handshake), "{error}");
        }
        assert_eq!(
            era_from(r#""result":{"a":1,"a":2}"#),
            Ok(Era::Handshake),
            "a result with a duplicate field is invalid"
        );
    }

    #[test]
    fn a_server_that_cannot_be_asked_is_not_asked_again() {
        for fault in [Fault::refused(401, "HTTP 401"), Fault::refused(403, "HTTP 403"), Fault::unreachable("no host")] {
            assert_eq!(shown(Err(fault.clone())), Err(fault));
        }
        let after = Duration::from_secs(1);
        for fault in [Fault::refused(400, "x"), Fault::malformed("x"), Fault::died("x"), Fault::Timeout { after }] {
            assert_eq!(shown(Err(fault)), Ok(Era::Handshake));
        }
    }
}
