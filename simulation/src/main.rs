//! Prints what the model says: beside what was measured, at scale, and when something goes wrong.

mod table;

use std::time::Duration;

use clap::{Parser, ValueEnum};
use simulation::measured::Costs;
use simulation::{Fault, Figures, Model, ModelSettings, Remedy, calibration};

/// What many workers, servers and open interrupts ask of one store in PostgreSQL.
#[derive(Debug, Parser)]
struct Arguments {
    /// What is printed
    #[arg(value_enum, default_value_t = Part::All)]
    part: Part,
    /// The seed of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Counts of workers, instead of the usual ones
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000])]
    workers: Vec<usize>,
    /// Counts of open interrupts, instead of the usual ones
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000, 10_000_000])]
    open: Vec<u64>,
    /// The share of slots that is used
    #[arg(long, default_value_t = 0.5)]
    fill: f64,
    /// Which remedies are tried
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "before,today,one-is-told"
    )]
    remedies: Vec<RemedyName>,
    #[command(flatten)]
    costs: Costs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The model beside the benches
    Calibration,
    /// Workers by open interrupts
    Scale,
    /// Deaths, an outage, a start of all at once
    Faults,
    /// All of it
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RemedyName {
    Before,
    Today,
    OneIsTold,
}

impl RemedyName {
    const fn remedy(self) -> Remedy {
        match self {
            Self::Before => Remedy::Before,
            Self::Today => Remedy::Today,
            Self::OneIsTold => Remedy::OneIsTold,
        }
    }
}

fn main() {
    let arguments = Arguments::parse();
    if matches!(arguments.part, Part::Calibration | Part::All) {
        table::comparisons(&calibration::comparisons(&arguments.costs));
    }
    for remedy in arguments.remedies.iter().map(|name| name.remedy()) {
        if matches!(arguments.part, Part::Scale | Part::All) {
            scale(&arguments, remedy);
        }
        if matches!(arguments.part, Part::Faults | Part::All) {
            faults(&arguments, remedy);
        }
    }
}

fn settings(arguments: &Arguments, remedy: Remedy, workers: usize, open: u64) -> ModelSettings {
    ModelSettings {
        seed: arguments.seed,
        fill: arguments.fill,
        remedy,
        ..ModelSettings::new(workers, open)
    }
}

fn figures(arguments: &Arguments, settings: &ModelSettings) -> Figures {
    Model::new(settings, &arguments.costs).run()
}

fn scale(arguments: &Arguments, remedy: Remedy) {
    table::title(&format!(
        "workers x open interrupts, {}",
        table::name(remedy)
    ));
    table::heads_of_load();
    for &workers in &arguments.workers {
        for &open in &arguments.open {
            let settings = settings(arguments, remedy, workers, open);
            let figures = figures(arguments, &settings);
            table::load(&settings, &figures, arguments.costs.cores);
        }
    }
}

fn faults(arguments: &Arguments, remedy: Remedy) {
    table::title(&format!("what goes wrong, {}", table::name(remedy)));
    table::heads_of_faults();
    let faults = [
        (Fault::TenthDies, 10, 50),
        (Fault::Away(Duration::from_secs(10)), 10, 50),
        (Fault::AllStart, 0, 30),
    ];
    // More open ones make the scans of today's program hide everything else.
    let open = arguments.open.first().copied().unwrap_or_default();
    for (fault, warm_up, counted) in faults {
        for &workers in &arguments.workers {
            let settings = ModelSettings {
                fault,
                warm_up: Duration::from_secs(warm_up),
                counted: Duration::from_secs(counted),
                ..settings(arguments, remedy, workers, open)
            };
            table::fault(&settings, &figures(arguments, &settings));
        }
    }
}
