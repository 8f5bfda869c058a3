//! Methods of the Model Context Protocol that the proxy knows, as data: who sends each, who answers it, and what it needs to
//! pass. A new method is a row here.
//!
//! In front of one server, a method without a row passes unchanged. In front of several, its server is unknown, so it is
//! refused.

pub(crate) use omen_mcp::methods::{CALL, CANCELLED, INITIALIZE, INITIALIZED, LIST_TOOLS, LISTEN, PROGRESS};

use super::passage::Passage;

#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// Side that sends the method.
    pub(crate) from: Side,
    /// Whether the gate judges the method as part of a call, whichever server it goes to.
    pub(crate) is_judged: bool,
    /// Route of the method if the client has several servers.
    pub(crate) route: Route,
    pub(crate) needs: Needs,
}

/// Side of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Destination of a client message, or handling of a server message, if there are several servers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    /// The proxy answers it without a server.
    Answered,
    /// A handshake with all servers, in one protocol version.
    Handshake,
    /// The replacement for the handshake since 2026-07-28.
    Discovery,
    /// The lists of all servers, merged.
    List(&'static List),
    /// The server named by the prefix of its `name`.
    ByName,
    /// The server that has the resource of its `uri`.
    ByUri,
    /// The server of the prompt or the resource of its `ref`.
    ByReference,
    /// Each server.
    ToAll,
    /// Each server, with one request that stays open.
    Listening,
    /// The holder of the request that it names by id.
    ById,
    /// The holder of the request that it names by token.
    ByToken,
    /// The client, for a message from a server.
    ToClient,
}

/// Requirement for a method to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    One(Passage),
    /// Determined by the parameters: whether the user is asked for a secret or to open an address.
    OfElicitation,
    /// Determined by the parameters: whether changes of resources are requested.
    OfSubscription,
}

/// List offered by servers.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) method: &'static str,
    /// Member of a result that contains the items.
    pub(crate) key: &'static str,
    /// Member of an item that names it.
    pub(crate) named_by: &'static str,
    /// Whether servers choose the name, so two may choose the same.
    pub(crate) is_prefixed: bool,
    /// Capability of a server with such a list.
    pub(crate) capability: &'static str,
}

pub(crate) const TOOLS: List =
    List { method: LIST_TOOLS, key: "tools", named_by: "name", is_prefixed: true, capability: "tools" };
pub(crate) const PROMPTS: List =
    List { method: "prompts/list", key: "prompts", named_by: "name", is_prefixed: true, capability: "prompts" };
pub(crate) const RESOURCES: List =
    List { method: "resources/list", key: "resources", named_by: "uri", is_prefixed: false, capability: "resources" };
pub(crate) const TEMPLATES: List = List {
    method: "resources/templates/list",
    key: "resourceTemplates",
    named_by: "uriTemplate",
    is_prefixed: false,
    capability: "resources",
};

pub(crate) const DISCOVER: &str = "server/discover";
pub(crate) const PING: &str = "ping";
pub(crate) const ELICIT: &str = "elicitation/create";
pub(crate) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
pub(crate) const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
pub(crate) const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
pub(crate) const RESOURCE_UPDATED: &str = "notifications/resources/updated";

/// Requests and notifications from the client, requests from servers, and notifications from servers that are not passed on
/// unchanged.
#[rustfmt::skip]
const METHODS: [Method; 30] = [
    of_client(INITIALIZE, Route::Handshake),
    of_client(DISCOVER, Route::Discovery),
    of_client(PING, Route::Answered),
    judged(TOOLS.method, Route::List(&TOOLS)),
    judged(CALL, Route::ByName),
    of_client(PROMPTS.method, Route::List(&PROMPTS)),
    of_client("prompts/get", Route::ByName),
    of_client(RESOURCES.method, Route::List(&RESOURCES)),
    of_client(TEMPLATES.method, Route::List(&TEMPLATES)),
    of_client("resources/read", Route::ByUri),
    of_client("resources/subscribe", Route::ByUri).needing(Needs::One(Passage::Subscriptions)),
    of_client("resources/unsubscribe", Route::ByUri),
    of_client(LISTEN, Route::Listening).needing(Needs::OfSubscription),
    of_client("completion/complete", Route::ByReference),
    of_client("logging/setLevel", Route::ToAll),
    of_client(INITIALIZED, Route::ToAll),
    of_client("notifications/roots/list_changed", Route::ToAll),
    of_client(CANCELLED, Route::ById),
    of_client(PROGRESS, Route::ByToken),
    of_server("sampling/createMessage", Route::ToClient).needing(Needs::One(Passage::Sampling)),
    of_server("roots/list", Route::ToClient).needing(Needs::One(Passage::Roots)),
    of_server(ELICIT, Route::ToClient).needing(Needs::OfElicitation),
    of_server(PING, Route::ToClient),
    of_server(CANCELLED, Route::ById),
    of_server(PROGRESS, Route::ByToken),
    of_server(ACKNOWLEDGED, Route::Listening),
    of_server(RESOURCE_UPDATED, Route::ByUri),
    of_server(RESOURCES_CHANGED, Route::List(&RESOURCES)),
    of_server(TOOLS_CHANGED, Route::List(&TOOLS)),
    of_server(PROMPTS_CHANGED, Route::List(&PROMPTS)),
];

const fn of_client(name: &'static str, route: Route) -> Method {
    Method { name, from: Side::Client, is_judged: false, route, needs: Needs::Nothing }
}

const fn judged(name: &'static str, route: Route) -> Method {
    Method { is_judged: true, ..of_client(name, route) }
}

const fn of_server(name: &'static str, route: Route) -> Method {
    Method { from: Side::Server, ..of_client(name, route) }
}

impl Method {
    fn is_notification(&self) -> bool {
        self.name.starts_with("notifications/")
    }

    const fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }
}

/// Returns the method of a request, if it has exactly this name.
pub(crate) fn request(name: &str, from: Side) -> Option<&'static Method> {
    named(name, from).filter(|method| !method.is_notification())
}

/// Returns the method of a notification, if it has exactly this name.
pub(crate) fn notification(name: &str, from: Side) -> Option<&'static Method> {
    named(name, from).filter(|method| method.is_notification())
}

fn named(name: &str, from: Side) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.from == from && method.name == name)
}

/// Returns what a message needs to pass if a lenient peer could take its method for one of these.
pub(crate) fn needs(name: &str, from: Side) -> Needs {
    let found = METHODS.iter().find(|method| method.from == from && letters(method.name).eq(letters(name)));
    found.map_or(Needs::Nothing, |method| method.needs)
}

/// Returns whether a method is a tools method unknown to this program, or could be taken for one by a lenient peer.
pub(crate) fn is_unknown_of_tools(name: &str) -> bool {
    letters(name).take(4).eq("tool".chars())
}

/// Iterates over the letters of a name as a lenient peer could read it.
pub(crate) fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
    omen_mcp::json::folded(name).filter(|c| c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::passage::Passage;
    use super::{
        CALL, INITIALIZED, METHODS, Needs, Route, Side, is_unknown_of_tools, letters, needs, notification, request,
    };

    #[test]
    fn methods_that_look_like_those_of_tools_are_found() {
        for method in
            ["Tools/call", "tools/call ", "tools//call", "/tools/call", "toolſ/call", "tools.call", "tools/run"]
        {
            assert!(is_unknown_of_tools(method), "{method}");
        }
        assert!(!is_unknown_of_tools("resources/read"));
    }

    #[test]
    fn a_method_is_one_row_for_each_side_that_sends_it() {
        for method in &METHODS {
            let same =
                |other: &&super::Method| other.from == method.from && letters(other.name).eq(letters(method.name));
            assert_eq!(METHODS.iter().filter(same).count(), 1, "{}", method.name);
        }
    }

    #[test]
    fn what_is_judged_has_an_exact_name_and_what_could_act_a_similar_one() {
        assert!(
            request(CALL, Side::Client).is_some_and(|method| method.is_judged && matches!(method.route, Route::ByName))
        );
        assert!(request("Tools/call", Side::Client).is_none() && request(CALL, Side::Server).is_none());
        assert!(notification(CALL, Side::Client).is_none() && request(INITIALIZED, Side::Client).is_none());
        assert_eq!(needs("Sampling/create-message ", Side::Server), Needs::One(Passage::Sampling));
        assert_eq!(needs("sampling/createMessage", Side::Client), Needs::Nothing);
    }
}
