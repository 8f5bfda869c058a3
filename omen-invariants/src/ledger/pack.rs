//! Compact encoding of a ledger, for an episode that waits for its next packet while many others are active.

use omen_types::DecisionOutcome;

use super::budget::{Budget, ReportedOverruns};
use super::bytes::{Reader, Size, Writer};
use super::ids::Ids;
use super::leap::Leap;
use super::obligations::Obligations;
use super::open_directives::OpenDirectives;
use super::plan::Plan;
use super::references::References;
use super::tokens::Tokens;
use super::{Ledger, Loop};

impl Ledger {
    /// Appends the ledger to a buffer, for [`unpack`](Self::unpack). Returns false if the ledger does not match
    /// `size`; the buffer then holds a part of it.
    ///
    /// Without `in_loop`, the evidence of a verification loop is omitted: the next loop starts without evidence (D22).
    #[must_use]
    pub fn pack(&self, in_loop: bool, size: Size, buffer: &mut Vec<u8>) -> bool {
        let Self { clock, seen, evidence, tokens, open, budget, approved, reported, believes, .. } = self;
        let Self { decision, owes_decision, has_campaign, owes_escalation, looped, leap, plan, references, .. } = self;
        // The plan limits only the running loop.
        let plan = plan.as_ref().filter(|_| in_loop);
        let mut writer = Writer(buffer);
        writer.flags([
            clock.is_some(),
            budget.is_some(),
            *approved,
            *believes,
            *owes_decision,
            *has_campaign,
            *owes_escalation,
            in_loop,
        ]);
        writer.flags([leap.is_some(), plan.is_some(), false, false, false, false, false, false]);
        writer.byte(reported.bits());
        writer.byte(decision.map_or(0, |outcome| outcome as u8 + 1));
        if let Some(clock) = clock {
            writer.time(*clock);
        }
        if let Some(budget) = budget {
            budget.pack(&mut writer);
        }
        if let Some(leap) = leap {
            leap.pack(&mut writer);
        }
        if let Some(plan) = plan {
            plan.pack(&mut writer);
        }
        let Loop { number, met, waived } = looped;
        writer.number(u64::from(*number));
        writer.byte(met.bits());
        writer.byte(waived.bits());
        // The ids of open directives are stored as text.
        let mut known = open.fingerprints();
        if size == Size::Any {
            known.sort_unstable();
        }
        open.pack(size, &mut writer)
            && seen.pack(&known, size, &mut writer)
            && (!in_loop || evidence.pack(&[], size, &mut writer))
            && tokens.pack(size, &mut writer)
            && references.pack(size, &mut writer)
    }

    /// Reads a ledger that [`pack`](Self::pack) wrote. Other bytes yield an arbitrary ledger.
    #[must_use]
    pub fn unpack(bytes: &[u8]) -> Self {
        let mut reader = Reader(bytes);
        let [has_clock, has_budget, approved, believes, owes_decision, has_campaign, owes_escalation, in_loop] =
            reader.flags();
        let [has_leap, has_plan, ..] = reader.flags();
        let reported = ReportedOverruns::of_bits(reader.byte());
        let decision = usize::from(reader.byte()).checked_sub(1).and_then(|at| DecisionOutcome::ALL.get(at).copied());
        let clock = has_clock.then(|| reader.time());
        let budget = has_budget.then(|| Budget::unpack(&mut reader));
        let leap = has_leap.then(|| Box::new(Leap::unpack(&mut reader)));
        let plan = has_plan.then(|| Box::new(Plan::unpack(&mut reader)));
        let looped = Loop {
            number: u32::try_from(reader.number()).unwrap_or_default(),
            met: Obligations::of_bits(reader.byte()),
            waived: Obligations::of_bits(reader.byte()),
        };
        let open = OpenDirectives::unpack(&mut reader);
        let seen = Ids::unpack(&open.fingerprints(), &mut reader);
        let evidence = if in_loop { Ids::unpack(&[], &mut reader) } else { Ids::default() };
        let tokens = Tokens::unpack(&mut reader);
        let references = References::unpack(&mut reader);
        Self {
            clock,
            leap,
            seen,
            evidence,
            tokens,
            open,
            budget,
            approved,
            reported,
            believes,
            decision,
            owes_decision,
            has_campaign,
            owes_escalation,
            looped,
            plan,
            references,
        }
    }
}
