//! A budget: exact whoever charges it and however many do at once.

use std::sync::Arc;
use std::thread;

use interrupt_router::StopMode;
use interrupts::limits::LimitKind;
use interrupts::money::{
    Amount, Budget, BudgetConfig, BudgetRefusal, Known, ModelPrice, Money, PriceTable, Usage,
};
use proptest::prelude::*;

use crate::scene::{Heard, Still, budget, money, prices};

fn reported(input: u64, output: u64) -> Usage {
    Usage {
        input: Known::Reported(input),
        cached: 0,
        output: Known::Reported(output),
    }
}

#[test]
fn a_call_is_charged_what_it_used_and_the_rest_of_its_reservation_comes_back() {
    let heard = Arc::new(Heard::default());
    let budget = budget("1", &heard);
    let reservation = budget.reserve("fine", 1_000, 1_000).unwrap();
    assert_eq!(budget.state().reserved, money("0.005"));
    let settled = reservation.settle(reported(900, 10));
    assert_eq!(
        (settled.cost, settled.known),
        (money("0.00094"), Amount::Reported)
    );
    let state = budget.state();
    assert_eq!(
        (state.spent, state.reserved),
        (money("0.00094"), Money::ZERO)
    );
}

#[test]
fn tokens_from_the_cache_have_their_own_price() {
    let heard = Arc::new(Heard::default());
    let budget = budget("1", &heard);
    let usage = Usage {
        input: Known::Reported(1_000),
        cached: 900,
        output: Known::Reported(0),
    };
    let settled = budget.reserve("fine", 1_000, 0).unwrap().settle(usage);
    assert_eq!(settled.cost, money("0.00019"));
}

#[test]
fn what_nobody_knows_is_charged_as_reserved_and_kept_apart_from_what_was_said() {
    let heard = Arc::new(Heard::default());
    let budget = budget("1", &heard);
    let reserve = || budget.reserve("fine", 100, 100).unwrap();
    let unknown = Usage {
        output: Known::Unknown,
        ..reported(60, 0)
    };
    assert_eq!(reserve().settle(unknown).cost, money("0.00046"));
    let guessed = Usage {
        output: Known::Estimated(5),
        ..reported(100, 0)
    };
    assert_eq!(reserve().settle(guessed).known, Amount::Estimated);
    reserve().settle(Usage::NOT_BILLED);
    drop(reserve());
    let state = budget.state();
    assert_eq!(
        state.assumed,
        money("0.00096"),
        "torn down calls are charged whole"
    );
    assert_eq!(state.estimated, money("0.00012"));
    assert_eq!(state.reported, Money::ZERO);
    assert_eq!(state.calls, 4);
}

#[test]
fn a_call_that_does_not_fit_is_refused_and_a_stop_is_asked_for_once() {
    let heard = Arc::new(Heard::default());
    let budget = budget("0.001", &heard);
    for _call in 0..3 {
        let refused = budget.reserve("fine", 1, 1_000).unwrap_err();
        assert!(matches!(refused, BudgetRefusal::Spent(_)), "{refused:?}");
    }
    let stops = heard.stops();
    assert_eq!(stops.len(), 1);
    assert_eq!(
        (stops[0].limit, stops[0].mode),
        (LimitKind::Cost, StopMode::Graceful)
    );
    assert_eq!(
        stops[0].message,
        "0.00 of the budget of 0.001 EUR are spent, and the next call may cost up to 0.004001"
    );
    assert_eq!(budget.state().reserved, Money::ZERO);
}

#[test]
fn a_warning_comes_once_before_the_end_and_an_overrun_asks_for_a_stop() {
    let heard = Arc::new(Heard::default());
    let budget = budget("0.001", &heard);
    let spend = |tokens, used| {
        let reservation = budget.reserve("fine", tokens, 0).unwrap();
        reservation.settle(reported(used, 0));
    };
    spend(799, 799);
    assert!(heard.warnings().is_empty());
    spend(1, 1);
    spend(1, 1);
    assert_eq!(heard.warnings().len(), 1);
    assert!(heard.stops().is_empty());
    spend(100, 300);
    assert_eq!(
        budget.state().spent,
        money("0.001101"),
        "what was used is charged, whatever was reserved"
    );
    assert_eq!(heard.stops().len(), 1);
}

#[test]
fn a_resumed_run_goes_on_with_what_its_first_part_left() {
    let budget = Budget::new(BudgetConfig {
        limit: money("1"),
        spent: money("0.999999"),
        warn_at: 100,
        prices: prices(),
        sink: Arc::new(Heard::default()),
        clock: Arc::new(Still),
    });
    drop(budget.reserve("fine", 1, 0).unwrap());
    assert!(matches!(
        budget.reserve("fine", 1, 0),
        Err(BudgetRefusal::Spent(_))
    ));
}

#[test]
fn a_model_that_costs_nothing_fits_into_a_budget_of_nothing() {
    let heard = Arc::new(Heard::default());
    let budget = Budget::new(BudgetConfig {
        limit: Money::ZERO,
        spent: Money::ZERO,
        warn_at: 80,
        prices: PriceTable::default().with("rehearsal", ModelPrice::FREE),
        sink: Arc::<Heard>::clone(&heard),
        clock: Arc::new(Still),
    });
    budget
        .reserve("rehearsal", 10, 10)
        .unwrap()
        .settle(reported(10, 10));
    assert!(heard.stops().is_empty() && heard.warnings().is_empty());
}

#[tokio::test]
async fn a_call_waits_for_what_others_hold_and_is_refused_when_they_have_spent_it() {
    let heard = Arc::new(Heard::default());
    let budget = budget("0.001", &heard);
    let first = budget.reserve("fine", 900, 0).unwrap();
    assert!(matches!(
        budget.reserve("fine", 200, 0),
        Err(BudgetRefusal::Busy)
    ));
    assert!(heard.stops().is_empty(), "nothing is spent yet");
    let mut second = std::pin::pin!(budget.reserve_when_free("fine", 200, 0));
    let mut third = std::pin::pin!(budget.reserve_when_free("fine", 200, 0));
    assert!(futures_now(&mut second).await.is_none());
    assert!(futures_now(&mut third).await.is_none());
    first.settle(reported(700, 0));
    let second = second.await.unwrap();
    assert!(futures_now(&mut third).await.is_none());
    second.settle(reported(200, 0));
    assert!(matches!(third.await, Err(BudgetRefusal::Spent(_))));
    assert_eq!(heard.stops().len(), 1);
}

/// What a future gives when it is polled once.
async fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}

#[test]
fn one_limit_over_a_tree_of_agents_is_exact_from_many_threads_at_once() {
    const THREADS: u64 = 8;
    const CALLS: u64 = 2_000;
    let heard = Arc::new(Heard::default());
    let budget = budget("0.01", &heard);
    let allowed: u64 = thread::scope(|scope| {
        let agents: Vec<_> = (0..THREADS)
            .map(|_agent| {
                let budget = budget.clone();
                scope.spawn(move || {
                    let mut allowed = 0;
                    for _call in 0..CALLS {
                        match budget.reserve("fine", 1, 0) {
                            Ok(reservation) => {
                                reservation.settle(reported(1, 0));
                                allowed += 1;
                            }
                            // What is reserved comes back or is spent: ask again.
                            Err(BudgetRefusal::Busy) => thread::yield_now(),
                            Err(_spent) => {}
                        }
                    }
                    allowed
                })
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).sum()
    });
    assert_eq!(
        allowed, 10_000,
        "a hundredth buys ten thousand tokens, no more and no fewer"
    );
    let state = budget.state();
    assert_eq!((state.spent, state.reserved), (money("0.01"), Money::ZERO));
    assert_eq!(heard.stops().len(), 1);
    assert_eq!(heard.warnings().len(), 1);
}

/// What happens to a budget: a call begins, or one that runs ends with what it used.
#[derive(Debug, Clone)]
enum Happening {
    Begin {
        input: u64,
        output: u64,
    },
    End {
        which: prop::sample::Index,
        input: u64,
        output: u64,
    },
    TearDown {
        which: prop::sample::Index,
    },
}

fn happening() -> impl Strategy<Value = Happening> {
    let tokens = || 0..2_000_u64;
    prop_oneof![
        3 => (tokens(), tokens()).prop_map(|(input, output)| Happening::Begin { input, output }),
        2 => (any::<prop::sample::Index>(), tokens(), tokens())
            .prop_map(|(which, input, output)| Happening::End { which, input, output }),
        1 => any::<prop::sample::Index>().prop_map(|which| Happening::TearDown { which }),
    ]
}

proptest! {
    #[test]
    fn the_account_is_the_sum_of_its_calls_and_no_reservation_passes_the_limit(
        history in prop::collection::vec(happening(), 1..80),
    ) {
        let heard = Arc::new(Heard::default());
        let limit = money("0.02");
        let budget = budget("0.02", &heard);
        let cost = |input: u64, output: u64| Money::from_parts(u128::from(input + 4 * output) * 1_000_000);
        let mut open = Vec::new();
        let mut spent = Money::ZERO;
        for happening in history {
            match happening {
                Happening::Begin { input, output } => {
                    let before = budget.state();
                    let fits = before.spent.plus(before.reserved).plus(cost(input, output)) <= limit;
                    let reserved = budget.reserve("fine", input, output);
                    prop_assert_eq!(reserved.is_ok(), fits);
                    open.extend(reserved);
                }
                Happening::End { which, input, output } if !open.is_empty() => {
                    let reservation = open.swap_remove(which.index(open.len()));
                    let (most_input, most_output) = reservation.tokens();
                    let (input, output) = (input.min(most_input), output.min(most_output));
                    reservation.settle(reported(input, output));
                    spent = spent.plus(cost(input, output));
                }
                Happening::TearDown { which } if !open.is_empty() => {
                    let reservation = open.swap_remove(which.index(open.len()));
                    spent = spent.plus(reservation.reserved());
                }
                Happening::End { .. } | Happening::TearDown { .. } => {}
            }
            let state = budget.state();
            prop_assert_eq!(state.spent, spent);
            let reserved = open.iter().fold(Money::ZERO, |sum, one| sum.plus(one.reserved()));
            prop_assert_eq!(state.reserved, reserved);
            prop_assert!(state.spent.plus(state.reserved) <= limit);
            let parts = state.reported.plus(state.estimated).plus(state.assumed);
            prop_assert_eq!(parts, state.spent);
        }
        prop_assert!(heard.stops().len() <= 1 && heard.warnings().len() <= 1);
    }
}
