//! A text with the encodings undone that a secret may have gone through on its way into it.

use std::ops::Range;

/// At most so many encodings, one within the other, are undone: an escaped text in an escaped text, a
/// URL in JSON.
const MAX_LAYERS: usize = 2;

/// A decoded text, each byte with the part of the text that it came from.
pub(super) struct Layer {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

/// What the bytes begin with, decoded, and how many of them it took; `None` where nothing is encoded.
type First = fn(&[u8]) -> Option<(Vec<u8>, usize)>;

const ENCODINGS: [First; 2] = [percent, escape];

/// The text with one or more encodings undone, in each order in which there is something to undo.
pub(super) fn decoded(text: &str) -> Vec<Layer> {
    if !text.contains(['%', '\\']) {
        return Vec::new();
    }
    let plain = Layer {
        bytes: text.as_bytes().to_vec(),
        places: (0..text.len()).map(|at| at..at + 1).collect(),
    };
    let mut all: Vec<Layer> = Vec::new();
    let mut last = vec![plain];
    for _ in 0..MAX_LAYERS {
        let undone = |layer: &Layer| ENCODINGS.map(|first| layer.undone(first));
        let next = last.iter().flat_map(undone).flatten().collect();
        all.extend(std::mem::replace(&mut last, next));
    }
    all.extend(last);
    all.remove(0);
    all
}

impl Layer {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part of the text that a part of the bytes, which is not empty, came from.
    pub(super) fn origin(&self, part: Range<usize>) -> Option<Range<usize>> {
        let places = self.places.get(part)?;
        Some(places.first()?.start..places.last()?.end)
    }

    /// This layer with an encoding undone; `None` where there is nothing to undo.
    fn undone(&self, first: First) -> Option<Self> {
        let mut layer = Self {
            bytes: Vec::with_capacity(self.bytes.len()),
            places: Vec::with_capacity(self.bytes.len()),
        };
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (bytes, taken) = match first(rest) {
                Some(decoded) => decoded,
                None => (rest.iter().take(1).copied().collect(), 1),
            };
            let origin = self.origin(at..at + taken)?;
            layer.places.extend(bytes.iter().map(|_| origin.clone()));
            layer.bytes.extend(bytes);
            at += taken;
        }
        (layer.bytes != self.bytes).then_some(layer)
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
fn percent(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    Some((vec![u8::try_from(hexadecimal(digits)?).ok()?], 3))
}

/// The escapes of JSON (RFC 8259, section 7), and those of Rust's debug print
/// (<https://doc.rust-lang.org/reference/tokens.html#character-escapes>), which other languages have
/// too.
fn escape(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (kind, rest) = bytes.strip_prefix(b"\\")?.split_first()?;
    let byte = match kind {
        b'"' | b'\'' | b'\\' | b'/' => *kind,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'0' => 0,
        b'x' => return Some((vec![u8::try_from(hexadecimal(rest.get(..2)?)?).ok()?], 4)),
        b'u' => return unicode(rest).map(|(c, taken)| (c.to_string().into_bytes(), 2 + taken)),
        _ => return None,
    };
    Some((vec![byte], 2))
}

/// What follows `\u`: `{`, digits and `}`, or four digits, or two times four of a surrogate pair.
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    if let Some(inner) = bytes.strip_prefix(b"{") {
        let digits = inner.iter().take(7).position(|byte| *byte == b'}')?;
        let c = char::from_u32(hexadecimal(inner.get(..digits)?)?)?;
        return Some((c, digits + 2));
    }
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 4).and_then(hexadecimal);
        digits.and_then(|unit| u16::try_from(unit).ok())
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 4));
    }
    let second = unit(6).filter(|_| bytes.get(4..6) == Some(b"\\u"))?;
    let mut pair = char::decode_utf16([first, second]);
    pair.next()?.ok().map(|c| (c, 10))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| all_digits)?;
    u32::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<String> {
        let read = |layer: Layer| String::from_utf8_lossy(layer.bytes()).into_owned();
        decoded(text).into_iter().map(read).collect()
    }

    #[test]
    fn each_escape_is_undone_and_what_is_none_stays() {
        for (text, plain) in [
            (r#"\"\\\/\'\n\r\t\b\f\0"#, "\"\\/'\n\r\t\u{8}\u{c}\0"),
            (r"\u00e9\u00E9\u{e9}\xc3\xa9", "éééé"),
            (r"\ud83d\ude00\u{1F600}", "😀😀"),
            (
                r"\t\q\u12\u{}\u{1234567}\ud83dx\x+1",
                "\t\\q\\u12\\u{}\\u{1234567}\\ud83dx\\x+1",
            ),
            ("%41%c3%A9%%4x%4", "Aé%%4x%4"),
            (r"%\", r"%\"),
        ] {
            let read = read(text);
            if text == plain {
                assert!(read.is_empty(), "{read:?}");
            } else {
                assert_eq!(read.first().map(String::as_str), Some(plain), "{text}");
            }
        }
        assert!(decoded("plain").is_empty());
    }

    #[test]
    fn two_layers_are_undone_in_either_order_and_no_third() {
        assert!(
            read(r"\\\\n").contains(&"\\n".to_owned()),
            "{:?}",
            read(r"\\\\n")
        );
        assert!(!read(r"\\\\n").contains(&"\n".to_owned()));
        assert!(read("%255cn").contains(&"\\n".to_owned()));
        assert!(read(r"\u002541").contains(&"A".to_owned()));
        assert!(read("%5cn").contains(&"\n".to_owned()));
    }

    proptest! {
        #[test]
        fn each_byte_knows_its_origin(text in "[a%\\\\unx4c6é{}]{0,20}") {
            for layer in decoded(&text) {
                for at in 0..layer.bytes().len() {
                    let origin = layer.origin(at..at + 1).unwrap();
                    // Nothing is lost between two bytes.
                    let before = at.checked_sub(1).map_or(0, |at| layer.origin(at..at + 1).unwrap().end);
                    prop_assert!(origin.start == before || Some(&origin) == at.checked_sub(1).and_then(|at| layer.origin(at..at + 1)).as_ref());
                }
                let whole = layer.origin(0..layer.bytes().len());
                prop_assert_eq!(whole, Some(0..text.len()));
            }
        }
    }
}
