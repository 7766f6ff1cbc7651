//! Numbers of JSON compared as numbers: 1 and 1.0 are one, and no digit is lost.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Below this a float without a fraction is taken as the integer that it is.
const EXACT: f64 = 1e30;

/// A number, an integer where it is one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Num {
    Int(i128),
    Float(f64),
}

impl Num {
    pub(super) fn of(number: &Number) -> Option<Self> {
        if let Some(int) = number.as_i64() {
            return Some(Self::Int(int.into()));
        }
        if let Some(int) = number.as_u64() {
            return Some(Self::Int(int.into()));
        }
        Some(Self::of_float(number.as_f64()?))
    }

    fn of_float(float: f64) -> Self {
        if float.fract() == 0.0 && float.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "checked right above")]
            return Self::Int(float as i128);
        }
        Self::Float(float)
    }

    pub(super) fn is_integer(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(float) => float.fract() == 0.0,
        }
    }

    /// The least integer that is no less, where there is an exact one.
    pub(super) fn up(self) -> Self {
        match self {
            Self::Int(_) => self,
            Self::Float(float) => Self::of_float(float.ceil()),
        }
    }

    /// The greatest integer that is no more, where there is an exact one.
    pub(super) fn down(self) -> Self {
        match self {
            Self::Int(_) => self,
            Self::Float(float) => Self::of_float(float.floor()),
        }
    }

    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Int(a), Self::Float(b)) => int_and_float(a, b),
            (Self::Float(a), Self::Int(b)) => int_and_float(b, a).map(Ordering::reverse),
        }
    }
}

fn int_and_float(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() >= EXACT {
        return Some(if float > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        });
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked right above")]
    let whole = float.trunc() as i128;
    let by_fraction = 0.0f64.partial_cmp(&float.fract())?;
    Some(int.cmp(&whole).then(by_fraction))
}

/// Whether two values are equal as JSON Schema has it: numbers by what they are.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (Num::of(a), Num::of(b)) {
            (Some(a), Some(b)) => a.compare(b) == Some(Ordering::Equal),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}
