// FSM: attach a permit to the payload
use omen::episode::Sorted;
use omen::packet::TaskDirectivePayload;
use omen::prelude::*;

fn agent<S>(
    episode: Episode<Authorize>,
    write: TaskDirectivePayload,
    permit: Permit<S>,
) -> Result<Option<Pending>, Halt> {
    let Sorted::Writes(write) = Directive::stating(write).sort() else { return Ok(None) };
    let (_episode, [task]) = episode.execute([write.with(permit)])?;
    Ok(Some(task))
}

fn main() {}
