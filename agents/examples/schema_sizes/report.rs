//! How large the answer to an interrupt is, in full and narrowed.

use std::fmt::{self, Display};

use agents::catalogue::{SchemaError, SchemaQuery, routes, schema};
use interrupt_router::schema::Dialect;
use tiktoken_rs::CoreBPE;

const RECORD: &str = "InterruptRouting";

/// The sizes of one schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) bytes: usize,
    pub(crate) tokens: usize,
}

/// The sizes in one dialect.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) dialect: Dialect,
    pub(crate) full: Size,
    /// Each route's field, and the size of the schema that allows it alone.
    pub(crate) narrowed: Vec<(&'static str, Size)>,
}

impl Report {
    /// Measures every route.
    pub(crate) fn measure(dialect: Dialect, tokeniser: &CoreBPE) -> Result<Self, SchemaError> {
        let query = SchemaQuery::new(dialect);
        let narrowed = routes()
            .into_iter()
            .map(|row| {
                let query = SchemaQuery {
                    reroute_to: Some(row.agent_type),
                    ..query
                };
                Ok((row.field, size(&query, tokeniser)?))
            })
            .collect::<Result<_, SchemaError>>()?;
        Ok(Self {
            dialect,
            full: size(&query, tokeniser)?,
            narrowed,
        })
    }

    /// The tokens of each narrowed schema, in percent of the full one's, the smallest first.
    pub(crate) fn token_shares(&self) -> Vec<f64> {
        self.shares(|size| size.tokens)
    }

    /// The bytes of each narrowed schema, in percent of the full one's, the smallest first.
    pub(crate) fn byte_shares(&self) -> Vec<f64> {
        self.shares(|size| size.bytes)
    }

    fn shares(&self, figure: impl Fn(&Size) -> usize) -> Vec<f64> {
        let mut shares: Vec<f64> = self
            .narrowed
            .iter()
            .map(|(_field, size)| percent(figure(size), figure(&self.full)))
            .collect();
        shares.sort_by(f64::total_cmp);
        shares
    }
}

/// The middle of sorted figures: of two middles, their mean.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted {
        [] => 0.0,
        _ if sorted.len() % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The largest of sorted figures.
pub(crate) fn worst(sorted: &[f64]) -> f64 {
    sorted.last().copied().unwrap_or_default()
}

fn size(query: &SchemaQuery, tokeniser: &CoreBPE) -> Result<Size, SchemaError> {
    let text = schema(RECORD, query)?.text();
    Ok(Size {
        bytes: text.len(),
        tokens: tokeniser.encode_ordinary(text).len(),
    })
}

fn percent(part: usize, whole: usize) -> f64 {
    let figure = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    100.0 * figure(part) / figure(whole)
}

impl Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.dialect)?;
        let full = self.full;
        writeln!(
            formatter,
            "  {:<30} {:>7} bytes {:>6} tokens",
            "all fourteen routes", full.bytes, full.tokens
        )?;
        for (field, size) in &self.narrowed {
            writeln!(
                formatter,
                "  {field:<30} {:>7} bytes {:>6} tokens {:>5.1} %",
                size.bytes,
                size.tokens,
                percent(size.tokens, full.tokens)
            )?;
        }
        for (unit, shares) in [
            ("tokens", self.token_shares()),
            ("bytes", self.byte_shares()),
        ] {
            writeln!(
                formatter,
                "  {unit}: median {:.1} %, worst {:.1} %",
                median(&shares),
                worst(&shares)
            )?;
        }
        Ok(())
    }
}
