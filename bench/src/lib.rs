//! A measuring harness for ratios.
//!
//! A time in nanoseconds says more of the machine than of the code, and a busy machine makes it say
//! nothing. So everything here is measured in pairs: one round times both sides, one right after the
//! other, and what counts is the median of the rounds' ratios. A neighbour that takes half of the
//! processor for a while takes it from both.

pub mod board;
pub mod served;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds of one pair.
const ROUNDS: usize = 301;
/// How long one side of one round runs, about.
const SIDE: Duration = Duration::from_micros(500);

/// The middle of many samples: the median, and the quartiles around it.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// A quarter of the samples lies below.
    pub low: f64,
    /// Half of them does.
    pub median: f64,
    /// Three quarters do.
    pub high: f64,
}

impl Spread {
    /// The spread of samples; zeros for none.
    #[must_use]
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let sample = |index| sorted.get(index).copied().unwrap_or_default();
        let at = |quarter: usize| {
            let place = sorted.len().saturating_sub(1) * quarter;
            let (below, above): (f64, f64) = (sample(place / 4), sample(place.div_ceil(4)));
            // Few samples may have none right there: what lies between two of them, then.
            below + (above - below) * (place % 4) as f64 / 4.0
        };
        Self {
            low: at(1),
            median: at(2),
            high: at(3),
        }
    }
}

/// Two things that were measured side by side.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// What is ours.
    pub ours: Spread,
    /// What it is held against.
    pub theirs: Spread,
    /// Ours over theirs, round by round.
    pub ratio: Spread,
}

impl Pair {
    /// The pair of these rounds, each ours and theirs.
    #[must_use]
    pub fn of(rounds: &[(f64, f64)]) -> Self {
        Self {
            ours: Spread::of(rounds.iter().map(|(ours, _)| *ours)),
            theirs: Spread::of(rounds.iter().map(|(_, theirs)| *theirs)),
            ratio: Spread::of(rounds.iter().map(|(ours, theirs)| ours / theirs)),
        }
    }
}

impl Pair {
    /// The same as what grows when this falls: times for throughputs.
    #[must_use]
    pub fn inverted(&self, to: impl Fn(f64) -> f64) -> Self {
        let side = |spread: &Spread| Spread {
            low: to(spread.high),
            median: to(spread.median),
            high: to(spread.low),
        };
        let ratio = |spread: &Spread| Spread {
            low: 1.0 / spread.high,
            median: 1.0 / spread.median,
            high: 1.0 / spread.low,
        };
        Self {
            ours: side(&self.ours),
            theirs: side(&self.theirs),
            ratio: ratio(&self.ratio),
        }
    }
}

/// Times two functions in turn, in nanoseconds a call.
pub fn pair<A, B>(mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) -> Pair {
    let (our_calls, their_calls) = (calls_in_a_side(&mut ours), calls_in_a_side(&mut theirs));
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            // Neither side always comes second, into the caches that the first one left.
            if round % 2 == 0 {
                let first = time(&mut ours, our_calls);
                (first, time(&mut theirs, their_calls))
            } else {
                let first = time(&mut theirs, their_calls);
                (time(&mut ours, our_calls), first)
            }
        })
        .collect();
    Pair::of(&rounds)
}

/// Nanoseconds a call, over so many calls.
fn time<T>(call: &mut impl FnMut() -> T, calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

/// How many calls fill [`SIDE`]; finding out warms everything up.
fn calls_in_a_side<T>(call: &mut impl FnMut() -> T) -> u32 {
    let mut calls = 1;
    while calls < 1 << 30 {
        let start = Instant::now();
        time(call, calls);
        if start.elapsed() >= SIDE {
            break;
        }
        calls *= 2;
    }
    calls
}

/// What is aimed at for a ratio.
#[derive(Debug, Clone, Copy)]
pub enum Aim {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Told for what it is.
    None,
}

impl Aim {
    fn told(self, ratio: f64) -> String {
        let (sign, bound, met) = match self {
            Self::AtMost(bound) => ("<=", bound, ratio <= bound),
            Self::AtLeast(bound) => (">=", bound, ratio >= bound),
            Self::None => return String::new(),
        };
        format!("{sign} {bound} {}", if met { "met" } else { "MISSED" })
    }
}

/// Prints a table's title and head. `unit` is that of the two sides.
pub fn head(title: &str, unit: &str, theirs: &str) {
    println!("\n{title}");
    println!(
        "{:<42} {:>13} {theirs:>22} {:>7}  {:<15} aim",
        "",
        format!("actum, {unit}"),
        "ratio",
        "middle half"
    );
}

/// Prints one row.
pub fn row(name: &str, pair: &Pair, aim: Aim) {
    let Spread { low, median, high } = pair.ratio;
    println!(
        "{name:<42} {:>13} {:>22} {median:>7.3}  {:<15} {}",
        whole(pair.ours.median),
        whole(pair.theirs.median),
        format!("{low:.3} to {high:.3}"),
        aim.told(median)
    );
}

/// A whole number with its thousands apart.
fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut told = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            told.push(' ');
        }
        told.push(digit);
    }
    told
}
