//! Authorization tokens: their permissions and their use (D24, D25).

use omen_types::{Instant, OperationType, ToolAuthorizationPayloadFacts};
use serde_json::{Map, Value};

use super::bytes::{Reader, Size, Writer};
use super::fingerprint::{Fingerprint, Kind};
use super::table::Table;

/// Record of a token id.
#[derive(Clone, Debug, Default)]
pub struct Token {
    /// Whether the token was revoked, which is final.
    pub revoked: bool,
    /// Permissions; `None` if the token was revoked before it was ever issued.
    pub allowance: Option<Allowance>,
}

/// Permissions of a token.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// Permitted tools.
    pub tools: Vec<Box<str>>,
    /// Permitted operations.
    pub operations: Vec<OperationType>,
    /// Time of expiry, exclusive.
    pub expiry: Instant,
    /// Maximum number of directives that may use the token.
    pub max_uses: u64,
    /// Number of directives that have used the token.
    pub uses: u64,
    /// Constraints of each issue, as JSON objects in text form; all of them apply.
    pub constraints: Vec<Box<str>>,
    /// Id of the packet that first issued the token.
    pub issued_by: Box<str>,
}

impl Allowance {
    /// Returns the number of directives that may still use the token.
    #[must_use]
    pub fn uses_left(&self) -> u64 {
        self.max_uses.saturating_sub(self.uses)
    }

    fn pack(&self, writer: &mut Writer<'_>) {
        let Self { tools, operations, expiry, max_uses, uses, constraints, issued_by } = self;
        writer.time(*expiry);
        writer.number(*max_uses);
        writer.number(*uses);
        writer.text(issued_by);
        writer.number(operations.len() as u64);
        operations.iter().for_each(|operation| writer.byte(*operation as u8));
        for texts in [tools, constraints] {
            writer.number(texts.len() as u64);
            texts.iter().for_each(|text| writer.text(text));
        }
    }

    fn unpack(reader: &mut Reader<'_>) -> Self {
        let (expiry, max_uses, uses, issued_by) =
            (reader.time(), reader.number(), reader.number(), reader.text().into());
        let operation = |at: u8| OperationType::ALL.get(usize::from(at)).copied();
        let operations = (0..reader.count()).filter_map(|_| operation(reader.byte())).collect();
        let [tools, constraints] = [(); 2].map(|()| (0..reader.count()).map(|_| reader.text().into()).collect());
        Self { tools, operations, expiry, max_uses, uses, constraints, issued_by }
    }
}

/// Reason why a token permits no directive.
#[derive(Clone, Copy, Debug)]
pub enum NotLive<'l> {
    /// The token was not issued in this episode.
    Unknown,
    /// The token was revoked (D25).
    Revoked,
    /// The token has expired (D3).
    Expired(&'l Allowance),
    /// The token has no uses left (D24).
    UsedUp(&'l Allowance),
}

/// Tokens of an episode, by id.
#[derive(Clone, Debug, Default)]
pub struct Tokens(Table<Token>);

impl Tokens {
    /// Returns the record of a token id.
    #[must_use]
    pub fn get(&self, token_id: &str) -> Option<&Token> {
        self.0.get(Fingerprint::new(Kind::Token, token_id))
    }

    /// Returns the permissions of a token that is live at a given time.
    ///
    /// # Errors
    /// The reason why the token is not live.
    pub fn live(&self, token_id: &str, now: Instant) -> Result<&Allowance, NotLive<'_>> {
        self.get(token_id).ok_or(NotLive::Unknown)?.live(now)
    }

    /// Returns whether any token is live at a given time.
    #[must_use]
    pub fn any_live(&self, now: Instant) -> bool {
        self.0.iter().any(|(_, token)| token.live(now).is_ok())
    }

    /// Returns the tokens that are live at a given time and cover a tool.
    pub fn live_for(&self, tool: &str, now: Instant) -> impl Iterator<Item = &Allowance> {
        let live = self.0.iter().filter_map(move |(_, token)| token.live(now).ok());
        live.filter(move |allowance| allowance.tools.iter().any(|covered| **covered == *tool))
    }

    /// Issues a token. If it was issued before, the narrower of the two bounds always applies.
    pub(super) fn add(&mut self, facts: &ToolAuthorizationPayloadFacts<'_>, packet_id: &str) {
        self.update(&facts.token_id, |token| token.send(facts, packet_id));
    }

    pub(super) fn revoke(&mut self, token_id: &str) {
        self.update(token_id, |token| token.revoked = true);
    }

    pub(super) fn spend(&mut self, token_id: &str) {
        self.update(token_id, |token| {
            if let Some(allowance) = &mut token.allowance {
                allowance.uses = allowance.uses.saturating_add(1);
            }
        });
    }

    fn update(&mut self, token_id: &str, change: impl FnOnce(&mut Token)) {
        self.0.update(Fingerprint::new(Kind::Token, token_id), change);
    }

    /// Writes the tokens if there are few of them, and returns whether they were written.
    pub(super) fn pack(&self, size: Size, writer: &mut Writer<'_>) -> bool {
        if size == Size::Small && !self.0.is_few() {
            return false;
        }
        writer.number(self.0.len() as u64);
        let mut write = |(id, token): (Fingerprint, &Token)| {
            writer.fingerprint(id);
            token.pack(writer);
        };
        match size {
            Size::Small => self.0.iter().for_each(write),
            Size::Any => {
                let mut sorted: Vec<_> = self.0.iter().collect();
                sorted.sort_unstable_by_key(|(id, _)| *id);
                sorted.into_iter().for_each(&mut write);
            }
        }
        true
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let mut tokens = Table::default();
        for _ in 0..reader.count() {
            tokens.insert(reader.fingerprint(), Token::unpack(reader));
        }
        Self(tokens)
    }
}

impl Token {
    /// Returns the permissions of the token if it is live at a given time (E4).
    ///
    /// # Errors
    /// The reason why the token is not live.
    pub fn live(&self, now: Instant) -> Result<&Allowance, NotLive<'_>> {
        if self.revoked {
            return Err(NotLive::Revoked);
        }
        let allowance = self.allowance.as_ref().ok_or(NotLive::Unknown)?;
        if allowance.expiry <= now {
            return Err(NotLive::Expired(allowance));
        }
        if allowance.uses_left() == 0 {
            return Err(NotLive::UsedUp(allowance));
        }
        Ok(allowance)
    }

    fn pack(&self, writer: &mut Writer<'_>) {
        writer.flags([self.revoked, self.allowance.is_some(), false, false, false, false, false, false]);
        if let Some(allowance) = &self.allowance {
            allowance.pack(writer);
        }
    }

    fn unpack(reader: &mut Reader<'_>) -> Self {
        let [revoked, is_issued, ..] = reader.flags();
        Self { revoked, allowance: is_issued.then(|| Allowance::unpack(reader)) }
    }

    /// Records an issue. If it is not the first, the narrower of the two bounds always applies.
    fn send(&mut self, facts: &ToolAuthorizationPayloadFacts<'_>, packet_id: &str) {
        self.revoked |= facts.revoked.unwrap_or(false);
        let scope = &facts.authorized_scope;
        let reported = facts.usage_count.map_or(0, omen_types::Count::get);
        let max_uses = facts.max_usage_count.get();
        // INVARIANT: the reader has checked that the text is a JSON object. Serialized again, it has no unnecessary
        // white space, and it is much smaller than the object in memory.
        let constraints = scope.resource_constraints.and_then(|text| {
            let object: Map<String, Value> = serde_json::from_str(text).ok()?;
            serde_json::to_string(&object).ok().map(String::into_boxed_str)
        });
        match &mut self.allowance {
            None => {
                self.allowance = Some(Allowance {
                    tools: scope.tool_ids.iter().map(|tool| tool.as_ref().into()).collect(),
                    operations: scope.operation_types.clone(),
                    expiry: facts.expiry,
                    max_uses,
                    uses: reported,
                    constraints: constraints.into_iter().collect(),
                    issued_by: packet_id.into(),
                });
            }
            Some(allowance) => {
                allowance.tools.retain(|tool| scope.tool_ids.iter().any(|other| *other == **tool));
                allowance.operations.retain(|operation| scope.operation_types.contains(operation));
                allowance.expiry = allowance.expiry.min(facts.expiry);
                allowance.max_uses = allowance.max_uses.min(max_uses);
                allowance.uses = allowance.uses.max(reported);
                // A token that is issued a thousand times with the same constraints is checked against them only once.
                if let Some(constraints) = constraints
                    && !allowance.constraints.contains(&constraints)
                {
                    allowance.constraints.push(constraints);
                }
            }
        }
    }
}
