//! What the macro writes, held against files. `golden/NAME.rs` is an annotated function, and
//! `golden/NAME.expanded.rs` what stands in its place, printed to be read: compare it before you
//! change `expand`, and read what changed after.
//!
//! `GOLDEN=overwrite cargo test -p actum-macros` writes the expansions down anew. This does it
//! together with the words of the compiler (`tests/tests/ui.rs`):
//!
//! ```text
//! GOLDEN=overwrite TRYBUILD=overwrite cargo test -p actum-macros -p actum-tests --lib --test ui
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::expansion;

/// The endings of what is written by hand and of what the macro makes of it.
const WRITTEN: &str = ".rs";
const EXPANDED: &str = ".expanded.rs";

#[test]
fn each_expansion_is_the_one_that_was_reviewed() {
    let overwrite = std::env::var_os("GOLDEN").is_some_and(|value| value == "overwrite");
    let mut changed = Vec::new();
    let names = names();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let (arguments, item) = written(&name);
        let found = printed(&item, expansion(arguments, item.clone()));
        let path = folder().join(format!("{name}{EXPANDED}"));
        if overwrite {
            std::fs::write(path, found).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != found {
            changed.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(
        changed.is_empty(),
        "the macro expands otherwise now; if that is meant, run `GOLDEN=overwrite cargo test -p actum-macros`\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_function_is_emitted_first_and_untouched() {
    for name in names() {
        let (arguments, item) = written(&name);
        let (function, _) = split(&item, expansion(arguments, item.clone()));
        assert_eq!(function.to_string(), item.to_string(), "{name}");
    }
}

#[test]
fn no_expansion_is_left_of_a_case_that_is_gone() {
    let names = names();
    let left: Vec<_> = files()
        .into_iter()
        .filter_map(|file| file.strip_suffix(EXPANDED).map(str::to_owned))
        .filter(|name| !names.contains(name))
        .collect();
    assert!(left.is_empty(), "nothing expands to {left:?}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn files() -> BTreeSet<String> {
    std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn names() -> BTreeSet<String> {
    files()
        .iter()
        .filter(|file| !file.ends_with(EXPANDED))
        .map(|file| file.strip_suffix(WRITTEN).unwrap().to_owned())
        .collect()
}

/// The arguments of the annotation, and what the compiler hands over with them: all that stands
/// around it.
fn written(name: &str) -> (TokenStream, TokenStream) {
    let text = std::fs::read_to_string(folder().join(format!("{name}{WRITTEN}"))).unwrap();
    let mut before: Vec<TokenTree> = Vec::new();
    let mut tokens = text.parse::<TokenStream>().unwrap().into_iter();
    while let Some(token) = tokens.next() {
        if let Some(arguments) = arguments(&token) {
            before.pop();
            return (arguments, before.into_iter().chain(tokens).collect());
        }
        before.push(token);
    }
    panic!("{name}: no `#[action]`");
}

/// `...` of `[action(...)]`.
fn arguments(token: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(attribute) = token else {
        return None;
    };
    let mut inside = attribute.stream().into_iter();
    match (inside.next()?, inside.next()) {
        (TokenTree::Ident(word), Some(TokenTree::Group(list)))
            if attribute.delimiter() == Delimiter::Bracket && word == "action" =>
        {
            Some(list.stream())
        }
        _ => None,
    }
}

/// The function, and what the macro adds.
fn split(item: &TokenStream, expansion: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens = expansion.into_iter();
    let function = tokens.by_ref().take(item.clone().into_iter().count());
    (function.collect(), tokens.collect())
}

fn printed(item: &TokenStream, expansion: TokenStream) -> String {
    let (function, added) = split(item, expansion);
    format!("{}\n{}", pretty(function), pretty(added))
}

/// What is no Rust, such as a half-written body, is printed as its tokens.
fn pretty(tokens: TokenStream) -> String {
    syn::parse2(tokens.clone()).map_or_else(
        |_| format!("{tokens}\n"),
        |file| prettyplease::unparse(&file),
    )
}
