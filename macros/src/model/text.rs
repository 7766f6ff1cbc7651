//! Rules about what stands between quotation marks.

use syn::LitStr;

use crate::attr::Faults;

/// The longest description that every provider takes, in characters.
pub const MAX_DESCRIPTION: usize = 1024;
/// The longest title, in characters.
pub const MAX_TITLE: usize = 128;
const MAX_TOOL_NAME: usize = 64;
/// The longest claim, role or task mode, in bytes; that of manifests.
const MAX_EXACT: usize = 128;

/// The grammar of `actum::id`, told with the remedy at hand. The expansion has the compiler check
/// the id once more with the function that the kernel itself uses.
pub fn check_id(id: &LitStr, faults: &mut Faults) {
    let text = id.value();
    if text.is_empty() {
        faults.push(
            id.span(),
            "the id is empty; write one such as \"mail.read\"",
        );
        return;
    }
    if !is_id(&text) {
        let tidy: String = text
            .trim()
            .chars()
            .map(|c| match c {
                '-' | ' ' => '_',
                '/' => '.',
                c => c.to_ascii_lowercase(),
            })
            .collect();
        let hint = if is_id(&tidy) {
            format!("; did you mean \"{tidy}\"?")
        } else {
            String::new()
        };
        faults.push(
            id.span(),
            format_args!("not an action id: one is lower-case words joined by dots, with at most one `:qualifier` at the end, such as \"mail.read_thread:selected\"{hint}"),
        );
        return;
    }
    let length = text.len() + text.matches(':').count();
    if length > MAX_TOOL_NAME {
        faults.push(
            id.span(),
            format_args!("this id makes a tool name of {length} characters, and providers take {MAX_TOOL_NAME} (a `:` counts as two); shorten it"),
        );
    }
}

fn is_id(text: &str) -> bool {
    let (dotted, qualifier) = match text.split_once(':') {
        Some((dotted, qualifier)) => (dotted, Some(qualifier)),
        None => (text, None),
    };
    dotted.split('.').all(is_word) && qualifier.is_none_or(is_word)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// One line for people or models.
pub fn check_line(name: &str, text: &LitStr, max: usize, faults: &mut Faults) {
    let value = text.value();
    let length = value.chars().count();
    let fault = if value.trim().is_empty() {
        format!("the {name} is empty; write one line, for a reader who sees nothing else")
    } else if value.trim().contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        format!(
            "the {name} has several lines; keep one, and put the rest into the doc comments of the payload's fields"
        )
    } else if value.trim() != value {
        format!("the {name} begins or ends with white space; drop it")
    } else if let Some(hidden) = value.chars().find(|c| is_hidden(*c)) {
        format!(
            "the {name} has the invisible character U+{:04X}; drop it",
            u32::from(hidden)
        )
    } else if length > max {
        format!("the {name} has {length} characters, and at most {max} are allowed; shorten it")
    } else {
        return;
    };
    faults.push(text.span(), fault);
}

/// Characters that a reviewer does not see and a model reads: controls, marks that reverse the
/// direction of text, and the tag characters in which whole sentences can be hidden.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// One lower-case word.
pub fn check_word(name: &str, text: &LitStr, faults: &mut Faults) {
    if !is_word(&text.value()) {
        faults.push(
            text.span(),
            format_args!("`{name}` takes a lower-case word such as \"email_thread_selection\""),
        );
    }
}

/// A text that is compared as it is, so that a blank too many would be a quiet difference.
pub fn check_exact(noun: &str, text: &LitStr, faults: &mut Faults) {
    let value = text.value();
    let length = value.len();
    let fault = if value.trim().is_empty() {
        format!("the {noun} is empty; write one, or drop it")
    } else if value.trim() != value {
        format!("the {noun} begins or ends with white space; drop that")
    } else if let Some(hidden) = value.chars().find(|c| is_hidden(*c)) {
        format!(
            "the {noun} has the invisible character U+{:04X}; drop that",
            u32::from(hidden)
        )
    } else if length > MAX_EXACT {
        format!("the {noun} has {length} bytes, and at most {MAX_EXACT} are allowed; shorten it")
    } else {
        return;
    };
    faults.push(text.span(), fault);
}

/// Anything but nothing.
pub fn check_not_empty(what: &str, text: &LitStr, faults: &mut Faults) {
    if text.value().trim().is_empty() {
        faults.push(
            text.span(),
            format_args!("{what} is empty; name it, or leave it out"),
        );
    }
}
