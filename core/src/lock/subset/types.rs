//! The types that a value can have.

use std::ops::{BitAnd, BitAndAssign, BitOr};

use serde_json::Value;

use super::number::Num;

/// A set of JSON types. `number` is two of them: integers, and numbers with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(0b111_1111);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);

    /// What a split by type tells apart.
    pub(super) const UNITS: [Self; 6] = [
        Self::NULL,
        Self::BOOLEAN,
        Self::NUMBER,
        Self::STRING,
        Self::ARRAY,
        Self::OBJECT,
    ];

    /// The value of the keyword `type`; `None` if it has a name that is none.
    pub(super) fn named(keyword: &Value) -> Option<Self> {
        keyword
            .as_array()?
            .iter()
            .try_fold(Self::NONE, |all, name| {
                let one = match name.as_str()? {
                    "null" => Self::NULL,
                    "boolean" => Self::BOOLEAN,
                    "integer" => Self::INTEGER,
                    "number" => Self::NUMBER,
                    "string" => Self::STRING,
                    "array" => Self::ARRAY,
                    "object" => Self::OBJECT,
                    _ => return None,
                };
                Some(all | one)
            })
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if Num::of(number).is_some_and(Num::is_integer) => Self::INTEGER,
            Value::Number(_) => Self(8),
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        (self & other) == self
    }

    pub(super) fn has(self, other: Self) -> bool {
        !(self & other).is_none()
    }
}

impl BitAnd for Types {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitAndAssign for Types {
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOr for Types {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
