//! YAML text to a [`Node`] tree, with the place of each node.
//!
//! One document, no aliases, no tags, no merge keys, every key a text and unique. What a reviewer
//! sees in a manifest is then exactly what it says.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::scalar;
use super::{Bounds, Entry, Kind, MAX_DEPTH, Node, Position, Report};

impl Node {
    /// Reads one YAML document. Faults go to `report`; `None` when the text cannot be read on.
    ///
    /// A document with faults of its own (a key given twice, an alias, a tag) still yields a tree, so
    /// that the faults of its fields can be found in the same run.
    #[must_use]
    pub fn from_yaml(text: &str, report: &Report) -> Option<Self> {
        Self::from_yaml_within(Bounds::default(), text, report)
    }

    /// The same for a document that may be larger than those that people write.
    #[must_use]
    pub fn from_yaml_within(bounds: Bounds, text: &str, report: &Report) -> Option<Self> {
        if text.len() > bounds.bytes {
            report.fault(
                None,
                "",
                format!("the document has {} bytes", text.len()),
                format!("at most {} are read", bounds.bytes),
            );
            return None;
        }
        Builder::new(bounds.nodes, report).read(text)
    }
}

/// A collection that is still open.
enum Open {
    Seq {
        position: Position,
        items: Vec<Node>,
    },
    Map {
        position: Position,
        entries: Vec<Entry>,
        seen: BTreeMap<String, Position>,
        key: Key,
    },
}

/// Where a map stands between a key and its value.
enum Key {
    /// The next node is a key.
    Awaited,
    /// The next node is the value of this key.
    Read { text: String, position: Position },
    /// The next node is the value of a key that was refused; it is read and dropped.
    Refused,
}

struct Builder<'r> {
    report: &'r Report,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    most_nodes: usize,
}

impl<'r> Builder<'r> {
    fn new(most_nodes: usize, report: &'r Report) -> Self {
        Self {
            most_nodes,
            report,
            open: Vec::new(),
            root: None,
            nodes: 0,
        }
    }

    fn read(mut self, text: &str) -> Option<Node> {
        let mut parser = Parser::new_from_str(text);
        let mut documents = 0usize;
        while let Some(event) = parser.next_event() {
            let (event, span) = match event {
                Ok(read) => read,
                Err(error) => {
                    let at = error.marker();
                    let position = Position {
                        line: at.line(),
                        column: at.col() + 1,
                    };
                    self.report.fault(
                        Some(position),
                        "",
                        format!("this is no YAML: {}", error.info()),
                        "",
                    );
                    return None;
                }
            };
            let position = start(span);
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        self.report.fault(
                            Some(position),
                            "",
                            "a second document begins here",
                            "give each document a file of its own",
                        );
                        return None;
                    }
                }
                Event::Scalar(text, style, _, tag) => {
                    self.refuse_tag(tag.as_deref(), position);
                    let kind = self.scalar(text.into_owned(), style, position);
                    self.place(
                        Node {
                            kind,
                            position: Some(position),
                        },
                        style == ScalarStyle::Plain,
                    )?;
                }
                Event::Alias(_) => {
                    self.report.fault(
                        Some(position),
                        "",
                        "aliases (`*name`) are not read",
                        "write the value out",
                    );
                    self.place(
                        Node {
                            kind: Kind::Unreadable,
                            position: Some(position),
                        },
                        false,
                    )?;
                }
                Event::SequenceStart(_, tag) => {
                    self.refuse_tag(tag.as_deref(), position);
                    self.enter(
                        Open::Seq {
                            position,
                            items: Vec::new(),
                        },
                        position,
                    )?;
                }
                Event::MappingStart(_, tag) => {
                    self.refuse_tag(tag.as_deref(), position);
                    let map = Open::Map {
                        position,
                        entries: Vec::new(),
                        seen: BTreeMap::new(),
                        key: Key::Awaited,
                    };
                    self.enter(map, position)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.leave()?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        // An empty text is the document `null`.
        let nothing = Node {
            kind: Kind::Null,
            position: Some(Position { line: 1, column: 1 }),
        };
        Some(self.root.unwrap_or(nothing))
    }

    fn scalar(&self, text: String, style: ScalarStyle, position: Position) -> Kind {
        if style != ScalarStyle::Plain {
            return Kind::Str(text);
        }
        scalar::resolve(&text).unwrap_or_else(|scalar::TooLarge| {
            self.report.fault(
                Some(position),
                "",
                "the number is too large",
                "put it in quotes if it is meant as text",
            );
            Kind::Unreadable
        })
    }

    fn refuse_tag(&self, tag: Option<&Tag>, position: Position) {
        if tag.is_some() {
            self.report.fault(
                Some(position),
                "",
                "tags (`!name`) are not read",
                "leave the tag out",
            );
        }
    }

    /// Opens a collection, within the bounds.
    fn enter(&mut self, open: Open, position: Position) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            self.report.fault(
                Some(position),
                "",
                "the document is nested too deeply",
                format!("at most {MAX_DEPTH} levels are read"),
            );
            return None;
        }
        self.open.push(open);
        Some(())
    }

    /// Closes the innermost collection and puts it where it belongs.
    fn leave(&mut self) -> Option<()> {
        let node = match self.open.pop()? {
            Open::Seq { position, items } => Node {
                kind: Kind::Seq(items),
                position: Some(position),
            },
            Open::Map {
                position, entries, ..
            } => Node {
                kind: Kind::Map(entries),
                position: Some(position),
            },
        };
        self.place(node, false)
    }

    /// Puts a finished node into the innermost open collection, as item, key or value.
    fn place(&mut self, node: Node, plain: bool) -> Option<()> {
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            self.report.fault(
                node.position,
                "",
                "the document has too many values",
                format!("at most {} are read", self.most_nodes),
            );
            return None;
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Seq { items, .. }) => items.push(node),
            Some(Open::Map {
                entries, seen, key, ..
            }) => {
                *key = match std::mem::replace(key, Key::Awaited) {
                    Key::Awaited => take_key(node, plain, seen, self.report),
                    Key::Refused => Key::Awaited,
                    Key::Read { text, position } => {
                        // A value that is not there is reported where its key stands.
                        let value = match node.kind {
                            Kind::Null => Node {
                                position: Some(position),
                                ..node
                            },
                            _ => node,
                        };
                        entries.push(Entry {
                            key: text,
                            position: Some(position),
                            value,
                        });
                        Key::Awaited
                    }
                };
            }
        }
        Some(())
    }
}

fn take_key(
    node: Node,
    plain: bool,
    seen: &mut BTreeMap<String, Position>,
    report: &Report,
) -> Key {
    let (text, position) = match (node.kind, node.position) {
        (Kind::Str(text), Some(position)) => (text, position),
        (Kind::Unreadable, _) => return Key::Refused,
        (_, position) => {
            report.fault(position, "", "a key must be text", "put it in quotes");
            return Key::Refused;
        }
    };
    if plain && text == "<<" {
        report.fault(
            Some(position),
            "",
            "merge keys (`<<`) are not read",
            "write the fields out",
        );
        return Key::Refused;
    }
    if let Some(first) = seen.get(&text) {
        report.fault(
            Some(position),
            super::excerpt(&text),
            "this key is given twice",
            format!("the first is at {first}; keep one"),
        );
        return Key::Refused;
    }
    seen.insert(text.clone(), position);
    Key::Read { text, position }
}

fn start(span: Span) -> Position {
    Position {
        line: span.start.line(),
        column: span.start.col() + 1,
    }
}
