//! What narrowing saves.

use interrupt_router::schema::Dialect;

#[path = "../../examples/schema_sizes/report.rs"]
mod report;

use report::{Report, median, worst};

#[test]
fn a_narrowed_schema_is_a_tenth_of_the_full_one_and_never_three_tenths() {
    let tokeniser = tiktoken_rs::o200k_base().unwrap();
    for dialect in Dialect::ALL {
        let report = Report::measure(dialect, &tokeniser).unwrap();
        for shares in [report.token_shares(), report.byte_shares()] {
            assert_eq!(shares.len(), 14);
            assert!(median(&shares) <= 10.0, "{report}");
            assert!(worst(&shares) <= 30.0, "{report}");
        }
    }
}
