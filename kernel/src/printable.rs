//! Which characters of what strangers wrote may be shown.
//!
//! A mail or a message is written by anyone. Control characters can drive a terminal, direction overrides make
//! a text read otherwise than it is stored, and invisible characters carry words that a model
//! reads and a person does not see. None of them is needed to read a letter.

/// A text as one line of at most `most` characters, white space folded.
pub(crate) fn line(text: &str, most: usize) -> String {
    let shown: String = text
        .chars()
        .map(|it| {
            if is_line_end(it) || it == '\t' {
                ' '
            } else {
                it
            }
        })
        .filter(|it| is_shown(*it))
        .collect();
    let words: Vec<&str> = shown.split_whitespace().collect();
    let mut out = words.join(" ");
    if let Some((cut, _)) = out.char_indices().nth(most) {
        out.truncate(cut);
        out.push('…');
    }
    out
}

/// A text of at most `most` bytes: lines end with `\n`, no line ends with a blank, no two
/// blank lines follow each other. A longer text is cut and says so.
pub(crate) fn block(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut is_after_blank = false;
    for stored in text.replace("\r\n", "\n").split(is_line_end) {
        let shown: String = stored
            .chars()
            .filter(|it| *it == '\t' || is_shown(*it))
            .collect();
        let shown = shown.trim_end();
        if shown.is_empty() {
            is_after_blank = true;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if is_after_blank { "\n\n" } else { "\n" });
        }
        is_after_blank = false;
        out.push_str(shown);
        if out.len() > most {
            out.truncate(out.floor_char_boundary(most));
            out.push_str(&format!("\n[The text was cut here, after {most} bytes.]"));
            break;
        }
    }
    out
}

/// A text with nothing hidden: what has no shape of its own on a page stands there by its code point, as in `⟨U+202E⟩`.
/// Line feeds and tabs stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\n' | '\t' => out.push(it),
            it if is_shown(it) => out.push(it),
            it => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(it))),
        }
    }
    out
}

/// Whether a person sees each character of a text, but for how its lines end.
pub(crate) fn is_plain(text: &str) -> bool {
    text.chars().all(|it| it == '\n' || is_shown(it))
}

fn is_line_end(it: char) -> bool {
    matches!(
        it,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_shown(it: char) -> bool {
    !it.is_control()
        && !matches!(
            it,
            '\u{ad}'                    // soft hyphen
            | '\u{34f}'                 // combining grapheme joiner, used as invisible padding
            | '\u{61c}'                 // Arabic letter mark
            | '\u{180e}'                // Mongolian vowel separator
            | '\u{200b}'                // zero width space
            | '\u{200e}' | '\u{200f}'   // direction marks
            | '\u{2028}'..='\u{202e}'   // line ends, direction embeddings and overrides
            | '\u{2060}'..='\u{206f}'   // word joiner, direction isolates, invisible operators
            | '\u{feff}'                // byte order mark
            | '\u{fff9}'..='\u{fffb}'   // interlinear annotation
            | '\u{e0000}'..='\u{e0fff}' // tags and variation selectors that can spell hidden text
        )
}
