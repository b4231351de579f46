//! Tables of text.

use simulation::calibration::Comparison;
use simulation::{Fault, Figures, ModelSettings, Remedy, Source};

/// How far the model may be off before the table says so.
const MUCH: f64 = 0.3;

pub(crate) const fn name(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::None => "the program as it is",
        Remedy::Indexes => "sweeps and looks with indexes of their own",
        Remedy::OneIsTold => "indexes, one process told of a run, renewals of a process together",
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
        " {:>13} {:>13} {:>7} {:>5}",
        "renewal p99", "resumed p99", "refused", "lost"
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
        " {:>11.1}ms {:>11.1}ms {:>7.1} {:>5}",
        1e3 * figures.renewal.at(0.99),
        1e3 * figures.resumed.at(0.99),
        figures.refused,
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
