//! What is wrong with a file, where, and how to mend it: every fault at once.

use std::cell::{Cell, RefCell};
use std::fmt;

/// The most faults that one [`Report`] lists; further ones are only counted.
pub const MAX_FAULTS: usize = 200;

/// A place in a text, both counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One fault of a file.
///
/// Its text is ``file:line:column: field `x.y`: what; how to mend it``, without the parts that are
/// not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file, as the caller named it.
    pub file: Option<String>,
    /// The place in the file.
    pub position: Option<Position>,
    /// The path of the field, such as `states[0].steps[1].kind`; empty for the whole document.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it; empty where the message says it all.
    pub remedy: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if let Some(position) = &self.position {
            write!(f, "{position}:")?;
        }
        if self.file.is_some() || self.position.is_some() {
            f.write_str(" ")?;
        }
        if !self.field.is_empty() {
            write!(f, "field `{}`: ", self.field)?;
        }
        f.write_str(&self.message)?;
        if self.remedy.is_empty() {
            Ok(())
        } else {
            write!(f, "; {}", self.remedy)
        }
    }
}

/// All faults of one or more files, sorted by file and place. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Sorts faults into an error; `None` when there are none.
    #[must_use]
    pub fn of(mut faults: Vec<Fault>) -> Option<Self> {
        faults.sort();
        faults.dedup();
        (!faults.is_empty()).then_some(Self(faults))
    }

    /// A single fault.
    #[must_use]
    pub fn one(fault: Fault) -> Self {
        Self(vec![fault])
    }

    /// The faults, sorted by file and place.
    #[must_use]
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// The faults themselves, to be listed together with those of other files.
    #[must_use]
    pub fn into_vec(self) -> Vec<Fault> {
        self.0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Gathers the faults of one file while it is being read.
#[derive(Debug, Default)]
pub struct Report {
    file: Option<String>,
    faults: RefCell<Vec<Fault>>,
    unlisted: Cell<usize>,
}

impl Report {
    /// A report on a named file.
    #[must_use]
    pub fn of_file(file: &str) -> Self {
        Self {
            file: Some(file.to_owned()),
            ..Self::default()
        }
    }

    /// A report on a value that comes from no file.
    #[must_use]
    pub fn of_value() -> Self {
        Self::default()
    }

    /// Notes a fault. Beyond [`MAX_FAULTS`] it is only counted.
    pub fn fault(
        &self,
        position: Option<Position>,
        field: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let mut faults = self.faults.borrow_mut();
        if faults.len() >= MAX_FAULTS {
            self.unlisted.set(self.unlisted.get().saturating_add(1));
            return;
        }
        faults.push(Fault {
            file: self.file.clone(),
            position,
            field: field.into(),
            message: message.into(),
            remedy: remedy.into(),
        });
    }

    /// Whether nothing was found so far.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults.borrow().is_empty()
    }

    /// The faults found, unsorted; the last one says how many were not listed, if any.
    #[must_use]
    pub fn into_faults(self) -> Vec<Fault> {
        let mut faults = self.faults.into_inner();
        if self.unlisted.get() > 0 {
            faults.push(Fault {
                file: self.file,
                position: None,
                field: String::new(),
                message: format!("{} further faults are not listed", self.unlisted.get()),
                remedy: "mend the listed ones first".to_owned(),
            });
        }
        faults
    }

    /// The value that was read, if there was no fault at all.
    ///
    /// # Errors
    /// Every fault of the file. A missing value is an error even if nobody noted a fault.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Faults> {
        let file = self.file.clone();
        match (value, Faults::of(self.into_faults())) {
            (Some(value), None) => Ok(value),
            (_, Some(faults)) => Err(faults),
            (None, None) => Err(Faults::one(Fault {
                file,
                position: None,
                field: String::new(),
                message: "the document could not be read".to_owned(),
                remedy: String::new(),
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(file: &str, line: usize) -> Fault {
        Fault {
            file: Some(file.to_owned()),
            position: Some(Position { line, column: 3 }),
            field: "when.actor".to_owned(),
            message: "no such field".to_owned(),
            remedy: "did you mean `actors`?".to_owned(),
        }
    }

    #[test]
    fn a_fault_says_where_what_and_how_to_mend_it() {
        let mut one = fault("routes/a.yaml", 7);
        assert_eq!(
            one.to_string(),
            "routes/a.yaml:7:3: field `when.actor`: no such field; did you mean `actors`?"
        );
        one.file = None;
        one.position = None;
        one.remedy.clear();
        assert_eq!(one.to_string(), "field `when.actor`: no such field");
    }

    #[test]
    fn faults_are_listed_by_file_and_line_and_only_once() {
        let faults = Faults::of(vec![
            fault("b", 1),
            fault("a", 10),
            fault("a", 9),
            fault("b", 1),
        ])
        .unwrap();
        let text = faults.to_string();
        let starts: Vec<&str> = text
            .lines()
            .map(|line| line.split_once(": ").unwrap().0)
            .collect();
        assert_eq!(starts, ["a:9:3", "a:10:3", "b:1:3"]);
    }

    #[test]
    fn a_missing_value_is_never_a_success() {
        let faults = Report::of_value().finish::<u32>(None).unwrap_err();
        assert_eq!(faults.as_slice().len(), 1);
    }

    #[test]
    fn a_flood_of_faults_is_counted_not_kept() {
        let report = Report::of_file("a");
        for line in 0..MAX_FAULTS + 5 {
            report.fault(Some(Position { line, column: 1 }), "", "bad", "");
        }
        let faults = report.finish(Some(())).unwrap_err();
        assert_eq!(faults.as_slice().len(), MAX_FAULTS + 1);
        assert!(faults.to_string().contains("5 further faults"));
    }
}
