//! Five hundred handlers, described once: what both crates are written from.
//!
//! Everything follows from a handler's number, so every run builds the same code.

/// Modules of a crate.
const AREAS: [&str; 10] = [
    "calendar", "files", "invoices", "mail", "notes", "orders", "people", "rooms", "tasks",
    "travel",
];
const VERBS: [&str; 5] = ["add", "find", "list", "move", "read"];
const NOUNS: [&str; 10] = [
    "batch", "change", "comment", "draft", "page", "group", "photo", "label", "reply", "summary",
];
/// What payloads are put together from: name, type, and what it says to the model.
const FIELDS: [Field; 12] = [
    Field::new("title", Kind::Text, "What it is called, in one line."),
    Field::new("limit", Kind::Integer, "At most so many."),
    Field::new("urgent", Kind::Flag, "Whether it comes before all others."),
    Field::new(
        "note",
        Kind::PerhapsText,
        "A remark for whoever reads it next.",
    ),
    Field::new("labels", Kind::Texts, "The labels that it bears."),
    Field::new("place", Kind::Place, "Where it is."),
    Field::new("folder", Kind::Text, "The folder that it lies in."),
    Field::new("offset", Kind::Integer, "How many to pass over."),
    Field::new("archived", Kind::Flag, "Whether to look at old ones too."),
    Field::new("rank", Kind::Rank, "How much it matters."),
    Field::new(
        "owner",
        Kind::PerhapsText,
        "Whose it is, where that is known.",
    ),
    Field::new("people", Kind::Texts, "Who takes part."),
];
const MOST_FIELDS: usize = 6;

/// One module: its name, and its handlers.
pub struct Area {
    /// The module's name.
    pub name: &'static str,
    /// Fifty of them.
    pub handlers: Vec<Handler>,
}

/// One handler, whatever it is annotated with.
pub struct Handler {
    /// What it does.
    pub verb: &'static str,
    /// What it does it to.
    pub noun: &'static str,
    /// What the model is told of it.
    pub description: String,
    /// Whether it says that it changes nothing.
    pub read_only: bool,
    /// The payload's fields, one to six.
    pub fields: Vec<Field>,
}

/// One field of a payload.
#[derive(Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its doc comment.
    pub doc: &'static str,
}

/// The type of a field.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `String`
    Text,
    /// `u32`, with a range
    Integer,
    /// `bool`
    Flag,
    /// `Option<String>`
    PerhapsText,
    /// `Vec<String>`
    Texts,
    /// A struct of the same module.
    Place,
    /// An enum of the same module.
    Rank,
}

impl Field {
    const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, doc }
    }
}

impl Handler {
    fn new(area: &str, verb: &'static str, noun: &'static str, number: usize) -> Self {
        // Five and twelve have no factor in common, so no name comes twice.
        let fields = (0..=number % MOST_FIELDS)
            .filter_map(|nth| FIELDS.get((number / MOST_FIELDS + number + nth * 5) % FIELDS.len()))
            .copied()
            .collect();
        Self {
            verb,
            noun,
            description: format!("{} a {noun} of the {area}.", capitalized(verb)),
            read_only: number % 2 == 1,
            fields,
        }
    }

    /// `ReadReply`, the payload's name.
    #[must_use]
    pub fn payload(&self) -> String {
        capitalized(self.verb) + &capitalized(self.noun)
    }
}

/// All of them, by module.
#[must_use]
pub fn areas() -> Vec<Area> {
    let handlers_of = |area: usize, name| {
        let pairs = VERBS
            .iter()
            .flat_map(|verb| NOUNS.iter().map(move |noun| (verb, noun)));
        let first = area * VERBS.len() * NOUNS.len();
        pairs
            .zip(first..)
            .map(|((verb, noun), number)| Handler::new(name, verb, noun, number))
            .collect()
    };
    AREAS
        .iter()
        .enumerate()
        .map(|(number, name)| Area {
            name,
            handlers: handlers_of(number, name),
        })
        .collect()
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}
