//! Prices as they are configured.

use expect_test::expect;
use interrupts::money::{ModelPrice, PriceTable};

use crate::scene::money;

#[test]
fn prices_are_read_digit_by_digit_with_or_without_quotes() {
    let table = PriceTable::from_toml(
        r#"
        currency = "EUR"
        [prices."openai/gpt"]
        input = 0.1
        cached_input = "0.025"
        output = 2
        [prices.small]
        input = 0.000_001
        output = 0
        "#,
    )
    .unwrap();
    assert_eq!(table.currency(), "EUR");
    let price = table.price("openai/gpt").unwrap();
    assert_eq!(Ok(price), ModelPrice::for_million("0.1", "0.025", "2"));
    assert_eq!(price.bound(3, 1), money("0.0000023"));
    let small = table.price("small").unwrap();
    assert_eq!(small.bound(1, 1_000), money("0.000000000001"));
}

#[test]
fn every_mistake_in_a_table_of_prices_is_told_at_once_with_its_line() {
    let error = PriceTable::from_toml(
        "curency = \"EUR\"\n\
         [prices.a]\n\
         input = 1e-1\n\
         ouput = 1\n\
         [prices.b]\n\
         input = \"nan\"\n\
         output = 0.0000001\n\
         [prices.c]\n\
         input = true\n\
         output = 9000000000\n",
    )
    .unwrap_err();
    expect![[r#"
        line 1, column 1: unknown key `curency`; did you mean `currency`?
        line 2, column 1: `output` is missing here
        line 3, column 9: `1e-1` is no amount; write digits with a point, such as 12.50
        line 4, column 1: unknown key `ouput`; did you mean `output`?
        line 6, column 9: `nan` is no amount; write digits with a point, such as 12.50
        line 7, column 10: `0.0000001` has more than 6 decimals
        line 9, column 9: `input` is a decimal number, not a value of type boolean
        line 10, column 10: a price for a million tokens is at most 1000000000.00, not 9000000000.00"#]]
    .assert_eq(&error.to_string());
}

#[test]
fn what_is_no_toml_is_refused_at_its_place() {
    let error = PriceTable::from_toml("currency = \n").unwrap_err();
    assert_eq!(error.problems()[0].line, 1);
}

#[test]
fn a_model_without_a_price_is_named_with_the_one_that_was_meant() {
    let table = PriceTable::default().with("openai/gpt-mini", ModelPrice::FREE);
    let message = |model: &str| table.price(model).unwrap_err().to_string();
    expect![[r#"there is no price for the model `openai/gpt-mimi`, so no budget can hold it back; did you mean `openai/gpt-mini`? Else add [prices."openai/gpt-mimi"]"#]]
        .assert_eq(&message("openai/gpt-mimi"));
    expect![[r#"there is no price for the model `x`, so no budget can hold it back; add [prices."x"] with input and output for a million tokens"#]]
        .assert_eq(&message("x"));
}
