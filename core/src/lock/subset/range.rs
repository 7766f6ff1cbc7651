//! Ranges of numbers, by their ends.

use std::cmp::Ordering;

use serde_json::Value;

use super::number::Num;
use super::plain::Place;

/// One end of a range of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) at: Num,
    /// The number itself is out.
    pub(super) is_open: bool,
}

/// The lower or the upper end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Side {
    const fn keywords(self) -> [&'static str; 2] {
        match self {
            Self::Lower => ["minimum", "exclusiveMinimum"],
            Self::Upper => ["maximum", "exclusiveMaximum"],
        }
    }

    /// `a` is further inside than `b`, or equal.
    fn inside(self, a: Num, b: Num) -> Option<Ordering> {
        let order = a.compare(b)?;
        Some(match self {
            Self::Lower => order,
            Self::Upper => order.reverse(),
        })
    }
}

impl End {
    /// Everything within this end is within the other.
    pub(super) fn is_within(self, other: Self, side: Side) -> bool {
        match side.inside(self.at, other.at) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => self.is_open || !other.is_open,
            _ => false,
        }
    }

    /// The number is within this end.
    pub(super) fn takes(self, number: Num, side: Side) -> bool {
        match side.inside(number, self.at) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => !self.is_open,
            _ => false,
        }
    }

    /// The same end for integers alone.
    pub(super) fn for_integers(self, side: Side) -> Self {
        let at = match side {
            Side::Lower => self.at.up(),
            Side::Upper => self.at.down(),
        };
        match (at, side) {
            (Num::Int(int), _) if !self.takes(at, side) => {
                let next = match side {
                    Side::Lower => int.saturating_add(1),
                    Side::Upper => int.saturating_sub(1),
                };
                Self {
                    at: Num::Int(next),
                    is_open: false,
                }
            }
            (Num::Int(_), _) => Self { at, is_open: false },
            (Num::Float(_), _) => self,
        }
    }
}

/// Both keywords of one end.
pub(super) fn ends(place: Place<'_>, side: Side) -> impl Iterator<Item = End> {
    let [closed, open] = side.keywords();
    [(closed, false), (open, true)]
        .into_iter()
        .filter_map(move |(keyword, is_open)| end(place.get(keyword)?, is_open))
}

pub(super) fn end(bound: &Value, is_open: bool) -> Option<End> {
    let Value::Number(number) = bound else {
        return None;
    };
    let at = Num::of(number)?;
    Some(End { at, is_open })
}
