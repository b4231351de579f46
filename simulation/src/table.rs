//! Tables of text.

use std::time::Duration;

use simulation::calibration::Comparison;
use simulation::{Fault, Figures, ModelSettings, Remedy, Source};

/// A run that is resumed later than this has waited for a turn, or for the store.
const LATE: Duration = Duration::from_millis(500);

/// How far the model may be off before the table says so.
const MUCH: f64 = 0.3;

pub(crate) const fn name(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Before => "the program before looks had an index and workers their turns",
        Remedy::Today => "the program as it is",
        Remedy::OneIsTold => {
            "besides, commits tell whom they concern, renewals of a process together"
        }
    }
}

pub(crate) fn title(text: &str) {
    println!("\n{text}");
}

pub(crate) fn comparisons(all: &[Comparison]) {
    title("the model beside what was measured");
    println!("{:<54} {:>8} {:>9} {:>6}", "", "model", "measured", "off");
    for it in all {
        let off = it.deviation();
        let mark = if off.abs() > MUCH { " !" } else { "" };
        let (what, model, measured) = (&it.what, it.model, it.measured);
        let percent = 100.0 * off;
        println!("{what:<54} {model:>8.0} {measured:>9.0} {percent:>+5.0}%{mark}");
    }
}

pub(crate) fn heads_of_load() {
    print!(
        "{:>7} {:>10} {:>11} {:>8} {:>5} {:>5} {:>9}",
        "workers", "open", "decisions/s", "commits", "lock", "cores", "line"
    );
    for source in Source::ALL {
        print!(" {:>8}", source.name());
    }
    println!(
        " {:>13} {:>5} {:>13} {:>7} {:>8} {:>5}",
        "renewal p99", "late", "resumed p99", "refused", "handed/s", "lost"
    );
}

/// The load of the store: cores that each source asks for, and what came of it.
pub(crate) fn load(settings: &ModelSettings, figures: &Figures, cores: f64) {
    let seconds = figures.seconds;
    let [wanted, made] = [figures.decisions.0, figures.decisions.1].map(|it| it as f64 / seconds);
    print!(
        "{:>7} {:>10} {:>11} {:>6.0}/s {:>4.0}% {:>4.0}% {:>4.0}/{:<4}",
        settings.workers,
        settings.open,
        format!("{made:.1}/{wanted:.1}"),
        figures.commits as f64 / seconds,
        100.0 * figures.locked / seconds,
        100.0 * figures.worked / seconds / cores,
        figures.line.0,
        figures.line.1,
    );
    for source in Source::ALL {
        print!(" {:>8.2}", figures.asked[source as usize] / seconds);
    }
    println!(
        " {:>11.1}ms {:>4.0}% {:>11.1}ms {:>7.1} {:>8.1} {:>5}",
        1e3 * figures.renewal.at(0.99),
        100.0 * figures.resumed.above(LATE),
        1e3 * figures.resumed.at(0.99),
        figures.refused,
        figures.handed_over.count() as f64 / seconds,
        figures.lost,
    );
}

pub(crate) fn heads_of_faults() {
    println!(
        "{:<18} {:>7} {:>10} {:>5} {:>7} {:>7} {:>7} {:>7} {:>9} {:>5} {:>5} {:>8}",
        "",
        "workers",
        "runs taken",
        "min",
        "median",
        "p99",
        "most",
        "refused",
        "line",
        "lost",
        "left",
        "commits"
    );
}

/// How long runs were without a process, in seconds.
pub(crate) fn fault(settings: &ModelSettings, figures: &Figures) {
    let what = match settings.fault {
        Fault::None => "nothing",
        Fault::TenthDies => "a tenth dies",
        Fault::Away(_time) => "database away 10 s",
        Fault::AllStart => "all start",
    };
    let [least, median, high, most] = [0.0, 0.5, 0.99, 1.0].map(|share| figures.taken.at(share));
    println!(
        "{what:<18} {:>7} {:>10} {least:>5.1} {median:>7.1} {high:>7.1} {most:>7.1} {:>7.1} {:>4.0}/{:<4} {:>5} {:>5} {:>6.0}/s",
        settings.workers,
        figures.taken.count(),
        figures.refused,
        figures.line.0,
        figures.line.1,
        figures.lost,
        figures.left,
        figures.commits as f64 / figures.seconds,
    );
}
