//! Tool list that the gate requests before each call, compared by bytes with the previous one.

use std::collections::BTreeSet;
use std::sync::Arc;

use omen_base::Mutex;
use omen_gate::mcp::{Listing, ServerLimits, fault_of, result_of};
use omen_gate::tool::Tool;
use omen_gate::{Fault, ToolName};

use omen_mcp::frame::{Frame, Kind};

/// Cache of the last tool list of a server. A list with the same bytes is the same list: it is not parsed again, and callers get the same
/// tools as before.
#[derive(Debug, Default)]
pub(crate) struct ToolListCache(Mutex<Option<Arc<CachedList>>>);

/// Last complete tool list of a server, with its pages.
#[derive(Debug)]
struct CachedList {
    pages: Vec<CachedPage>,
    tools: Arc<[Tool]>,
    /// Tools that promise structured answers.
    promising: BTreeSet<ToolName>,
}

/// Page of the last list: the bytes of its result, and the cursor of the following page.
#[derive(Clone, Debug)]
struct CachedPage {
    result: Box<str>,
    next: Option<String>,
}

impl ToolListCache {
    /// Begins to accept a list, page by page.
    pub(crate) fn begin<'l>(&'l self, limits: &'l ServerLimits) -> Pages<'l> {
        Pages { last: self, known: self.0.lock().clone(), same: 0, anew: None, limits }
    }

    /// Returns whether a tool promises structured answers, as far as it was listed.
    pub(crate) fn promises(&self, tool: &str) -> bool {
        self.0.lock().as_ref().is_some_and(|known| known.promising.contains(tool))
    }
}

/// List that is being accepted.
#[derive(Debug)]
pub(crate) struct Pages<'l> {
    last: &'l ToolListCache,
    known: Option<Arc<CachedList>>,
    /// Number of pages with the same bytes as last time.
    same: usize,
    /// New list, from the first page that differs on.
    anew: Option<Anew<'l>>,
    limits: &'l ServerLimits,
}

#[derive(Debug)]
struct Anew<'l> {
    listing: Listing<'l>,
    pages: Vec<CachedPage>,
}

impl<'l> Pages<'l> {
    /// Accepts the response to a request for a page, and returns the cursor of the next one, if there is one.
    ///
    /// # Errors
    /// If the response is not a page, or the list is too large.
    pub(crate) fn take(&mut self, response: &Frame) -> Result<Option<String>, Fault> {
        if response.kind != Kind::Result {
            return Err(fault_of(response));
        }
        let bytes = response.raw(response.body().unwrap_or_default());
        if self.anew.is_none()
            && let Some(page) = self.known.as_ref().and_then(|known| known.pages.get(self.same))
            && *page.result == *bytes
        {
            self.same += 1;
            return Ok(page.next.clone());
        }
        let anew = match &mut self.anew {
            Some(anew) => anew,
            None => self.anew.insert(Anew::after(self.known.as_deref(), self.same, self.limits)?),
        };
        let next = anew.listing.page(result_of(response)?)?;
        anew.pages.push(CachedPage { result: bytes.into(), next: next.clone() });
        Ok(next)
    }

    /// Returns the tools of all pages.
    pub(crate) fn finish(self) -> Arc<[Tool]> {
        match (self.anew, self.known) {
            // INVARIANT: the last page had no cursor, so it was also the last one before.
            (None, Some(known)) => Arc::clone(&known.tools),
            (anew, _) => {
                let (tools, pages) = anew.map(|anew| (anew.listing.finish(), anew.pages)).unwrap_or_default();
                let promising = tools.iter().filter(|tool| tool.output_schema.is_some());
                let promising = promising.map(|tool| tool.name.clone()).collect();
                let tools: Arc<[Tool]> = tools.into();
                let known = CachedList { pages, tools: Arc::clone(&tools), promising };
                *self.last.0.lock() = Some(Arc::new(known));
                tools
            }
        }
    }
}

impl<'l> Anew<'l> {
    /// Rereads the pages up to the first one that differs, so that the whole list is checked against the limits.
    fn after(known: Option<&CachedList>, same: usize, limits: &'l ServerLimits) -> Result<Self, Fault> {
        let mut listing = Listing::new(limits);
        let pages: Vec<_> = known.into_iter().flat_map(|known| known.pages.iter().take(same)).cloned().collect();
        for page in &pages {
            let result = serde_json::from_str(&page.result).map_err(|error| Fault::malformed(&error.to_string()))?;
            let _ = listing.page(result)?;
        }
        Ok(Self { listing, pages })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use omen_gate::Fault;
    use omen_gate::mcp::ServerLimits;
    use omen_gate::tool::Tool;

    use super::ToolListCache;
    use omen_mcp::frame::Frame;

    /// Accepts pages as far as their cursors lead.
    fn take(last: &ToolListCache, pages: &[&str]) -> Result<Arc<[Tool]>, Fault> {
        let limits = ServerLimits { tools: 3, ..ServerLimits::default() };
        let mut list = last.begin(&limits);
        for (number, page) in pages.iter().enumerate() {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{page}}}"#);
            if list.take(&Frame::read(line.into_bytes()).unwrap())?.is_none() {
                assert_eq!(number + 1, pages.len(), "{page} is the last one");
                return Ok(list.finish());
            }
        }
        panic!("the last page has a cursor")
    }

    fn names(tools: &[Tool]) -> Vec<&str> {
        tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    const A: &str = r#"{"tools":[{"name":"a","inputSchema":{},"outputSchema":{}}],"nextCursor":"2"}"#;
    const B: &str = r#"{"tools":[{"name":"b","inputSchema":{}}]}"#;

    #[test]
    fn the_same_bytes_are_the_same_list() {
        let last = ToolListCache::default();
        let first = take(&last, &[A, B]).unwrap();
        assert_eq!(names(&first), ["a", "b"]);
        assert!(last.promises("a") && !last.promises("b"));
        assert!(Arc::ptr_eq(&first, &take(&last, &[A, B]).unwrap()), "it is not read again");
        let spaced = B.replace(':', ": ");
        let other = take(&last, &[A, &spaced]).unwrap();
        assert!(!Arc::ptr_eq(&first, &other) && first == other, "other bytes are read");
    }

    #[test]
    fn a_difference_anywhere_makes_another_list() {
        let last = ToolListCache::default();
        take(&last, &[A, B]).unwrap();
        let c = B.replace("\"b\"", "\"c\"");
        assert_eq!(names(&take(&last, &[A, &c]).unwrap()), ["a", "c"]);
        let more = B.replace("]}", r#"],"nextCursor":"3"}"#);
        assert_eq!(names(&take(&last, &[A, &more, &c]).unwrap()), ["a", "b", "c"]);
        assert_eq!(names(&take(&last, &[B]).unwrap()), ["b"], "fewer pages");
        assert!(!last.promises("a"));
        assert_eq!(names(&take(&last, &[A, B]).unwrap()), ["a", "b"], "more pages");
        let end = A.replace(r#","nextCursor":"2""#, "");
        assert_eq!(names(&take(&last, &[&end]).unwrap()), ["a"]);
    }

    #[test]
    fn limits_and_names_count_over_all_pages_and_what_is_refused_is_not_kept() {
        let last = ToolListCache::default();
        let first = take(&last, &[A, B]).unwrap();
        let twice = B.replace("\"b\"", "\"a\"");
        assert!(take(&last, &[A, &twice]).is_err(), "the first page is known, and its name is taken");
        let three =
            r#"{"tools":[{"name":"x","inputSchema":{}},{"name":"y","inputSchema":{}},{"name":"z","inputSchema":{}}]}"#;
        assert!(take(&last, &[A, three]).is_err(), "four tools");
        assert!(take(&last, &[A, r#"{"tools":7}"#]).is_err());
        assert!(Arc::ptr_eq(&first, &take(&last, &[A, B]).unwrap()));
    }
}
