//! Issuing tokens.

use omen_invariants::facts::Scope;

use crate::episode::{Authorize, Episode, NamedScope, Permit, Refused, Says, SomeUses, TokenSpec};

/// Issues a token with the scope `Sc` for `N` directives: `ep.authorize::<Deploy, 2>(spec)`. Each permit is one use of
/// the token.
///
/// An episode that is over budget without approval of layer 1 (INV-005), or a payload whose tools, operations or
/// number of uses differ from those of the permits (INV-007).
pub(crate) fn authorize<S, Sc: Scope, const N: usize>(
    mut episode: Episode<S>,
    spec: impl Says<TokenSpec>,
) -> Result<(Episode<Authorize>, [Permit<Sc>; N]), Refused<S, TokenSpec>>
where
    [(); N]: SomeUses,
{
    let (core, spec) = (&mut episode.core, spec.said());
    match core.issue_token(&spec, &NamedScope::from_scope::<Sc>(N)) {
        Ok(token_id) => {
            let permits = std::array::from_fn(|_| core.permit(&token_id));
            Ok((episode.at(), permits))
        }
        Err(why) => Err(episode.refuse(why).giving_back(spec)),
    }
}
