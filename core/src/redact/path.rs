//! The paths that a redaction takes: `$`, then member names, indices and wildcards.
//!
//! The grammar is a part of JSONPath (RFC 9535, sections 2.3 and 2.5,
//! <https://www.rfc-editor.org/rfc/rfc9535>): what it takes means there what it means here, but for
//! the names, in which ASCII letters have no case.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

/// The longest path, in characters.
pub const MAX_PATH_LENGTH: usize = 256;

/// The most steps that a path may have.
pub const MAX_STEPS: usize = 32;

/// Where in a JSON value something is to be hidden; [`parse`](Self::parse) has the grammar.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RedactionPath(Vec<Step>);

/// One step from a value to what stands in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step {
    /// The members of an object that have this name, in any case of its ASCII letters.
    Member(String),
    /// One element of an array, from 0.
    Element(usize),
    /// Each member of an object, each element of an array.
    Every,
}

/// Why a text is no [`RedactionPath`]: where, what, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {mistake}")]
pub struct PathFault {
    /// The character at which it goes wrong, from 1; one past the end where something is missing.
    pub at: usize,
    /// What is wrong there.
    pub mistake: PathMistake,
}

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathMistake {
    /// It does not begin with `$`.
    #[error("a path begins with `$`, which is the whole value; write `$.name`")]
    NoRoot,
    /// No step begins here.
    #[error(
        "expected the next step, `.name`, `['any-name']`, `[0]` or `[*]`; a name with other characters than letters, digits and `_` stands in brackets and quotes"
    )]
    NoStep,
    /// It asks for any depth.
    #[error("`..` is not supported; write each step on the way, `[*]` for any name or index")]
    AnyDepth,
    /// No name is after the dot.
    #[error(
        "expected a name that begins with a letter or `_`, or `*`; write any other name as `['any-name']`, without the dot"
    )]
    NoName,
    /// Neither a name, an index nor `*` is in the brackets.
    #[error("expected one name in single quotes, one index, or `*`, and then `]`")]
    NotInBrackets,
    /// A name is in double quotes.
    #[error("a name stands in single quotes; write `['any-name']`")]
    DoubleQuotes,
    /// The path ends within brackets or quotes.
    #[error("the path ends before its brackets do; close them, as in `['any-name']` or `[0]`")]
    Unclosed,
    /// A backslash is before something else than a quote or a backslash.
    #[error(
        "a `\\` in a name stands before `'` or another `\\`; write `\\\\` for the character itself"
    )]
    Escape,
    /// A control character is in a name.
    #[error("a control character cannot stand in a path; use `[*]` to hide a name that has one")]
    Control,
    /// It is not the one spelling of an index.
    #[error(
        "an index is 0 or more, without a sign, a zero before it or a fraction; write `[*]` for all elements"
    )]
    Index,
    /// It is longer than [`MAX_PATH_LENGTH`].
    #[error("a path has at most 256 characters; end it earlier, at what holds the value")]
    TooLong,
    /// It has more steps than [`MAX_STEPS`].
    #[error("a path has at most 32 steps; end it earlier, at what holds the value")]
    TooManySteps,
}

impl RedactionPath {
    /// Reads a path: `$`, the whole value, and any number of steps.
    ///
    /// | step | goes to |
    /// |---|---|
    /// | `.name` | the members of that name: a letter or `_`, then letters, digits and `_`; every character outside ASCII counts as a letter |
    /// | `['any name']` | the members of that name; `\'` and `\\` stand for `'` and `\` |
    /// | `[0]` | one element of an array |
    /// | `[*]`, `.*` | each element of an array, each member of an object |
    ///
    /// Names are compared without the case of ASCII letters, as HTTP has it for its header fields
    /// (RFC 9110, section 5.1), and every member whose name matches is meant.
    ///
    /// # Errors
    /// [`PathFault`] for everything else; no text is taken for a path that finds nothing.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        if text.chars().nth(MAX_PATH_LENGTH).is_some() {
            return Err(PathFault {
                at: MAX_PATH_LENGTH + 1,
                mistake: PathMistake::TooLong,
            });
        }
        let mut reader = Reader {
            rest: text.chars().peekable(),
            at: 1,
        };
        if !reader.takes('$') {
            return Err(reader.fault(PathMistake::NoRoot));
        }
        let mut steps = Vec::new();
        while reader.rest.peek().is_some() {
            if steps.len() == MAX_STEPS {
                return Err(reader.fault(PathMistake::TooManySteps));
            }
            steps.push(reader.step()?);
        }
        Ok(Self(steps))
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl Step {
    pub(super) fn selects_member(&self, name: &str) -> bool {
        match self {
            Self::Member(wanted) => wanted.eq_ignore_ascii_case(name),
            Self::Element(_) => false,
            Self::Every => true,
        }
    }

    pub(super) fn selects_element(&self, index: usize) -> bool {
        match self {
            Self::Member(_) => false,
            Self::Element(wanted) => *wanted == index,
            Self::Every => true,
        }
    }
}

/// Whether anything stands where the steps lead.
pub(super) fn finds(steps: &[Step], value: &Value) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return true;
    };
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, inner)| step.selects_member(name) && finds(rest, inner)),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .any(|(index, inner)| step.selects_element(index) && finds(rest, inner)),
        _ => false,
    }
}

/// Puts the marker in place of all that stands where the steps lead.
pub(super) fn replace(steps: &[Step], value: &mut Value, marker: &str) {
    let Some((step, rest)) = steps.split_first() else {
        *value = Value::String(marker.to_owned());
        return;
    };
    match value {
        Value::Object(members) => members
            .iter_mut()
            .filter(|(name, _)| step.selects_member(name))
            .for_each(|(_, inner)| replace(rest, inner, marker)),
        Value::Array(elements) => elements
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| step.selects_element(*index))
            .for_each(|(_, inner)| replace(rest, inner, marker)),
        _ => {}
    }
}

/// A path under way.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// The next character, from 1.
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.at += 1;
        Some(next)
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.next_if(|next| next == wanted).is_some()
    }

    fn next_if(&mut self, wanted: impl FnOnce(char) -> bool) -> Option<char> {
        let next = self.rest.next_if(|next| wanted(*next))?;
        self.at += 1;
        Some(next)
    }

    fn fault(&self, mistake: PathMistake) -> PathFault {
        let at = self.at;
        PathFault { at, mistake }
    }

    fn step(&mut self) -> Result<Step, PathFault> {
        if self.takes('.') {
            return self.after_dot();
        }
        if !self.takes('[') {
            return Err(self.fault(PathMistake::NoStep));
        }
        let step = match self.rest.peek() {
            Some('*') => {
                self.next();
                Step::Every
            }
            Some('\'') => Step::Member(self.quoted()?),
            Some('0'..='9' | '-' | '+') => Step::Element(self.index()?),
            Some('"') => return Err(self.fault(PathMistake::DoubleQuotes)),
            Some(_) => return Err(self.fault(PathMistake::NotInBrackets)),
            None => return Err(self.fault(PathMistake::Unclosed)),
        };
        if self.takes(']') {
            return Ok(step);
        }
        let mistake = match self.rest.peek() {
            Some(_) => PathMistake::NotInBrackets,
            None => PathMistake::Unclosed,
        };
        Err(self.fault(mistake))
    }

    fn after_dot(&mut self) -> Result<Step, PathFault> {
        if self.takes('*') {
            return Ok(Step::Every);
        }
        if self.rest.peek() == Some(&'.') {
            return Err(self.fault(PathMistake::AnyDepth));
        }
        let Some(first) = self.next_if(begins_name) else {
            return Err(self.fault(PathMistake::NoName));
        };
        let mut name = String::from(first);
        while let Some(next) = self.next_if(goes_on_name) {
            name.push(next);
        }
        Ok(Step::Member(name))
    }

    fn quoted(&mut self) -> Result<String, PathFault> {
        self.next();
        let mut name = String::new();
        loop {
            match self.rest.peek() {
                None => return Err(self.fault(PathMistake::Unclosed)),
                Some(control) if control.is_control() => {
                    return Err(self.fault(PathMistake::Control));
                }
                Some(_) => {}
            }
            match self.next() {
                Some('\'') => return Ok(name),
                Some('\\') => match self.next_if(|next| matches!(next, '\'' | '\\')) {
                    Some(escaped) => name.push(escaped),
                    None => return Err(self.fault(PathMistake::Escape)),
                },
                other => name.extend(other),
            }
        }
    }

    fn index(&mut self) -> Result<usize, PathFault> {
        let fault = self.fault(PathMistake::Index);
        let mut digits = String::new();
        while let Some(next) = self.next_if(|next| !matches!(next, ']' | ',' | ':')) {
            digits.push(next);
        }
        let index = digits.parse().ok();
        index
            .filter(|index: &usize| index.to_string() == digits)
            .ok_or(fault)
    }
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn goes_on_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}

/// The canonical spelling: [`RedactionPath::parse`] reads it back.
impl fmt::Display for RedactionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| match step {
            Step::Every => f.write_str("[*]"),
            Step::Element(index) => write!(f, "[{index}]"),
            Step::Member(name) if is_short(name) => write!(f, ".{name}"),
            Step::Member(name) => {
                let escaped = name.replace('\\', r"\\").replace('\'', r"\'");
                write!(f, "['{escaped}']")
            }
        })
    }
}

fn is_short(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(goes_on_name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use PathMistake as M;
    use proptest::prelude::*;

    #[test]
    fn each_step_has_its_spellings_and_one_of_them_is_canonical() {
        for (text, canonical) in [
            ("$", "$"),
            ("$.value", "$.value"),
            ("$['value']", "$.value"),
            ("$.headers['x-api-key']", "$.headers['x-api-key']"),
            ("$.*", "$[*]"),
            ("$[*][0].a_1", "$[*][0].a_1"),
            (r"$['it\'s']['a\\b']['']", r"$['it\'s']['a\\b']['']"),
            ("$['*']['0']", "$['*']['0']"),
            ("$.é", "$.é"),
        ] {
            let path = RedactionPath::parse(text).unwrap();
            assert_eq!(path.to_string(), canonical);
        }
    }

    #[test]
    fn whatever_else_is_refused_where_it_goes_wrong() {
        let nested = format!("${}", ".a".repeat(MAX_STEPS + 1));
        let long = format!("$.{}", "é".repeat(MAX_PATH_LENGTH));
        for (text, at, mistake) in [
            ("", 1, M::NoRoot),
            ("value", 1, M::NoRoot),
            (" $", 1, M::NoRoot),
            ("/headers/cookie", 1, M::NoRoot),
            ("$value", 2, M::NoStep),
            ("$.é-key", 4, M::NoStep),
            ("$.a ", 4, M::NoStep),
            ("$ .a", 2, M::NoStep),
            ("$.a]", 4, M::NoStep),
            ("$..a", 3, M::AnyDepth),
            ("$.", 3, M::NoName),
            ("$.1", 3, M::NoName),
            ("$.['a']", 3, M::NoName),
            ("$.a.", 5, M::NoName),
            ("$[", 3, M::Unclosed),
            ("$['a", 5, M::Unclosed),
            ("$['a'", 6, M::Unclosed),
            ("$[0", 4, M::Unclosed),
            ("$[]", 3, M::NotInBrackets),
            ("$[a]", 3, M::NotInBrackets),
            ("$[ 0]", 3, M::NotInBrackets),
            ("$[?@.a]", 3, M::NotInBrackets),
            ("$[:1]", 3, M::NotInBrackets),
            ("$[0:1]", 4, M::NotInBrackets),
            ("$['a','b']", 6, M::NotInBrackets),
            ("$[*,0]", 4, M::NotInBrackets),
            (r#"$["a"]"#, 3, M::DoubleQuotes),
            (r"$['\n']", 5, M::Escape),
            (r"$['a\", 6, M::Escape),
            ("$['a\u{7}']", 5, M::Control),
            ("$[-1]", 3, M::Index),
            ("$[+1]", 3, M::Index),
            ("$[01]", 3, M::Index),
            ("$[1.5]", 3, M::Index),
            ("$[0 ]", 3, M::Index),
            ("$[99999999999999999999999]", 3, M::Index),
            (nested.as_str(), 2 + 2 * MAX_STEPS, M::TooManySteps),
            (long.as_str(), MAX_PATH_LENGTH + 1, M::TooLong),
        ] {
            let fault = RedactionPath::parse(text).expect_err(text);
            assert_eq!(fault, PathFault { at, mistake }, "{text}");
        }
        let told = RedactionPath::parse("$.headers.x-key")
            .unwrap_err()
            .to_string();
        assert!(
            told.starts_with("at character 12: expected the next step"),
            "{told}"
        );
    }

    pub(in crate::redact) fn paths() -> impl Strategy<Value = RedactionPath> {
        let step = prop_oneof![
            4 => "[abAB]|x-y|it's|\\\\|é1|_2|[ -~]{0,4}".prop_map(Step::Member),
            1 => (0usize..4).prop_map(Step::Element),
            1 => Just(Step::Every),
        ];
        prop::collection::vec(step, 0..4).prop_map(RedactionPath)
    }

    proptest! {
        #[test]
        fn what_is_displayed_is_read_back(path in paths()) {
            prop_assert_eq!(RedactionPath::parse(&path.to_string()), Ok(path));
        }

        #[test]
        fn what_is_read_has_one_canonical_spelling(text in "\\$[.\\[\\]'\\\\*a0é ]{0,9}|\\PC{0,9}") {
            if let Ok(path) = RedactionPath::parse(&text) {
                let canonical = path.to_string();
                let again = RedactionPath::parse(&canonical);
                prop_assert_eq!(again.map(|path| path.to_string()), Ok(canonical));
            }
        }
    }
}
