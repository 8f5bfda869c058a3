//! Each case of `tests/ui`, mended: these compile.

#![allow(dead_code, reason = "they are only to compile")]

mod a1_forged_seal;
mod a2_forged_request;
mod a2_request_without_turn;
mod a2_text_for_a_turn;
mod a3_forged_anchor;
mod a3_key_copied;
mod a3_key_taken_out;
mod c1_gate_without_configuration;
mod g1_forged_lease;
mod g2_forged_redeemed;
mod g2_lease_redeemed_twice;
mod g2_lease_taken_for_leave;
mod g3_confirmation_used_twice;
mod g3_forged_confirmation;
mod g3_reply_taken_for_confirmation;
mod g4_decision_dropped;
mod g4_decision_taken_for_its_outcome;
mod g4_outcome_without_record;
mod pg0_dispatch_at_once;
mod pg0_plan_before_screen;
mod pg1_dispatch_without_plan;
mod pg1_forged_plan;
mod pg2_authorize_before_conform;
mod pg3_dispatch_without_authorize;
mod pg3_forged_authorized;
mod pg4_forged_typed_answer;
mod pg4_ground_an_untyped_answer;
mod pg4_ground_before_typing;
mod pg4_raw_answer_as_evidence;
mod pg5_forged_grounded;
mod pg5_summary_not_grounded;
mod pg6_dispatched_again;
mod pg6_dispatched_twice;
mod pg6_forged_dispatch;
mod pg6_request_cloned;
mod pg6_server_called_past_the_gate;
mod pg6_server_called_twice;
mod pgt_call_after_final_answer;
mod pgt_plan_taken_for_a_call;
mod r1_call_ended_twice;
mod r2_two_calls_at_once;
mod r3_unknown_end_forgotten;
mod r4_step_after_the_end;
mod r4_turn_dropped;
