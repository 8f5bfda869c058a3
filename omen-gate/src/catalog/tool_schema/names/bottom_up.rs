//! Something of each schema that follows from the same of those that it leads to.

use super::node::Id;

/// Judges all, those first that others lead to. It goes as deep as they do without a stack that could overflow.
///
/// # Errors
/// What `judge` says, or `looped` if one leads back to itself.
pub(super) fn bottom_up<T: Clone>(
    count: usize,
    next: impl Fn(Id) -> Vec<Id>,
    looped: &str,
    judge: impl Fn(Id, &[T]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut states: Vec<State<T>> = vec![State::New; count];
    for root in 0..count {
        let mut path = vec![(root, false)];
        while let Some((id, ready)) = path.pop() {
            let Some(state) = states.get(id) else { continue };
            if ready {
                let of = |id: Id| match states.get(id) {
                    Some(State::Done(found)) => Some(found.clone()),
                    _ => None,
                };
                let found = judge(id, &next(id).into_iter().filter_map(of).collect::<Vec<_>>())?;
                set(&mut states, id, State::Done(found));
                continue;
            }
            match state {
                State::Done(_) => continue,
                State::Open => return Err(looped.to_owned()),
                State::New => {}
            }
            set(&mut states, id, State::Open);
            path.push((id, true));
            path.extend(next(id).into_iter().map(|id| (id, false)));
        }
    }
    let done = |state| match state {
        State::Done(found) => Some(found),
        State::New | State::Open => None,
    };
    Ok(states.into_iter().filter_map(done).collect())
}

#[derive(Clone)]
enum State<T> {
    New,
    Open,
    Done(T),
}

fn set<T>(states: &mut [State<T>], id: Id, state: State<T>) {
    if let Some(place) = states.get_mut(id) {
        *place = state;
    }
}
