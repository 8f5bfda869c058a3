//! Owner of a resource: the server that lists it, or the one with a template that it matches. If there are two, neither is
//! chosen.

use std::collections::{BTreeMap, BTreeSet};

use omen_base::Mutex;

/// Resources and templates listed by each server.
#[derive(Debug, Default)]
pub(crate) struct Listings(Mutex<BTreeMap<usize, Listing>>);

#[derive(Debug, Default)]
struct Listing {
    uris: Option<BTreeSet<String>>,
    templates: Option<BTreeSet<String>>,
}

impl Listings {
    pub(super) fn set_uris(&self, server: usize, uris: BTreeSet<String>) {
        self.0.lock().entry(server).or_default().uris = Some(uris);
    }

    pub(super) fn set_templates(&self, server: usize, templates: BTreeSet<String>) {
        self.0.lock().entry(server).or_default().templates = Some(templates);
    }

    /// Forgets what a server has listed.
    pub(crate) fn forget(&self, server: usize) {
        self.0.lock().remove(&server);
    }

    pub(super) fn is_known(&self, server: usize) -> bool {
        self.0.lock().get(&server).is_some_and(|listing| listing.uris.is_some() && listing.templates.is_some())
    }

    /// Returns the servers that list a resource; if there are none, those with a template that it matches.
    pub(super) fn owners(&self, uri: &str) -> Vec<usize> {
        let all = self.0.lock();
        let of = |owns: &dyn Fn(&Listing) -> bool| -> Vec<usize> {
            all.iter().filter(|(_, listing)| owns(listing)).map(|(server, _)| *server).collect()
        };
        let listed = of(&|listing| listing.uris.as_ref().is_some_and(|uris| uris.contains(uri)));
        if !listed.is_empty() {
            return listed;
        }
        of(&|listing| listing.templates.iter().flatten().any(|template| fits(template, uri)))
    }

    /// Returns the servers that list a template.
    pub(super) fn owners_of_template(&self, template: &str) -> Vec<usize> {
        let all = self.0.lock();
        let lists =
            |listing: &Listing| listing.templates.as_ref().is_some_and(|templates| templates.contains(template));
        all.iter().filter(|(_, listing)| lists(listing)).map(|(server, _)| *server).collect()
    }
}

/// Returns whether a URI contains the fixed parts of a template, in order. Expressions in braces match anything, so a template
/// matches too much rather than too little: if two templates match, the resource is ambiguous and refused.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = fixed_parts(template).into_iter();
    let Some(mut rest) = parts.next().and_then(|first| uri.strip_prefix(first)) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns the parts outside of braces. An unclosed brace is an ordinary character.
fn fixed_parts(template: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while let Some((before, after)) = rest.split_once('{')
        && let Some((_, behind)) = after.split_once('}')
    {
        parts.push(before);
        rest = behind;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::{Listings, fits};

    #[test]
    fn a_template_fits_what_has_its_fixed_parts_in_their_order() {
        for (template, uri) in [
            ("file:///{path}", "file:///a/b"),
            ("file:///{+path}", "file:///"),
            ("a://{x}/b/{y}", "a://1/b/2"),
            ("a://{x}{?q}", "a://1?q=2"),
            ("a://b", "a://b"),
            ("{x}", "anything"),
            ("a{b", "a{b"),
            ("x{a}ab{b}ab", "xabab"),
        ] {
            assert!(fits(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("file:///{path}", "file://a"),
            ("a://{x}/b/{y}", "a://1/c/2"),
            ("a://b", "a://bc"),
            ("a://{x}.txt", "a://b.txt.exe"),
            ("x{a}ab{b}ab", "xab"),
        ] {
            assert!(!fits(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn what_is_listed_counts_before_what_fits() {
        let listings = Listings::default();
        let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        listings.set_uris(0, set(&["a://1", "a://2"]));
        listings.set_templates(1, set(&["a://{n}"]));
        listings.set_uris(2, set(&["a://2"]));
        assert_eq!(listings.owners("a://1"), [0]);
        assert_eq!(listings.owners("a://2"), [0, 2]);
        assert_eq!(listings.owners("a://3"), [1]);
        assert_eq!(listings.owners_of_template("a://{n}"), [1]);
        assert!(!listings.is_known(0) && listings.owners("b://").is_empty());
        listings.forget(2);
        assert_eq!(listings.owners("a://2"), [0]);
    }
}
