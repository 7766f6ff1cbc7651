//! An HTML mail as readable text.
//!
//! The page is read as a stream of tags in one pass, without a tree: time and memory grow with
//! its length alone, however its author nested it. What a mail program would not show (scripts,
//! styles, elements hidden by their own style) is left out, since text that only a model can see
//! is a way to give it orders.

use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};

/// Characters of a link's address that are shown.
const URL_CHARS: usize = 1_000;
/// Marks of quotation or lists that are kept count of; deeper ones look like the deepest.
const NESTING: usize = 8;

/// Elements whose content is not text for a reader.
const UNSHOWN: [&str; 12] = [
    "audio", "canvas", "datalist", "iframe", "noframes", "object", "script", "style", "svg",
    "template", "title", "video",
];
/// Elements that have no content, and therefore no end tag.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];
/// Elements that stand on lines of their own.
const BLOCKS: [&str; 21] = [
    "address",
    "article",
    "aside",
    "caption",
    "center",
    "dd",
    "div",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "legend",
    "main",
    "nav",
    "section",
    "tbody",
    "thead",
    "tr",
];
/// Elements with a blank line around them.
const PARAGRAPHS: [&str; 13] = [
    "blockquote",
    "dl",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ol",
    "p",
    "pre",
    "table",
    "ul",
];
/// Styles of an element that nobody sees.
const HIDING: [&str; 6] = [
    "display:none",
    "visibility:hidden",
    "opacity:0",
    "max-height:0",
    "max-height:0px",
    "mso-hide:all",
];

/// The text of a page, about `most` bytes of it.
pub(super) fn to_text(page: &str, most: usize) -> String {
    let mut emitter = DefaultEmitter::default();
    // Without a tree, the tokenizer is told by each tag whether markup or raw text follows.
    emitter.naively_switch_states(true);
    let mut writer = Writer::default();
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => writer.start(&tag),
            Token::EndTag(tag) => writer.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => writer.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        // Later steps drop characters, so somewhat more than `most` is kept for them.
        if writer.out.len() > most.saturating_mul(2) {
            break;
        }
    }
    writer.out
}

/// What has been written, and what is due before the next word.
#[derive(Default)]
struct Writer {
    out: String,
    due: Due,
    /// Within these many `pre`, `blockquote` elements.
    preformatted: usize,
    quoted: usize,
    /// The lists that are open: the next number, or none for bullets.
    lists: Vec<Option<u32>>,
    link: Option<Link>,
    unshown: Option<Unshown>,
}

/// What separates the next word from the last.
#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    #[default]
    Nothing,
    Space,
    Cell,
    Line,
    Paragraph,
}

struct Link {
    url: String,
    /// Where its text starts in the output.
    start: usize,
}

/// An element that is skipped, and how many of its name are open in it.
struct Unshown {
    name: String,
    open: usize,
}

impl Writer {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        let name = name.as_ref();
        let is_void = VOID.contains(&name);
        if let Some(unshown) = &mut self.unshown {
            if unshown.name != name || is_void {
                return;
            }
            if name != "p" {
                unshown.open += 1;
                return;
            }
            // Paragraphs do not nest: the next one ends one that was left open.
            self.unshown = None;
        }
        if UNSHOWN.contains(&name) || is_hidden(tag) {
            if !is_void {
                self.unshown = Some(Unshown {
                    name: name.to_owned(),
                    open: 1,
                });
            }
            return;
        }
        self.separate(name);
        match name {
            "a" => self.open_link(attribute(tag, b"href")),
            "br" if self.due >= Due::Line => self.due = Due::Paragraph,
            "br" => self.due = Due::Line,
            "hr" => {
                self.due = Due::Line;
                self.word("---");
                self.due = Due::Line;
            }
            // A picture that comes with the mail is an attachment, and its text often a file name.
            "img"
                if attribute(tag, b"src").is_some_and(|it| it.trim_start().starts_with("cid:")) => {
            }
            "img" => {
                let alt = attribute(tag, b"alt").unwrap_or_default();
                let alt: Vec<&str> = alt.split_whitespace().collect();
                if !alt.is_empty() {
                    self.word(&format!("[image: {}]", alt.join(" ")));
                }
            }
            "td" | "th" => self.due = self.due.max(Due::Cell),
            "ul" => self.open_list(None),
            "ol" => self.open_list(Some(1)),
            "li" => self.open_item(),
            "pre" => self.preformatted += 1,
            "blockquote" => self.quoted += 1,
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some(unshown) = &mut self.unshown {
            if unshown.name == name {
                unshown.open -= 1;
            }
            if unshown.open == 0 {
                self.unshown = None;
            }
            return;
        }
        match name {
            "a" => self.close_link(),
            "ul" | "ol" => {
                self.lists.pop();
            }
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "blockquote" => self.quoted = self.quoted.saturating_sub(1),
            _ => {}
        }
        self.separate(name);
    }

    fn text(&mut self, text: &str) {
        if self.unshown.is_some() {
            return;
        }
        if self.preformatted > 0 {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.break_line();
                }
                if !line.trim().is_empty() {
                    self.word(line.trim_end());
                }
            }
            return;
        }
        if text.starts_with(is_space) {
            self.due = self.due.max(Due::Space);
        }
        for word in text.split(is_space).filter(|it| !it.is_empty()) {
            self.word(word);
            self.due = Due::Space;
        }
        if !text.ends_with(is_space) && self.due == Due::Space {
            self.due = Due::Nothing;
        }
    }

    fn separate(&mut self, name: &str) {
        if PARAGRAPHS.contains(&name) {
            self.due = Due::Paragraph;
        } else if BLOCKS.contains(&name) {
            self.due = self.due.max(Due::Line);
        }
    }

    fn word(&mut self, word: &str) {
        let due = std::mem::take(&mut self.due);
        if self.out.is_empty() {
            self.begin_line();
        } else {
            match due {
                Due::Nothing => {}
                Due::Space => self.out.push(' '),
                Due::Cell => self.out.push_str(" | "),
                Due::Line => self.break_line(),
                Due::Paragraph => {
                    self.out.push('\n');
                    self.break_line();
                }
            }
        }
        self.out.push_str(word);
    }

    fn break_line(&mut self) {
        self.out.push('\n');
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.out.push_str(&"> ".repeat(self.quoted.min(NESTING)));
    }

    fn open_list(&mut self, next: Option<u32>) {
        if self.lists.len() < NESTING {
            self.lists.push(next);
        }
    }

    fn open_item(&mut self) {
        self.due = self.due.max(Due::Line);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1));
        let mark = match self.lists.last_mut() {
            Some(Some(next)) => {
                *next += 1;
                format!("{}.", *next - 1)
            }
            _ => "-".to_owned(),
        };
        self.word(&format!("{indent}{mark}"));
        self.due = Due::Space;
    }

    fn open_link(&mut self, url: Option<String>) {
        self.close_link();
        self.link = url
            .map(|url| url.split_whitespace().collect::<String>())
            .filter(|url| is_shown_url(url))
            .map(|url| Link {
                url,
                start: self.out.len(),
            });
    }

    /// Puts a link's address after its text, unless the text is the address.
    fn close_link(&mut self) {
        let Some(link) = self.link.take() else {
            return;
        };
        let text = self.out.get(link.start..).unwrap_or_default().trim();
        if text.is_empty() || link.url.trim_start_matches("mailto:") == text {
            return;
        }
        let due = std::mem::replace(&mut self.due, Due::Space);
        let mut url: String = link.url.chars().take(URL_CHARS).collect();
        if url.len() < link.url.len() {
            url.push('…');
        }
        self.word(&format!("({url})"));
        self.due = due;
    }
}

fn is_space(it: char) -> bool {
    it.is_ascii_whitespace() || it == '\u{a0}'
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let value = tag.attributes.get(name)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Addresses that a reader could open. `javascript:` and `data:` are code and content, not places.
fn is_shown_url(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    ["http://", "https://", "mailto:", "tel:"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

fn is_hidden(tag: &StartTag<()>) -> bool {
    if attribute(tag, b"hidden").is_some() {
        return true;
    }
    let style: String = attribute(tag, b"style")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .split_whitespace()
        .collect();
    style
        .split(';')
        .any(|it| HIDING.contains(&it.trim_end_matches("!important")))
}
