//! Changes of leases by the moves of an episode (D52).

use std::sync::Arc;

use omen_types::{AlertSeverity, Code, Diagnostic, Packet, PacketId, ResultStatus};

use super::core::Core;
use super::errors::Refusal;
use super::lease::{EndReason, Lapsed, Leases};
use super::values::Settled;

impl Core {
    /// Withdraws the tasks that a packet ends, before the packet is written: no tool may be called after the log
    /// reports its task as cancelled or its token as revoked (D52).
    pub(super) fn withdraw(leases: &Leases, packet: &Packet) {
        match packet {
            Packet::IntegrityAlert(alert) => {
                let payload = &alert.payload;
                payload.revoked_token_ids.iter().flatten().for_each(|token| leases.revoke(token.as_str()));
                if payload.severity == AlertSeverity::Critical {
                    leases.end(EndReason::SafeMode);
                }
            }
            Packet::ToolAuthorizationToken(token) if token.payload.revoked == Some(true) => {
                leases.revoke(token.payload.token_id.as_str());
            }
            _ => {}
        }
    }

    /// Prevents tasks from starting until their results are in the log or refused.
    pub(crate) fn settle(&mut self, results: &[Settled]) -> Result<(), Arc<Refusal>> {
        let now = self.now();
        let successes = results.iter().filter(|result| result.status() == ResultStatus::Success);
        for directive in successes.map(Settled::directive) {
            // Checked only here: a validator sees when a result was recorded, not when the tool took effect.
            if let Err(why @ (Lapsed::Revoked | Lapsed::Expired { .. })) = self.leases.stands(directive.as_str(), now) {
                let problem = format!("cannot record SUCCESS for `{directive}`: {why}");
                let finding = Diagnostic::error(Code::E4, problem)
                    .at("/payload/result_status")
                    .help("settle the task with `.failure(..)`, and say in the message how far the tool came");
                return Err(Arc::new(Refusal::rule(finding)));
            }
        }
        let tasks = results.iter().map(|result| (result.directive().clone(), result.status())).collect();
        self.settling(tasks, |core| core.send(results.iter().map(Settled::draft).collect()).map(drop))
    }

    /// Sends the results of tasks. A task that is running in another handle can only be cancelled.
    pub(crate) fn settling<T, E: From<Refusal>>(
        &mut self,
        tasks: Vec<(PacketId, ResultStatus)>,
        send: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let leases = Arc::clone(&self.leases);
        let directives = || tasks.iter().map(|(directive, _)| directive.as_str());
        let cancels = tasks.iter().map(|(_, status)| *status == ResultStatus::Cancelled);
        leases.settling(directives().zip(cancels)).map_err(|at| {
            let running = directives().nth(at).unwrap_or_default();
            let problem = format!("`{running}` is running; only the handle that runs it can report its result");
            let finding = Diagnostic::error(Code::E6, problem)
                .at("/payload/directive_packet_id")
                .help("wait for the result, or settle the task as cancelled, which stops the call");
            Refusal::rule(finding)
        })?;
        let sent = send(self);
        if sent.is_err() {
            leases.unsettled(directives());
        }
        sent
    }
}
