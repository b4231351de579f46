use interrupt_router::RunId;
use jiff::Timestamp;

use super::{Fleet, FreeRun};
use crate::label::{Label, Labels};
use crate::names::OwnerName;
use crate::store::{WorkerRow, WorkerState};

fn labels(words: &[&str]) -> Labels {
    Labels::new(words.iter().map(|word| Label::new(*word).unwrap())).unwrap()
}

fn name(worker: usize) -> OwnerName {
    OwnerName::new(format!("worker-{worker}")).unwrap()
}

/// Workers with so many runs of so many slots.
fn fleet(workers: &[(u32, u32)]) -> Fleet {
    labelled(&workers.iter().map(|it| (*it, &[][..])).collect::<Vec<_>>())
}

fn labelled(workers: &[((u32, u32), &[&str])]) -> Fleet {
    let rows = workers.iter().enumerate();
    let rows = rows.map(|(number, ((taken, slots), has))| WorkerRow {
        name: name(number),
        state: WorkerState {
            slots: *slots,
            taken: *taken,
            labels: labels(has),
        },
        until: Timestamp::MAX,
    });
    Fleet::new(rows.collect())
}

#[test]
fn all_come_to_the_same_order_and_each_has_a_place_of_its_own() {
    let fleet = fleet(&[(0, 8), (3, 8), (7, 8), (1, 2)]);
    for _ in 0..100 {
        let run = RunId::generate();
        let mut ranks: Vec<_> = (0..4)
            .map(|it| {
                fleet
                    .rank(FreeRun::New(run), &labels(&[]), &name(it))
                    .unwrap()
            })
            .collect();
        ranks.sort_unstable();
        assert_eq!(ranks, [0, 1, 2, 3]);
    }
}

#[test]
fn runs_are_spread_in_proportion_to_free_slots() {
    let fleet = fleet(&[(0, 8), (4, 8), (8, 8)]);
    let mut taken = [0; 3];
    for _ in 0..3_000 {
        let run = RunId::generate();
        for (worker, taken) in taken.iter_mut().enumerate() {
            *taken +=
                u32::from(fleet.rank(FreeRun::New(run), &labels(&[]), &name(worker)) == Some(0));
        }
    }
    assert_eq!(taken.iter().sum::<u32>(), 3_000);
    assert_eq!(taken[2], 0, "it has no room");
    // Two thirds of them; ten standard deviations off at most.
    assert!((1_740..2_260).contains(&taken[0]), "{taken:?}");
}

#[test]
fn a_run_goes_to_a_worker_that_has_what_it_needs() {
    let fleet = labelled(&[((0, 8), &[]), ((7, 8), &["gpu"]), ((8, 8), &["gpu", "big"])]);
    let (run, gpu) = (RunId::generate(), labels(&["gpu"]));
    assert_eq!(fleet.rank(FreeRun::New(run), &gpu, &name(0)), None);
    assert_eq!(fleet.rank(FreeRun::New(run), &gpu, &name(1)), Some(0));
    assert_eq!(
        fleet.rank(FreeRun::New(run), &gpu, &name(2)),
        None,
        "it is full"
    );
    let state = WorkerState {
        slots: 8,
        taken: 0,
        labels: labels(&["gpu"]),
    };
    for known_or_not in [2, 3] {
        let now = fleet.with(&name(known_or_not), state.clone());
        assert!(
            now.rank(FreeRun::New(run), &gpu, &name(known_or_not))
                .is_some()
        );
    }
    assert_eq!(
        fleet.rank(FreeRun::New(run), &gpu, &name(3)),
        None,
        "it is unknown"
    );
}

/// Who hands a run over, by the numbers of the workers.
fn handing(fleet: &Fleet, workers: usize) -> Vec<usize> {
    let none = labels(&[]);
    let hands = |it: &usize| fleet.hands_over(&none, &name(*it));
    (0..workers).filter(hands).collect()
}

#[test]
fn the_fullest_hand_over_as_many_runs_as_others_have_places_below_their_share() {
    assert_eq!(handing(&fleet(&[(8, 8), (0, 8)]), 2), [0]);
    assert_eq!(handing(&fleet(&[(5, 8), (4, 8)]), 2), [] as [usize; 0]);
    assert_eq!(handing(&fleet(&[(1, 8), (0, 8)]), 2), [] as [usize; 0]);
    // Two places, and four that have too much.
    let crowded = [(8, 8), (7, 8), (8, 8), (8, 8), (8, 8), (5, 8)];
    assert_eq!(handing(&fleet(&crowded), 6), [0, 2]);
    // A share is one of the slots: the small one has its own.
    assert_eq!(handing(&fleet(&[(4, 8), (1, 2)]), 2), [] as [usize; 0]);
    assert_eq!(handing(&fleet(&[]), 1), [] as [usize; 0]);
}

#[test]
fn handing_over_comes_to_rest_wherever_it_begins() {
    for seed in 0..200_u32 {
        let workers = (seed % 7 + 2) as usize;
        let mut state: Vec<(u32, u32)> = (0..workers)
            .map(|it| {
                let slots = (seed * 7 + it as u32 * 5) % 8 + 1;
                ((seed * 13 + it as u32 * 11) % (slots + 1), slots)
            })
            .collect();
        let whole: u32 = state.iter().map(|it| it.0).sum();
        let mut rounds = 0;
        loop {
            let seen = fleet(&state);
            let handing = handing(&seen, workers);
            if handing.is_empty() {
                break;
            }
            rounds += 1;
            assert!(rounds < 6, "{seed}: {state:?}");
            for from in handing {
                state[from].0 -= 1;
                let (run, seen) = (FreeRun::LetGo(RunId::generate()), fleet(&state));
                let others = (0..workers).filter(|it| *it != from);
                let to = others.min_by_key(|it| {
                    let rank = seen.rank(run, &labels(&[]), &name(*it));
                    rank.unwrap_or(usize::MAX)
                });
                state[to.unwrap()].0 += 1;
            }
        }
        assert_eq!(state.iter().map(|it| it.0).sum::<u32>(), whole);
    }
}

#[test]
fn a_run_is_not_handed_over_for_workers_that_cannot_take_it() {
    let fleet = labelled(&[((8, 8), &["gpu"]), ((0, 8), &[])]);
    assert!(fleet.hands_over(&labels(&[]), &name(0)));
    assert!(!fleet.hands_over(&labels(&["gpu"]), &name(0)));
}
