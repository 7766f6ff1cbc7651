//! Plain YAML scalars by the core schema of YAML 1.2 (chapter 10.3): what is text and what is not.
//!
//! `yes`, `on`, `0777` as octal and dates are of YAML 1.1 and are not read as such.

use super::Kind;

/// A number that is written well but does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// What a plain (unquoted) scalar stands for.
pub(super) fn resolve(text: &str) -> Result<Kind, TooLarge> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Kind::Null),
        "true" | "True" | "TRUE" => return Ok(Kind::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Kind::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Ok(Kind::Float(f64::NAN)),
        _ => {}
    }
    if let Some((digits, radix)) = based(text) {
        return i128::from_str_radix(digits, radix)
            .map(Kind::Int)
            .map_err(|_| TooLarge);
    }
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Ok(Kind::Float(if negative {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        }));
    }
    if all_digits(unsigned) {
        return text.parse().map(Kind::Int).map_err(|_| TooLarge);
    }
    if is_decimal(unsigned) {
        return text.parse().map(Kind::Float).map_err(|_| TooLarge);
    }
    Ok(Kind::Str(text.to_owned()))
}

/// `0o17` and `0x1F`, without a sign: the digits and their base.
fn based(text: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match text.strip_prefix("0o") {
        Some(digits) => (digits, 8),
        None => (text.strip_prefix("0x")?, 16),
    };
    let fits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    fits.then_some((digits, radix))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => all_digits(fraction),
        Some((whole, fraction)) => {
            all_digits(whole) && (fraction.is_empty() || all_digits(fraction))
        }
        None => all_digits(mantissa),
    };
    let exponent_fits =
        exponent.is_none_or(|e| all_digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    mantissa_fits && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_and_nothing_of_yaml_1_1() {
        for (text, kind) in [
            ("", Kind::Null),
            ("~", Kind::Null),
            ("True", Kind::Bool(true)),
            ("FALSE", Kind::Bool(false)),
            ("-12", Kind::Int(-12)),
            ("+12", Kind::Int(12)),
            ("010", Kind::Int(10)),
            ("0o17", Kind::Int(15)),
            ("0xfF", Kind::Int(255)),
            ("1.", Kind::Float(1.0)),
            (".5", Kind::Float(0.5)),
            ("-1.5e3", Kind::Float(-1500.0)),
            ("1e3", Kind::Float(1000.0)),
            ("-.inf", Kind::Float(f64::NEG_INFINITY)),
        ] {
            assert_eq!(resolve(text), Ok(kind), "{text}");
        }
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "tRUE",
            "nULL",
            "0o8",
            "0x",
            "0xg",
            "-0x1",
            ".",
            "+",
            "-",
            "1e",
            "1e+",
            "e1",
            "1_000",
            "1.2.3",
            "inf",
            "nan",
            "-.nan",
            "2026-01-01",
            "1:30",
            "٣",
            "--1",
        ] {
            assert_eq!(resolve(text), Ok(Kind::Str(text.to_owned())), "{text}");
        }
        assert_eq!(resolve(&"9".repeat(60)), Err(TooLarge));
    }
}
