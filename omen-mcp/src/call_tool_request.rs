//! `tools/call` request, read in place.

use std::ops::Range;

use crate::frame::{Frame, similar};
use crate::handshake::Era;
use crate::json;

/// `tools/call` request from a client: its bytes, and the positions of the judged parts in them.
#[derive(Clone, Debug)]
pub struct CallToolRequest {
    frame: Frame,
    era: Era,
    name: Range<usize>,
    arguments: Option<Range<usize>>,
    meta: Option<Range<usize>>,
    is_task: bool,
}

impl CallToolRequest {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// If they are not the parameters of a call. This is a protocol error: nothing was judged.
    pub fn read(frame: Frame, era: Era) -> Result<Self, String> {
        let members = frame.members().map_err(|flaw| flaw.to_string())?;
        if let Some(why) = members.iter().find_map(|member| similar(&member.key, &PARAMS)) {
            return Err(why);
        }
        let get = |key: &str| members.iter().find(|member| member.key == key).map(|member| member.span.clone());
        let is_text = |span: &Range<usize>| frame.text().as_bytes().get(span.start) == Some(&b'"');
        let name = get("name").filter(is_text).ok_or("expected a string for `name`")?;
        let (arguments, meta, is_task) = (get("arguments"), get("_meta"), get("task").is_some());
        drop(members);
        Ok(Self { frame, era, name, arguments, meta, is_task })
    }

    /// Returns the message, byte for byte.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the era in which the client sent the request.
    pub fn era(&self) -> Era {
        self.era
    }

    /// Returns the name of the tool as written.
    pub fn raw_name(&self) -> &str {
        self.frame.raw(self.name.clone())
    }

    /// Returns the name of the tool; empty if it is not a string.
    pub fn name(&self) -> String {
        json::text(self.frame.text(), self.name.clone()).unwrap_or_default()
    }

    /// Returns the arguments as written; `{}` if the call has none.
    pub fn raw_arguments(&self) -> &str {
        self.arguments.clone().map_or("{}", |span| self.frame.raw(span))
    }

    /// Returns the `_meta` of the call as written, if it has any.
    pub fn raw_meta(&self) -> Option<&str> {
        self.meta.clone().map(|span| self.frame.raw(span))
    }

    /// Returns whether the call asks to run as a task.
    pub fn is_task(&self) -> bool {
        self.is_task
    }
}

/// Parameter keys that are judged or that have a meaning for others.
const PARAMS: [&str; 6] = ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::CallToolRequest;
    use crate::frame::Frame;
    use crate::handshake::Era;

    fn read(params: &str) -> Result<CallToolRequest, String> {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        CallToolRequest::read(Frame::read(line.into_bytes()).unwrap(), Era::Handshake)
    }

    #[test]
    fn what_is_judged_is_read_where_it_stands() {
        let call = read(r#"{"_meta":{"a":1},"name":"\u0061dd","arguments":{"n" : 1.50}}"#).unwrap();
        assert_eq!((call.name().as_str(), call.raw_name()), ("add", r#""\u0061dd""#));
        assert_eq!((call.raw_arguments(), call.raw_meta()), (r#"{"n" : 1.50}"#, Some(r#"{"a":1}"#)));
        assert!(!call.is_task() && call.frame().text().contains("1.50"));
        let bare = read(r#"{"name":"add","task":{}}"#).unwrap();
        assert_eq!((bare.raw_arguments(), bare.raw_meta(), bare.is_task()), ("{}", None, true));
    }

    #[test]
    fn parameters_that_are_not_those_of_a_call_are_refused() {
        for (params, why) in [
            ("{}", "expected a string for `name`"),
            (r#"{"name":1}"#, "expected a string for `name`"),
            (r#"{"name":"a","Arguments":{}}"#, "differs from `arguments` only in case"),
            (r#"{"name":"a","taſk":{}}"#, "differs from `task` only in case"),
        ] {
            let error = read(params).unwrap_err();
            assert!(error.contains(why), "{params}: {error}");
        }
    }
}
