//! What every store must do, run against each adapter.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod admitting;
mod asking;
mod catalogues;
mod deciding;
mod delivering;
mod forking;
mod golden;
mod history;
mod holding;
mod joining;
mod lacking;
mod listing;
mod messages;
mod model;
mod narrow;
mod nodes;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
mod purging;
mod putting;
mod races;
mod recovery;
mod recurring;
mod remembering;
mod resting;
mod rules;
mod running;
mod scene;
#[cfg(feature = "postgres")]
mod schema;
#[cfg(feature = "postgres")]
mod starting;
mod telling;
mod texts;
mod third;
mod tokens;
mod waiting;
#[cfg(feature = "postgres")]
mod workers;

/// A test for each adapter, of each function of a module that takes a scene.
macro_rules! conformance {
    ($($module:ident: $($claim:ident),+;)+) => {
        mod in_memory {
            $($(
                #[tokio::test]
                async fn $claim() {
                    crate::$module::$claim(crate::scene::Scene::in_memory()).await;
                }
            )+)+
        }

        mod in_sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $claim() {
                    crate::$module::$claim(crate::scene::Scene::in_sqlite().await).await;
                }
            )+)+
        }

        #[cfg(feature = "postgres")]
        mod in_postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $claim() {
                    if let Some(scene) = crate::scene::Scene::in_postgres().await {
                        crate::$module::$claim(scene).await;
                    }
                }
            )+)+
        }
    };
}

conformance! {
    admitting:
        the_same_request_gets_the_same_answer_whatever_became_of_it,
        a_key_with_other_content_is_refused,
        the_keys_of_the_runs_agents_are_theirs_alone,
        an_id_or_a_run_that_does_not_fit_is_refused,
        an_ended_run_takes_no_interrupt,
        a_stop_of_an_agent_that_has_ended_is_refused,
        an_admission_is_told_and_audited_in_one_transaction,
        a_refusal_leaves_nothing_behind,
        a_raised_question_is_acknowledged_with_three_audit_rows;
    catalogues:
        a_catalogue_that_says_the_same_is_the_same_version,
        what_a_run_raises_names_the_catalogue_that_it_went_on_under,
        a_run_goes_on_under_a_catalogue_with_more_in_it_and_the_audit_says_what,
        a_run_does_not_go_on_under_a_catalogue_that_says_something_else,
        only_the_owner_of_a_run_says_what_it_goes_on_under,
        a_fork_goes_on_under_the_catalogue_of_the_run_that_it_leaves,
        an_accepted_catalogue_asks_changed_questions_again,
        a_catalogue_without_the_asker_or_its_origin_is_not_accepted;
    delivering:
        a_delivery_fences_off_the_one_before,
        a_lease_is_judged_by_the_clock_of_the_store,
        the_last_failed_delivery_dead_letters_and_an_operator_redrives,
        a_spent_interrupt_is_dead_lettered_instead_of_delivered,
        a_raised_mode_never_falls,
        a_clock_that_jumps_changes_only_when_things_end;
    deciding:
        a_decision_consumes_the_bound_reroute_and_is_dispatched_once,
        a_decision_may_be_submitted_again_and_another_one_is_told_the_winner,
        a_person_may_choose_another_target_than_the_bound_one,
        a_policy_decides_what_needs_nobody,
        a_held_question_waits_for_the_users_interrupt,
        a_newer_reroute_supersedes_a_pending_one_and_waits_beside_a_bound_one,
        a_run_that_ends_leaves_no_reroute_that_waits,
        a_reroute_that_is_given_up_takes_the_interrupt_of_its_event_with_it,
        a_reroute_whose_interrupt_was_withdrawn_takes_hold_of_no_other,
        a_withdrawn_interrupt_lets_its_reroute_wait_again,
        a_released_reroute_gives_way_to_a_newer_one,
        a_reroute_ends_with_its_node_its_time_or_its_patience,
        a_deadline_ends_in_the_policys_outcome_and_never_in_approval;
    holding:
        a_question_is_shown_again_in_the_transaction_that_ends_what_held_it,
        the_time_of_a_question_stands_still_while_it_is_held,
        another_stop_of_a_user_holds_on_where_one_ends,
        a_stop_of_one_agent_does_not_hold_on_to_anothers_question,
        what_has_ended_holds_nothing,
        a_question_that_was_left_held_by_what_has_ended_can_be_decided;
    resting:
        a_paused_run_waits_from_the_transaction_on_that_ends_its_pause_where_a_question_is_open,
        a_run_waits_only_once_nothing_pauses_it_any_more,
        a_run_waits_on_the_pause_of_its_agent,
        a_run_stays_paused_where_it_waits_for_nothing,
        a_run_that_somebody_has_or_has_given_up_is_not_said_to_wait;
    joining:
        a_key_that_joined_a_stop_is_that_stops_from_then_on,
        what_joins_a_pause_that_waits_to_be_resumed_is_that_pause,
        what_joins_a_stop_that_was_carried_out_is_a_stop_of_its_own,
        what_an_agent_has_raised_is_no_stop_to_join,
        what_differs_from_the_stop_under_way_is_a_stop_of_its_own,
        what_joins_a_stop_of_an_agent_that_has_ended_is_refused_once_that_is_over,
        a_key_that_joined_is_forgotten_with_its_run;
    asking:
        each_asking_has_its_reason_source_and_time_and_the_most_human_leads,
        a_stop_ends_with_the_last_of_its_askings,
        a_stop_that_was_delivered_takes_hold_before_it_ends,
        an_asking_belongs_to_whoever_made_it,
        no_policy_ends_what_a_person_asks_for,
        what_ends_a_run_is_not_taken_back_once_it_was_told,
        the_same_asked_by_the_same_is_one_asking_and_a_harder_one_raises_it,
        programs_leave_people_their_askings,
        a_stop_of_an_earlier_version_has_one_asking;
    running:
        a_run_has_one_owner_at_a_time,
        an_old_owner_writes_nothing,
        an_alias_belongs_to_one_run,
        a_run_follows_its_states_and_its_end_cancels_what_is_open,
        nothing_outlives_the_end_of_its_run,
        a_result_is_read_and_never_produced_again,
        effects_without_a_result_are_listed_as_unknown,
        checkpoints_are_numbered_and_name_their_parents,
        a_refused_checkpoint_leaves_no_intent_behind;
    nodes:
        a_node_is_told_of_when_it_does_something_else,
        nodes_are_listed_in_the_order_in_which_they_came_to_be,
        only_the_owner_of_a_run_writes_its_nodes,
        a_message_is_accepted_once_told_and_audited,
        a_message_that_nobody_will_read_is_refused;
    messages:
        a_message_is_taken_back_until_it_is_read_and_not_after_that,
        a_message_is_found_in_its_run_alone_and_read_by_the_runs_owner,
        what_is_read_under_a_key_is_kept_there_and_read_once,
        what_cannot_all_be_read_under_a_key_is_not_read,
        a_message_is_refused_behind_a_stop_that_ends_its_reader,
        what_nobody_has_read_is_said_to_be_unread_with_the_end_of_its_reader;
    tokens:
        a_token_holds_until_its_time_or_until_it_is_revoked,
        a_token_that_is_kept_again_stays_as_it_is,
        a_token_for_one_use_is_void_after_it,
        what_was_bought_with_a_token_ends_with_it,
        a_session_outlives_the_launch_token_that_it_spent,
        who_makes_and_revokes_a_token_is_audited;
    texts:
        any_text_is_kept_as_it_is_or_refused_as_everywhere,
        what_has_any_text_as_its_name_is_looked_for_and_not_found;
    telling:
        a_worker_is_known_as_it_said_last_until_its_time_is_over;
    rules:
        a_remembered_decision_answers_the_same_question_in_its_run,
        a_rule_reaches_as_far_as_it_says,
        a_rule_answers_nothing_that_differs_from_what_was_shown,
        a_rule_leaves_to_people_what_a_supervisor_or_a_person_waits_for,
        a_rule_ends_by_its_uses_its_time_or_a_word,
        a_rule_goes_with_the_run_that_it_is_confined_to;
    remembering:
        a_rule_needs_somebody_who_may_and_something_that_was_shown,
        what_cannot_be_remembered_is_not_decided_either,
        each_moment_of_a_rule_is_audited_and_told,
        several_decisions_are_made_together_or_not_at_all;
    recurring:
        a_rule_answers_what_its_raiser_says_is_the_same_whatever_its_words,
        what_is_never_asked_again_is_not_remembered;
    forking:
        a_fork_takes_over_what_had_its_result_at_the_checkpoint,
        a_fork_of_a_fork_takes_over_what_the_first_one_took,
        a_fork_is_made_once_and_only_of_a_checkpoint,
        a_fork_has_what_it_is_created_with,
        a_run_whose_agents_have_messages_to_read_is_not_forked,
        what_a_fork_would_go_on_without_is_named,
        a_pause_that_ended_without_words_holds_up_no_fork,
        effects_and_checkpoints_are_told_and_counted;
    purging:
        a_purge_removes_what_ended_long_ago_and_nothing_else,
        a_purged_audit_is_verified_from_its_anchor,
        a_notification_stays_until_every_consumer_has_dealt_with_it,
        a_run_stays_while_a_live_fork_of_it_has_no_checkpoint_of_its_own,
        of_a_purge_and_a_fork_at_once_one_is_too_late;
    putting:
        a_question_waits_for_people_at_once_and_the_journal_names_it,
        a_question_that_is_refused_leaves_no_intent,
        at_one_place_of_a_run_one_question_is_put,
        a_question_that_takes_a_reroute_takes_the_place_of_its_event,
        a_question_is_decided_as_it_is_raised,
        a_question_that_a_rule_answers_is_put_to_no_person;
    listing:
        pages_cover_everything_once_and_in_order,
        filters_choose_by_run_node_and_state,
        the_outbox_has_no_gaps_and_cursors_never_go_back,
        what_is_told_of_one_run_is_found_among_what_others_tell,
        the_last_runs_come_first_where_they_are_read_from_the_end,
        the_audit_has_a_row_for_each_transition_and_verifies;
    waiting:
        what_waits_is_counted_and_listed_in_the_order_of_an_inbox,
        what_waits_for_one_person_is_what_they_claimed_or_shall_look_at;
    races:
        of_64_decisions_one_wins_and_the_others_are_told_which,
        of_64_publishers_with_one_key_all_get_the_same_interrupt,
        of_64_who_ask_for_one_stop_at_once_one_is_admitted_and_the_others_join,
        of_64_owners_one_has_the_run,
        of_64_workers_one_has_the_delivery,
        of_64_users_of_a_token_for_one_use_one_gets_in,
        of_64_questions_at_once_a_rule_answers_as_many_as_it_says,
        of_64_who_send_one_message_or_make_one_fork_all_get_the_same,
        concurrent_publishers_leave_a_whole_audit_and_outbox;
}
