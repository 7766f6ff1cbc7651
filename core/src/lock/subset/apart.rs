//! Whether two sets have no value in common, proved or not.
//!
//! It is what makes a `oneOf` of tagged variants comparable: a value of one variant is then none of the others.

use std::cmp::Ordering;

use super::Proof;
use super::facts::Set;
use super::number::equal;
use super::range::Side;
use super::types::Types;

impl<'a> Proof<'a> {
    /// Whether no value is in both.
    pub(super) fn are_apart(&mut self, one: &Set<'a>, other: &Set<'a>) -> bool {
        self.step(|proof| {
            one.is_empty()
                || other.is_empty()
                || proof.differ(one, other)
                || match (one.alternatives(), other.alternatives()) {
                    (Some(parts), _) => parts.iter().all(|part| proof.are_apart(part, other)),
                    (None, Some(parts)) => parts.iter().all(|part| proof.are_apart(one, part)),
                    (None, None) => false,
                }
        })
    }

    fn differ(&mut self, one: &Set<'a>, other: &Set<'a>) -> bool {
        let common = one.types & other.types;
        if common.is_none() {
            return true;
        }
        if let (Some(values), Some(others)) = (&one.values, &other.values)
            && !values.iter().any(|a| others.iter().any(|b| equal(a, b)))
        {
            return true;
        }
        if common.is_within(Types::NUMBER) {
            return is_below(one, other) || is_below(other, one);
        }
        for (types, least, most) in [
            (Types::STRING, "minLength", "maxLength"),
            (Types::ARRAY, "minItems", "maxItems"),
            (Types::OBJECT, "minProperties", "maxProperties"),
        ] {
            let is_shorter = |a: &Set<'a>, b: &Set<'a>| {
                a.count(most)
                    .zip(b.count(least))
                    .is_some_and(|(most, least)| most < least)
            };
            if common.is_within(types) && (is_shorter(one, other) || is_shorter(other, one)) {
                return true;
            }
        }
        common.is_within(Types::OBJECT)
            && one
                .required()
                .chain(other.required())
                .any(|name| self.are_apart(&one.under(name), &other.under(name)))
    }
}

/// Every number of the one is less than every number of the other.
fn is_below(one: &Set<'_>, other: &Set<'_>) -> bool {
    let (Some(top), Some(bottom)) = (one.end(Side::Upper), other.end(Side::Lower)) else {
        return false;
    };
    match top.at.compare(bottom.at) {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => top.is_open || bottom.is_open,
        _ => false,
    }
}
