//! Tokens.

use std::marker::PhantomData;
use std::sync::Arc;

use omen_invariants::facts::Scope;

use crate::episode::{Authorize, Episode, Permit, Refused, SomeUses, TokenSpec};

/// Issues a token of the scope `Sc` for `N` directives: `ep.authorize::<Deploy, 2>(spec)`. Each permit
/// is one use of it.
///
/// # Errors
/// If the episode is over its budgets and layer 1 has not approved that (INV-005).
pub(crate) fn authorize<S, Sc: Scope, const N: usize>(
    mut episode: Episode<S>,
    spec: TokenSpec,
) -> Result<(Episode<Authorize>, [Permit<Sc>; N]), Refused<S, TokenSpec>>
where
    [(); N]: SomeUses,
{
    let core = &mut episode.core;
    let token_id = match core.fresh_token_id() {
        Ok(token_id) => token_id,
        Err(why) => return Err(episode.refuse(Arc::new(why)).giving_back(spec)),
    };
    let draft = spec.draft::<Sc>(token_id.clone(), N, core.issues_at());
    match core.try_send(draft) {
        Ok(()) => {
            let mark = core.mark.clone();
            let permits = std::array::from_fn(|_| Permit {
                token_id: token_id.clone(),
                episode: mark.clone(),
                scope: PhantomData,
            });
            Ok((episode.at(), permits))
        }
        Err(why) => Err(episode.refuse(why).giving_back(spec)),
    }
}
