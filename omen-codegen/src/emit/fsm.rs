//! States, events, the transition table and the verification loop.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::names::pascal;
use super::{bug, doc, ident, list, packet_type, packet_variant, value};
use crate::mistake::Mistakes;
use crate::model::{Derived, Event, Fsm, Guard, GuardOn, Kind, Model, Row, Target, Ty};

pub(super) fn machine(model: &Model) -> Result<TokenStream, Mistakes> {
    let nodes = nodes(&model.fsm);
    if nodes.len() > 16 {
        return Err(bug("more than 16 states and sub-states do not fit the bit set".to_owned()));
    }
    let states = states(&model.fsm);
    let node_enum = node_enum(&nodes);
    let events = events(model)?;
    let table = table(model, &nodes)?;
    Ok(quote! { #states #node_enum #events #table })
}

/// State without sub-states, or a sub-state.
pub(super) struct NodeNames<'m> {
    /// Id, such as `S3_DECIDE/ACT`.
    pub(super) id: String,
    /// Rust name, such as `DecideAct`.
    pub(super) name: String,
    state: &'m str,
    state_name: &'m str,
    initial: bool,
    description: &'m str,
}

pub(super) fn nodes(fsm: &Fsm) -> Vec<NodeNames<'_>> {
    let mut nodes = Vec::new();
    for state in &fsm.states {
        if state.substates.is_empty() {
            nodes.push(NodeNames {
                id: state.id.clone(),
                name: state.name.clone(),
                state: &state.id,
                state_name: &state.name,
                initial: state.initial,
                description: &state.description,
            });
        }
        for sub in &state.substates {
            nodes.push(NodeNames {
                id: format!("{}/{}", state.id, sub.id),
                name: format!("{}{}", state.name, sub.name),
                state: &state.id,
                state_name: &state.name,
                initial: state.initial,
                description: &sub.description,
            });
        }
    }
    nodes
}

fn states(fsm: &Fsm) -> TokenStream {
    let names: Vec<_> = fsm.states.iter().map(|state| ident(&state.name)).collect();
    let docs = fsm.states.iter().map(|state| doc(&format!("`{}`: {}", state.id, state.description)));
    let ids: Vec<_> = fsm.states.iter().map(|state| &state.id).collect();
    let titles: Vec<_> = fsm.states.iter().map(|state| &state.title).collect();
    let descriptions: Vec<_> = fsm.states.iter().map(|state| &state.description).collect();
    quote! {
        /// State of an episode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum State { #(#docs #names),* }

        impl State {
            /// All states, in order.
            pub const ALL: &'static [State] = &[#(State::#names),*];

            /// Returns the id of the state, such as `S3_DECIDE`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(State::#names => #ids),* }
            }

            /// Returns one or two words that complete "the episode is …".
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { #(State::#names => #titles),* }
            }

            /// Returns the meaning of the state.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { #(State::#names => #descriptions),* }
            }
        }
    }
}

fn node_enum(nodes: &[NodeNames<'_>]) -> TokenStream {
    let names: Vec<_> = nodes.iter().map(|node| ident(&node.name)).collect();
    let docs = nodes.iter().map(|node| doc(&format!("`{}`: {}", node.id, node.description)));
    let ids: Vec<_> = nodes.iter().map(|node| &node.id).collect();
    let states = nodes.iter().map(|node| ident(node.state_name));
    let initial = nodes.iter().filter(|node| node.initial).map(|node| ident(&node.name));
    quote! {
        /// State without sub-states, or sub-state: source or target of a row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Node { #(#docs #names),* }

        impl Node {
            /// All nodes, in order.
            pub const ALL: &'static [Node] = &[#(Node::#names),*];

            /// Node in which episodes start.
            pub const INITIAL: Node = #(Node::#initial)*;

            /// Returns the id of the node, such as `S3_DECIDE/ACT`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(Node::#names => #ids),* }
            }

            /// Returns the state to which the node belongs.
            #[must_use]
            pub fn state(self) -> State {
                match self { #(Node::#names => State::#states),* }
            }
        }
    }
}

fn events(model: &Model) -> Result<TokenStream, Mistakes> {
    let events = &model.fsm.events;
    let names: Vec<_> = events.iter().map(event_name).collect();
    let docs = events.iter().map(|event| doc(&format!("`{}`: {}.", event.id, event.description)));
    let ids: Vec<_> = events.iter().map(|event| &event.id).collect();
    let descriptions: Vec<_> = events.iter().map(|event| &event.description).collect();
    let types = events.iter().map(|event| match &event.packet {
        Some(packet) => packet_type(model, packet).map(|packet| quote!(Some(PacketType::#packet))),
        None => Ok(quote!(None)),
    });
    let types = types.collect::<Result<Vec<_>, _>>()?;
    let mut arms = Vec::new();
    for packet in &model.packets {
        let variant = packet_variant(model, packet)?;
        let of: Vec<_> = events.iter().filter(|event| event.packet.as_ref() == Some(packet)).collect();
        let Some((last, tested)) = of.split_last() else {
            return Err(bug(format!("no event for packets of type `{packet}`")));
        };
        let last = event_name(last);
        if tested.is_empty() {
            arms.push(quote!(PayloadFacts::#variant { .. } => Event::#last));
            continue;
        }
        let tests = tested
            .iter()
            .map(|event| {
                let (name, test) = (event_name(event), guards(model, packet, &event.when)?);
                Ok(quote!(if #test { return Event::#name; }))
            })
            .collect::<Result<Vec<_>, Mistakes>>()?;
        // The lint phase ensures that the guards of the last event accept exactly the remaining packets.
        arms.push(quote!(PayloadFacts::#variant(payload) => { #(#tests)* Event::#last }));
    }
    Ok(quote! {
        /// Event in the life of an episode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Event { #(#docs #names),* }

        impl Event {
            /// All events, in order.
            pub const ALL: &'static [Event] = &[#(Event::#names),*];

            /// Returns the id of the event, such as `decide_act`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(Event::#names => #ids),* }
            }

            /// Returns the description of the event.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { #(Event::#names => #descriptions),* }
            }

            /// Returns the packet type of the event, or `None` for the end of the stream.
            #[must_use]
            pub fn packet_type(self) -> Option<PacketType> {
                match self { #(Event::#names => #types),* }
            }

            /// Classifies a packet as an event.
            #[must_use]
            pub fn of(facts: &PacketFacts<'_>) -> Event {
                match &facts.payload { #(#arms),* }
            }
        }
    })
}

fn event_name(event: &Event) -> proc_macro2::Ident {
    ident(&pascal(&event.id))
}

/// Returns the conjunction of all guards. It refers to `facts` and, for pointers into the payload and derived facts,
/// to `payload`.
fn guards(model: &Model, packet: &str, guards: &[Guard]) -> Result<TokenStream, Mistakes> {
    let tests = guards.iter().map(|guard| test(model, packet, guard)).collect::<Result<Vec<_>, _>>()?;
    Ok(if tests.is_empty() { quote!(true) } else { quote!(#(#tests)&&*) })
}

fn test(model: &Model, packet: &str, guard: &Guard) -> Result<TokenStream, Mistakes> {
    let named = |of: &str| guard.values.iter().map(|wire| value(model, of, wire)).collect::<Result<Vec<_>, _>>();
    match &guard.on {
        GuardOn::Derived(name) => {
            let values = match model.fsm.derived.iter().find(|derived| derived.id == *name) {
                Some(Derived { of: Some(of), .. }) => named(of)?,
                // The type of the values is hand-written.
                _ => guard.values.iter().map(|value| ident(&pascal(value))).collect(),
            };
            let (function, ty) = (ident(name), ident(&pascal(name)));
            Ok(quote!(matches!(derived::#function(&facts.header, payload), #(derived::#ty::#values)|*)))
        }
        GuardOn::Pointer(pointer) => {
            let (place, of) = place(model, packet, pointer)?;
            let (ty, values) = (ident(of), named(of)?);
            Ok(quote!(matches!(#place, #(#ty::#values)|*)))
        }
    }
}

/// Returns the field of the facts that a pointer leads to, and its enum.
fn place<'m>(model: &'m Model, packet: &'m str, pointer: &str) -> Result<(TokenStream, &'m str), Mistakes> {
    let lost = || bug(format!("the guard on `{pointer}` of `{packet}` does not lead to an enum"));
    let mut def = packet;
    let mut place = TokenStream::new();
    for (i, step) in pointer.split('/').skip(1).enumerate() {
        let field = model.object(def).and_then(|object| object.field(step)).ok_or_else(lost)?;
        let Ty::Ref(inner) = &field.ty else { return Err(lost()) };
        let member = ident(step);
        place = match (i, step) {
            (0, "payload") => quote!(payload),
            (0, _) => quote!(facts.#member),
            _ => quote!(#place.#member),
        };
        def = inner;
    }
    match model.defs.get(def).map(|def| &def.kind) {
        Some(Kind::Enum(_)) => Ok((place, def)),
        _ => Err(lost()),
    }
}

fn table(model: &Model, nodes: &[NodeNames<'_>]) -> Result<TokenStream, Mistakes> {
    let fsm = &model.fsm;
    let mut cells = vec![vec![0_u16; fsm.events.len()]; nodes.len()];
    for row in &fsm.rows {
        for from in matching(nodes, &row.from) {
            for event in &row.events {
                let at = fsm
                    .events
                    .iter()
                    .position(|e| e.id == *event)
                    .ok_or_else(|| bug(format!("a row names the event `{event}`, which does not exist")))?;
                if let Some(cell) = cells.get_mut(from).and_then(|row| row.get_mut(at)) {
                    *cell |= targets(nodes, row, from);
                }
            }
        }
    }
    let rows = cells.iter().map(|row| {
        let row = row.iter().map(|cell| Literal::u16_unsuffixed(*cell));
        quote!([#(#row),*])
    });
    let infos = fsm.rows.iter().map(|row| {
        let (from, description, source) = (list(&row.from), &row.description, &row.source);
        let events = list(row.events.iter().map(|event| {
            let event = ident(&pascal(event));
            quote!(Event::#event)
        }));
        let to = list(row.to.iter().filter_map(|to| match to {
            Target::Same => None,
            Target::State(to) => Some(to),
        }));
        quote!(RowInfo { from: #from, events: #events, to: #to, description: #description, source: #source })
    });
    let [node_count, event_count] = [nodes.len(), fsm.events.len()].map(Literal::usize_unsuffixed);
    Ok(quote! {
        /// Target nodes as bits, by node and event; 0 without a row.
        pub(crate) static NEXT: [[u16; #event_count]; #node_count] = [#(#rows),*];

        /// Rows of the table, for documentation.
        pub static ROWS: &[RowInfo] = &[#(#infos),*];
    })
}

/// Returns the nodes that the ids denote: `ANY`, the id of a node, or the id of a state with sub-states.
fn matching(nodes: &[NodeNames<'_>], ids: &[String]) -> Vec<usize> {
    nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| ids.iter().any(|id| id == "ANY" || *id == node.id || id == node.state))
        .map(|(at, _)| at)
        .collect()
}

fn targets(nodes: &[NodeNames<'_>], row: &Row, from: usize) -> u16 {
    row.to.iter().fold(0, |bits, to| match to {
        Target::Same => bits | 1 << from,
        Target::State(id) => {
            matching(nodes, std::slice::from_ref(id)).into_iter().fold(bits, |bits, at| bits | 1 << at)
        }
    })
}

/// Emits the refusals that give each cell its code, as a list that the machine searches.
pub(super) fn refusals(model: &Model) -> TokenStream {
    let (fsm, cells) = (&model.fsm, &model.fsm.cells);
    // The remaining facts only restrict when these can hold, which matters only for the build.
    let is_used = |id: &str| cells.refusals.iter().any(|of| of.fact().is_some_and(|(fact, _)| fact == id));
    let facts: Vec<_> = cells.facts.iter().filter(|fact| is_used(&fact.id)).collect();
    let names: Vec<_> = facts.iter().map(|fact| ident(&pascal(&fact.id))).collect();
    let ids: Vec<_> = facts.iter().map(|fact| &fact.id).collect();
    let docs = facts.iter().map(|fact| doc(&format!("`{}`: {}.", fact.id, fact.description)));
    let nodes = nodes(fsm);
    let refusals = cells.refusals.iter().map(|refusal| {
        let code = ident(&pascal(&refusal.code));
        let within =
            (0..).zip(&nodes).filter(|(_, node)| refusal.is_in(&node.id)).fold(0_u16, |bits, (at, _)| bits | 1 << at);
        let within = Literal::u16_unsuffixed(within);
        let events =
            fsm.events.iter().filter(|event| refusal.is_about(&event.id, event.packet.is_some())).map(event_name);
        let events = list(events.map(|event| quote!(Event::#event)));
        let (without_row, typed) = (refusal.without_row, refusal.typed);
        let fact = match refusal.fact() {
            Some((fact, value)) => {
                let fact = ident(&pascal(fact));
                quote!(Some((Fact::#fact, #value)))
            }
            None => quote!(None),
        };
        let (description, source) = (&refusal.description, &refusal.source);
        quote! {
            RefusalInfo {
                code: Code::#code,
                within: NodeSet(#within),
                events: #events,
                without_row: #without_row,
                fact: #fact,
                typed: #typed,
                description: #description,
                source: #source,
            }
        }
    });
    quote! {
        /// Condition other than state and event on which a refusal can depend.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fact { #(#docs #names),* }

        impl Fact {
            /// Returns the id of the fact, such as `believed`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(Fact::#names => #ids),* }
            }
        }

        /// Refusals that give each cell its code, the most specific first.
        pub static REFUSALS: &[RefusalInfo] = &[#(#refusals),*];
    }
}

pub(super) fn verification_loop(model: &Model) -> Result<TokenStream, Mistakes> {
    let (fsm, looped) = (&model.fsm, &model.fsm.verification_loop);
    let named = |id: &str| {
        fsm.events
            .iter()
            .find(|event| event.id == id)
            .ok_or_else(|| bug(format!("the verification loop names the event `{id}`, which does not exist")))
    };
    let node = nodes(fsm)
        .iter()
        .find(|node| node.id == looped.state)
        .map(|node| ident(&node.name))
        .ok_or_else(|| bug(format!("the verification loop names the state `{}`", looped.state)))?;
    let (opened_by, closed_by) = (event_name(named(&looped.opened_by)?), event_name(named(&looped.closed_by)?));
    let evidence = looped.evidence.events.iter().map(|id| named(id).map(event_name)).collect::<Result<Vec<_>, _>>()?;
    let mut meets = Vec::new();
    let mut steps = Vec::new();
    let mut waives = Vec::new();
    for obligation in &looped.obligations {
        let name = ident(&obligation.name);
        let events = obligation.events.iter().map(|id| named(id)).collect::<Result<Vec<_>, _>>()?;
        let first = events.first().map(|event| event_name(event));
        steps.extend(first.map(|event| quote!(Obligation::#name => Event::#event)));
        for event in events {
            let event_ident = event_name(event);
            let packet = event.packet.as_deref().unwrap_or_default();
            let test = guards(model, packet, &obligation.when)?;
            let needs_payload =
                obligation.when.iter().any(|g| !matches!(&g.on, GuardOn::Pointer(p) if !p.starts_with("/payload/")));
            let test = if needs_payload {
                let variant = packet_variant(model, packet)?;
                quote!(matches!(&facts.payload, PayloadFacts::#variant(payload) if #test))
            } else {
                test
            };
            let test = (!obligation.when.is_empty()).then(|| quote!(&& #test));
            meets.push(quote!(if self == Event::#event_ident #test { met.insert(Obligation::#name); }));
        }
        if let Some(guard) = &obligation.waived_unless {
            let packet = model.packets.first().map_or("", String::as_str);
            let test = test(model, packet, guard)?;
            waives.push(quote!(if !(#test) { waived.insert(Obligation::#name); }));
        }
    }
    let evidence_missing = &looped.evidence.missing;
    Ok(quote! {
        /// Node of the verification loop.
        pub const LOOP_NODE: Node = Node::#node;
        /// Event that opens the loop.
        pub const LOOP_OPENED_BY: Event = Event::#opened_by;
        /// Event that closes the loop.
        pub const LOOP_CLOSED_BY: Event = Event::#closed_by;
        /// Message for a closing packet that names no evidence of the loop.
        pub const EVIDENCE_MISSING: &str = #evidence_missing;

        impl Event {
            /// Returns whether packets of this kind count as the loop's evidence.
            #[must_use]
            pub fn is_evidence(self) -> bool {
                matches!(self, #(Event::#evidence)|*)
            }

            /// Returns the obligations of the loop that a packet of this kind meets.
            pub(crate) fn meets(self, facts: &PacketFacts<'_>) -> Obligations {
                let mut met = Obligations::default();
                #(#meets)*
                met
            }
        }

        /// Returns an event whose packet meets an obligation of the loop.
        pub(crate) fn step(obligation: Obligation) -> Event {
            match obligation { #(#steps),* }
        }

        /// Returns the obligations that are waived while this is the latest packet.
        pub(crate) fn waived_by(facts: &PacketFacts<'_>) -> Obligations {
            let mut waived = Obligations::default();
            #(#waives)*
            waived
        }
    })
}

pub(super) fn obligations(model: &Model) -> TokenStream {
    let obligations = &model.fsm.verification_loop.obligations;
    let names: Vec<_> = obligations.iter().map(|o| ident(&o.name)).collect();
    let docs = obligations.iter().map(|o| doc(&o.description));
    let missing = obligations.iter().map(|o| &o.missing);
    quote! {
        /// Requirement for closing the verification loop (E3, INV-008).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Obligation { #(#docs #names),* }

        impl Obligation {
            /// All obligations, in order.
            pub const ALL: &'static [Obligation] = &[#(Obligation::#names),*];

            /// Returns the message for an unmet obligation.
            #[must_use]
            pub fn missing(self) -> &'static str {
                match self { #(Obligation::#names => #missing),* }
            }
        }
    }
}
