//! Policies of Dogwood, and the members that its event schemas pin.

use std::collections::HashMap;

use super::language::{Formula, Op, Outside, Pattern, Term, Token, Tokens, entity, number};

/// A policy: `permit` or `forbid`.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) permits: bool,
    /// Actions that it is about; nothing for all.
    pub(super) action: Option<String>,
    /// All have to hold.
    pub(super) conditions: Vec<Formula>,
}

/// Reads all policies of a case.
pub(super) fn policies(text: &str) -> Result<Vec<Policy>, Outside> {
    let (mut input, mut macros, mut policies) = (Tokens::new(text), HashMap::new(), Vec::new());
    while input.peek().is_some() {
        if input.take("def") {
            definition(&mut input, &mut macros);
        } else {
            policies.push(policy(&mut input, &macros)?);
        }
    }
    Ok(policies)
}

/// Parameters and body of each macro.
type Macros = HashMap<String, (Vec<String>, Vec<Token>)>;

fn definition(input: &mut Tokens, macros: &mut Macros) {
    input.expect("temporal");
    let (name, mut parameters) = (input.word(), Vec::new());
    input.expect("(");
    while !input.take(")") {
        parameters.push(input.word());
        input.take(",");
    }
    let body = block(input);
    input.expect(";");
    macros.insert(name, (parameters, body));
}

/// Tokens between braces.
fn block(input: &mut Tokens) -> Vec<Token> {
    input.expect("{");
    let (start, mut depth) = (input.at, 1);
    while depth > 0 {
        match input.next() {
            Token::Sign(sign) if sign == "{" => depth += 1,
            Token::Sign(sign) if sign == "}" => depth -= 1,
            _ => {}
        }
    }
    input.tokens[start..input.at - 1].to_vec()
}

/// Replaces calls of macros by their bodies.
fn expanded(tokens: &[Token], macros: &Macros) -> Vec<Token> {
    let (mut out, mut input) = (Vec::new(), Tokens { tokens: tokens.to_vec(), at: 0 });
    while let Some(token) = input.peek().cloned() {
        input.at += 1;
        let Token::Word(name) = &token else {
            out.push(token);
            continue;
        };
        let Some((parameters, body)) = macros.get(name).filter(|_| input.is("(")) else {
            out.push(token);
            continue;
        };
        input.expect("(");
        let mut arguments = vec![Vec::new()];
        let mut depth = 1;
        while depth > 0 {
            let token = input.next();
            depth += i32::from(token == Token::Sign("(".into())) - i32::from(token == Token::Sign(")".into()));
            match token {
                Token::Sign(sign) if sign == "," && depth == 1 => arguments.push(Vec::new()),
                token if depth > 0 => arguments.last_mut().unwrap().push(token),
                _ => {}
            }
        }
        out.push(Token::Sign("(".into()));
        for token in body {
            let place = parameters.iter().position(|name| *token == Token::Word(name.clone()));
            match place {
                Some(place) => out.extend(arguments[place].iter().cloned()),
                None => out.push(token.clone()),
            }
        }
        out.push(Token::Sign(")".into()));
    }
    out
}

fn policy(input: &mut Tokens, macros: &Macros) -> Result<Policy, Outside> {
    while input.take("@") {
        input.word();
        if input.take("(") {
            input.next();
            input.expect(")");
        }
    }
    let permits = input.word() == "permit";
    for sign in ["(", "principal", ",", "action"] {
        input.expect(sign);
    }
    let mut conditions = Vec::new();
    let action = if input.take("==") { input.entity() } else { None };
    if input.is("in") {
        return Err("groups of actions");
    }
    input.expect(",");
    input.expect("resource");
    if input.take("==") {
        let resource = Term::Literal(input.value());
        conditions.push(Formula::Compare(Term::Own("/resource".into()), Op::Equal, resource));
    }
    if input.is("is") || input.is("in") {
        return Err("types and groups of resources");
    }
    input.take(",");
    input.expect(")");
    while !input.take(";") {
        let is_unless = input.word() == "unless";
        input.take("temporal");
        let tokens = expanded(&block(input), macros);
        let mut reader = Reader { input: Tokens { tokens, at: 0 } };
        let condition = reader.condition()?;
        if reader.input.peek().is_some() {
            return Err("an operator of Cedar");
        }
        conditions.push(if is_unless { Formula::Not(Box::new(condition)) } else { condition });
    }
    Ok(Policy { permits, action: action.map(|(kind, id)| format!("{kind}::{id}")), conditions })
}

/// Reader of conditions.
struct Reader {
    input: Tokens,
}

impl Reader {
    fn condition(&mut self) -> Result<Formula, Outside> {
        let mut all = vec![self.since()?];
        while self.input.take("&&") {
            all.push(self.since()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Formula::And(all) })
    }

    fn since(&mut self) -> Result<Formula, Outside> {
        let left = self.negated()?;
        if self.input.take("since") {
            let within = self.within();
            let right = self.primary()?;
            return Ok(Formula::Since(Box::new(left), within, Box::new(right)));
        }
        Ok(left)
    }

    fn negated(&mut self) -> Result<Formula, Outside> {
        if self.input.take("!") {
            return Ok(Formula::Not(Box::new(self.negated()?)));
        }
        self.primary()
    }

    fn within(&mut self) -> i64 {
        self.input.expect("within");
        let Token::Number(number) = self.input.next() else { panic!("expected a number") };
        let unit = match &*self.input.word() {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            unit => panic!("unknown unit {unit}"),
        };
        number.as_i64().unwrap() * unit * 1000
    }

    fn primary(&mut self) -> Result<Formula, Outside> {
        let input = &mut self.input;
        if input.take("formerly") {
            let within = self.within();
            return Ok(Formula::Formerly(within, Box::new(self.primary()?)));
        }
        if input.take("previous") {
            let within = self.within();
            return Ok(Formula::Previous(within, Box::new(self.primary()?)));
        }
        if input.take("exists") {
            input.expect("(");
            let name = self.binder();
            self.input.expect(")");
            self.input.expect(".");
            return Ok(Formula::Exists(name.0, Box::new(self.condition()?)));
        }
        if input.is("tp") && input.is_at(1, "(") {
            input.at += 2;
            let name = input.word();
            input.expect(")");
            return Ok(Formula::Moment(name));
        }
        let start = input.at;
        if let Some((kind, id)) = input.entity()
            && input.take("::")
        {
            let event = input.word();
            let (action, mut fields) = (format!("{kind}::{id}"), Vec::new());
            while self.input.take("{") {
                while !self.input.take("}") {
                    let path = format!("/{}", self.input.path().join("/"));
                    self.input.expect(":");
                    fields.push((path, self.term()?));
                    self.input.take(",");
                }
            }
            return Ok(Formula::Event(Pattern { kind: event, action, fields }));
        }
        self.input.at = start;
        if self.input.is("(") && !self.is_compared() {
            self.input.expect("(");
            let formula = self.condition()?;
            self.input.expect(")");
            return Ok(formula);
        }
        let left = self.term()?;
        let Some(op) = self.op() else { return Err("an operator of Cedar") };
        self.input.at += 1;
        let right = self.term()?;
        Ok(Formula::Compare(left, op, right))
    }

    /// Whether what stands in the parenthesis that comes next is compared, so that it is a term.
    fn is_compared(&self) -> bool {
        let (mut ahead, mut depth) = (0, 0);
        loop {
            depth += i32::from(self.input.is_at(ahead, "(")) - i32::from(self.input.is_at(ahead, ")"));
            ahead += 1;
            if depth == 0 {
                return ["<", "<=", "==", "!=", ">", ">="].iter().any(|sign| self.input.is_at(ahead, sign));
            }
        }
    }

    fn op(&self) -> Option<Op> {
        let Some(Token::Sign(sign)) = self.input.peek() else { return None };
        Some(match sign.as_str() {
            "<" => Op::Less,
            "<=" => Op::LessOrEqual,
            "==" => Op::Equal,
            "!=" => Op::NotEqual,
            ">" => Op::Greater,
            ">=" => Op::GreaterOrEqual,
            _ => return None,
        })
    }

    fn binder(&mut self) -> (String, String) {
        let name = self.input.word();
        self.input.expect(":");
        let mut kind = self.input.word();
        while self.input.take("::") {
            kind = self.input.word();
        }
        (name, kind)
    }

    fn binders(&mut self) -> Vec<(String, String)> {
        let mut binders = Vec::new();
        self.input.expect("for");
        while self.input.take("(") {
            binders.push(self.binder());
            self.input.expect(")");
            self.input.take(",");
        }
        self.input.expect(".");
        self.input.expect("where");
        binders
    }

    fn term(&mut self) -> Result<Term, Outside> {
        let term = self.summand()?;
        match self.input.peek() {
            Some(Token::Sign(sign)) if matches!(sign.as_str(), "+" | "-" | "*") => Err("arithmetic"),
            _ => Ok(term),
        }
    }

    fn summand(&mut self) -> Result<Term, Outside> {
        let input = &mut self.input;
        if input.take("(") {
            let term = self.term()?;
            self.input.expect(")");
            return Ok(term);
        }
        if input.is("count") && input.is_at(1, "for") {
            input.at += 1;
            let binders = self.binders();
            return Ok(Term::Count(binders, Box::new(self.condition()?)));
        }
        if input.take("sum") {
            let name = input.word();
            let binders = self.binders();
            return Ok(Term::Sum(name, binders, Box::new(self.condition()?)));
        }
        if input.take("decimal") {
            input.expect("(");
            let Token::Text(text) = input.next() else { panic!("expected a text") };
            input.expect(")");
            return Ok(Term::Literal(number(&text)));
        }
        if let Some((kind, id)) = input.entity() {
            return Ok(Term::Literal(entity(&kind, &id)));
        }
        Ok(match input.peek().cloned() {
            Some(Token::Word(word)) if word == "true" || word == "false" => Term::Literal(input.value()),
            Some(Token::Word(word)) if word == "context" => Term::Own(format!("/{}", input.path()[1..].join("/"))),
            Some(Token::Word(word)) if word == "principal" || word == "resource" => match &input.path()[..] {
                [entity] => Term::Own(format!("/{entity}")),
                _ => return Err("attributes of an entity"),
            },
            Some(Token::Word(word)) => {
                input.at += 1;
                if word == "_" { Term::Any } else { Term::Variable(word) }
            }
            Some(Token::Sign(sign)) if sign == "*" => {
                input.at += 1;
                Term::Any
            }
            Some(Token::Text(_) | Token::Number(_)) => Term::Literal(input.value()),
            Some(Token::Sign(sign)) if sign == "[" => Term::Literal(input.value()),
            other => panic!("expected a term, found {other:?}"),
        })
    }
}

/// What an event schema says of kinds of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    /// Kind of the events that are decided.
    pub(super) decides: String,
    /// Pinned members of each kind: the member of the event, and that of the present request.
    pub(super) pins: Vec<(String, Vec<(String, String)>)>,
    /// Members of events that are the principal or the resource of the request.
    pub(super) aliases: Vec<(String, &'static str)>,
}

impl Schema {
    /// Reads a schema: only what decides, is pinned, or has another name.
    pub(super) fn new(text: &str) -> Self {
        let (mut input, mut schema) = (Tokens::new(text), Self::default());
        while input.peek().is_some() {
            let decides = input.take("decision");
            for sign in ["event", "<"] {
                input.expect(sign);
            }
            let variable = input.word();
            for sign in [">", "::"] {
                input.expect(sign);
            }
            let kind = input.word();
            if decides {
                schema.decides.clone_from(&kind);
            }
            let mut body = Tokens { tokens: block(&mut input), at: 0 };
            let mut pins = Vec::new();
            schema.members(&mut body, &variable, "", &mut pins);
            schema.pins.push((kind, pins));
        }
        schema
    }

    fn members(&mut self, body: &mut Tokens, variable: &str, place: &str, pins: &mut Vec<(String, String)>) {
        while body.peek().is_some() && !body.is("}") {
            if body.take(".") {
                body.at += 2;
                body.at += 4;
                body.take(",");
                continue;
            }
            let pinned = body.take("pin");
            let name = format!("{place}/{}", body.word());
            body.take("?");
            body.expect(":");
            if body.take("{") {
                self.members(body, variable, &name, pins);
                body.expect("}");
            } else {
                let kind = body.word();
                while body.take("::") {
                    body.word();
                }
                if body.take("(") {
                    body.expect(variable);
                    body.expect(")");
                }
                match kind.as_str() {
                    "principalType" => self.aliases.push((name.clone(), "/principal")),
                    "resourceType" => self.aliases.push((name.clone(), "/resource")),
                    _ => {}
                }
                if pinned {
                    body.expect("=");
                    let path = body.path();
                    let own = if path[0] == "context" { &path[1..] } else { &path[..] };
                    pins.push((name, format!("/{}", own.join("/"))));
                }
            }
            body.take(",");
        }
    }

    /// Members by which all events are kept apart, if all kinds have the same.
    pub(super) fn sessions(&self) -> &[(String, String)] {
        let first = self.pins.first().map_or(&[][..], |(_, pins)| pins);
        if self.pins.iter().all(|(_, pins)| pins == first) { first } else { &[] }
    }

    /// A member under the name that it has in requests.
    pub(super) fn canonical(&self, member: &str) -> String {
        let alias = self.aliases.iter().find(|(name, _)| name == member);
        alias.map_or(member, |(_, own)| own).to_owned()
    }
}
