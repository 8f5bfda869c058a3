//! Bottom-up evaluation of a schema graph.

use super::node::Id;

/// Evaluates every schema after those that it leads to. Uses an explicit stack, so it cannot overflow the thread's stack.
///
/// # Errors
/// The error from `judge`, or `looped` if a schema leads back to itself.
pub(super) fn bottom_up<T: Clone>(
    count: usize,
    next: impl Fn(Id) -> Vec<Id>,
    looped: &str,
    judge: impl Fn(Id, &[T]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut states: Vec<VisitState<T>> = vec![VisitState::New; count];
    for root in 0..count {
        let mut path = vec![(root, false)];
        while let Some((id, ready)) = path.pop() {
            let Some(state) = states.get(id) else { continue };
            if ready {
                let of = |id: Id| match states.get(id) {
                    Some(VisitState::Done(found)) => Some(found.clone()),
                    _ => None,
                };
                let found = judge(id, &next(id).into_iter().filter_map(of).collect::<Vec<_>>())?;
                set(&mut states, id, VisitState::Done(found));
                continue;
            }
            match state {
                VisitState::Done(_) => continue,
                VisitState::Open => return Err(looped.to_owned()),
                VisitState::New => {}
            }
            set(&mut states, id, VisitState::Open);
            path.push((id, true));
            path.extend(next(id).into_iter().map(|id| (id, false)));
        }
    }
    let done = |state| match state {
        VisitState::Done(found) => Some(found),
        VisitState::New | VisitState::Open => None,
    };
    Ok(states.into_iter().filter_map(done).collect())
}

#[derive(Clone)]
enum VisitState<T> {
    New,
    Open,
    Done(T),
}

fn set<T>(states: &mut [VisitState<T>], id: Id, state: VisitState<T>) {
    if let Some(place) = states.get_mut(id) {
        *place = state;
    }
}
