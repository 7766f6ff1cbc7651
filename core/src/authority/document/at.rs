//! A cursor into a document: a node, its path, and where its faults go.

use super::{Decode, Entry, Kind, Node, Position, Report, excerpt};

/// A node together with the path that leads to it and the report that its faults go to.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    node: &'a Node,
    report: &'a Report,
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The root of a document.
    #[must_use]
    pub fn root(node: &'a Node, report: &'a Report) -> Self {
        Self {
            node,
            report,
            parent: None,
            step: Step::Root,
        }
    }

    /// The node here.
    #[must_use]
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Where the node begins.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.node.position
    }

    /// The path from the root, such as `states[0].steps[1].kind`; empty for the root.
    #[must_use]
    pub fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut here = Some(self);
        while let Some(at) = here {
            steps.push(at.step);
            here = at.parent;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => {}
                Step::Key(key) => join(&mut path, key),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    /// Notes a fault of this node. A value whose fault is known already gets no second one.
    pub fn fault(&self, message: impl Into<String>, remedy: impl Into<String>) {
        if self.node.kind != Kind::Unreadable {
            self.report
                .fault(self.position(), self.path(), message, remedy);
        }
    }

    /// Notes that another kind of value stands here than the `expected` one.
    pub fn mismatch(&self, expected: &str) {
        self.fault(
            format!("expected {expected}, found {}", self.node.describe()),
            "",
        );
    }

    /// Reads a map by its fields. Fields that `read` did not ask for are faults, so `read` must ask
    /// for all of them before it gives up. The value is given all the same, so that what else is
    /// wrong with it is found in the same run; the report stands in its way.
    pub fn record<T>(&self, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Option<T> {
        let Kind::Map(entries) = &self.node.kind else {
            self.mismatch("a map of fields");
            return None;
        };
        let mut fields = Fields {
            at: self,
            entries,
            asked: Vec::new(),
        };
        let value = read(&mut fields);
        fields.finish();
        value
    }

    /// Reads every item of a list; `None` if any of them has a fault. `items` is the plural of what
    /// the list holds.
    pub fn list<T: Decode>(&self, items: &str) -> Option<Vec<T>> {
        let Kind::Seq(nodes) = &self.node.kind else {
            self.mismatch(&format!("a list of {items}"));
            return None;
        };
        let read: Vec<Option<T>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| T::decode(&self.child(node, Step::Index(index))))
            .collect();
        read.into_iter().collect()
    }

    /// Reads every value of a map with free keys, in the order written; `None` if any has a fault.
    pub fn entries<T: Decode>(&self) -> Option<Vec<(String, T)>> {
        let Kind::Map(entries) = &self.node.kind else {
            self.mismatch("a map");
            return None;
        };
        let read: Vec<Option<(String, T)>> = entries
            .iter()
            .map(|entry| {
                let value = T::decode(&self.child(&entry.value, Step::Key(&entry.key)))?;
                Some((entry.key.clone(), value))
            })
            .collect();
        read.into_iter().collect()
    }

    fn child<'b>(&'b self, node: &'b Node, step: Step<'b>) -> At<'b> {
        At {
            node,
            report: self.report,
            parent: Some(self),
            step,
        }
    }
}

/// The fields of a map while they are being read.
///
/// Every reader notes its own fault and returns `None`; read all fields first and only then put the
/// value together with `?`, so that one run finds all faults.
#[derive(Debug)]
pub struct Fields<'a> {
    at: &'a At<'a>,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
}

impl Fields<'_> {
    /// A field that must be there.
    pub fn required<T: Decode>(&mut self, key: &'static str) -> Option<T> {
        match self.read(key) {
            Some(read) => read,
            None => {
                let mut path = self.at.path();
                join(&mut path, key);
                self.at.report.fault(
                    self.at.position(),
                    path,
                    "it is missing",
                    format!("add it, with {}", T::expected()),
                );
                None
            }
        }
    }

    /// A field that may be absent or null: then the inner value is `None`.
    pub fn optional<T: Decode>(&mut self, key: &'static str) -> Option<Option<T>> {
        self.or(key, || None)
    }

    /// A field that has a default when it is absent. Null is no absence, except for an `Option`.
    pub fn or<T: Decode>(&mut self, key: &'static str, default: impl FnOnce() -> T) -> Option<T> {
        self.read(key).unwrap_or_else(|| Some(default()))
    }

    /// The field if it is there; the inner value is `None` when it has a fault.
    fn read<T: Decode>(&mut self, key: &'static str) -> Option<Option<T>> {
        self.asked.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(T::decode(&self.at.child(&entry.value, Step::Key(key))))
    }

    /// Reports every field that nobody asked for.
    fn finish(self) {
        for entry in self.entries {
            if self.asked.contains(&entry.key.as_str()) {
                continue;
            }
            let mut path = self.at.path();
            join(&mut path, &entry.key);
            let remedy = match nearest(&entry.key, &self.asked) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known here: {}", self.asked.join(", ")),
            };
            self.at
                .report
                .fault(entry.position, path, "there is no such field", remedy);
        }
    }
}

/// The name that was probably meant, if one is near enough.
pub(super) fn nearest<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    // Bounds the work; no name that is known is as long as that.
    if written.len() > 64 {
        return None;
    }
    names
        .iter()
        .map(|name| (strsim::jaro_winkler(written, name), *name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

fn join(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&excerpt(key));
}
