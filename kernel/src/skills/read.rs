//! Reading a folder of skills: bounded, and every fault of every file at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use actum::authority::document::{At, Decode, Fault, Faults, Located, Node, Report, record};

use super::Skill;

/// The most files of a folder.
const MAX_FILES: usize = 500;
/// The longest file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 500;

record! {
    /// What stands between the two lines of dashes.
    struct FrontMatter {
        /// The skill's name.
        name: Located<String>,
        /// What it is about, in one line.
        description: Located<String>,
        /// Who sees it.
        scopes: Vec<Located<String>>,
        /// Words that it is found by.
        tags: Vec<Located<String>> = Vec::new(),
    }
}

/// Every skill of a folder, by name.
pub(super) fn folder(folder: &Path) -> Result<Vec<Skill>, Faults> {
    let mut faults: Vec<Fault> = Vec::new();
    let paths = match files(folder) {
        Ok(paths) => paths,
        Err(problem) => {
            let report = Report::of_file(&folder.display().to_string());
            report.fault(
                None,
                "",
                problem,
                format!("`skills` names a folder with at most {MAX_FILES} files `NAME.md`"),
            );
            return report.finish(None);
        }
    };
    let mut skills: BTreeMap<String, (Skill, PathBuf)> = BTreeMap::new();
    for path in paths {
        let report = Report::of_file(&path.display().to_string());
        let read = read(&path, &report);
        if let Some((skill, name)) = read {
            match skills.get(&skill.name) {
                Some((_, other)) => report.fault(
                    name.position,
                    "name",
                    format!(
                        "a second skill `{}`; the first is {}",
                        skill.name,
                        other.display()
                    ),
                    "rename one",
                ),
                None => {
                    skills.insert(skill.name.clone(), (skill, path.clone()));
                }
            }
        }
        faults.extend(report.into_faults());
    }
    match Faults::of(faults) {
        Some(faults) => Err(faults),
        None => Ok(skills.into_values().map(|(skill, _)| skill).collect()),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error: std::io::Error| format!("cannot be listed: {error}");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            return Err(format!("holds more than {MAX_FILES} skills"));
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path, report: &Report) -> Option<(Skill, Located<String>)> {
    let fault = |problem: String, remedy: &str| report.fault(None, "", problem, remedy);
    let text = match text(path) {
        Ok(text) => text,
        Err(problem) => {
            fault(problem, "a skill is a text in UTF-8 of at most 64 KiB");
            return None;
        }
    };
    let Some((front, body)) = parts(&text) else {
        fault(
            "has no front matter".to_owned(),
            "begin the file with a line `---`, then `name`, `description` and `scopes`, and another line `---`",
        );
        return None;
    };
    let node = Node::from_yaml(&front, report)?;
    let front = FrontMatter::decode(&At::root(&node, report))?;
    check(&front, report);
    if body.is_empty() {
        fault(
            "says nothing".to_owned(),
            "write the skill below its front matter",
        );
    }
    let skill = Skill {
        name: front.name.value.clone(),
        description: front.description.value,
        scopes: front.scopes.into_iter().map(|scope| scope.value).collect(),
        tags: front.tags.into_iter().map(|tag| tag.value).collect(),
        body: body.to_owned(),
    };
    Some((skill, front.name))
}

fn text(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let file = fs::File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    let limited = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "is no text in UTF-8".to_owned())
}

/// The front matter, with a line in place of the one of dashes before it, so that places in it are those of the file;
/// and the body.
fn parts(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let front = rest.get(..at)?;
            let body = rest.get(at + line.len()..)?;
            return Some((format!("\n{front}"), body.trim()));
        }
        at += line.len();
    }
    None
}

fn check(front: &FrontMatter, report: &Report) {
    let is_word = |text: &str| {
        let plain =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        (1..=64).contains(&text.len()) && text.bytes().all(plain)
    };
    let word = |text: &Located<String>, field: &str| {
        if !is_word(text) {
            report.fault(
                text.position,
                field,
                format!("`{}` is no word", text.escape_debug()),
                "use 1 to 64 lower-case letters, digits, `_` and `-`",
            );
        }
    };
    word(&front.name, "name");
    front.scopes.iter().for_each(|scope| word(scope, "scopes"));
    front.tags.iter().for_each(|tag| word(tag, "tags"));
    let description = &front.description;
    let length = description.chars().count();
    if length == 0 || length > MAX_DESCRIPTION || description.chars().any(char::is_control) {
        report.fault(
            description.position,
            "description",
            "is no such line",
            format!("write one line of 1 to {MAX_DESCRIPTION} characters"),
        );
    }
    if front.scopes.is_empty() {
        report.fault(
            front.name.position,
            "scopes",
            "is empty, so that nobody would see the skill",
            "name one of the `allowed_scopes` of an agent's `memory_scope`",
        );
    }
    let different: BTreeSet<&str> = front.scopes.iter().map(|scope| scope.as_str()).collect();
    if different.len() != front.scopes.len() {
        report.fault(front.name.position, "scopes", "has one twice", "drop one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    const GOOD: &str =
        "---\nname: letters\ndescription: Letters.\nscopes: [house]\n---\n\n# How\n---\nWrite.\n";

    #[test]
    fn a_skill_is_its_front_matter_and_what_stands_below() {
        let home = folder_of(&[("letters.md", GOOD), ("notes.txt", "no skill")]);
        let [skill] = &folder(home.path()).unwrap()[..] else {
            panic!("one skill")
        };
        assert_eq!(skill.name, "letters");
        assert_eq!(skill.body, "# How\n---\nWrite.");
        assert_eq!(skill.scopes, BTreeSet::from(["house".to_owned()]));
    }

    #[test]
    fn every_fault_of_every_file_is_told_with_its_line() {
        let long = "x".repeat(64 * 1024 + 1);
        let home = folder_of(&[
            ("a.md", GOOD),
            ("b.md", GOOD),
            (
                "c.md",
                "---\nname: Not A Word\ndescription: \"\"\nscopes: []\n---\ntext",
            ),
            ("d.md", "no front matter\n"),
            ("e.md", "---\nname: e\nscope: [house]\n---\n"),
            ("f.md", &long),
            (
                "g.md",
                "---\nname: g\ndescription: G.\nscopes: [house]\n---\n \n",
            ),
        ]);
        let told = folder(home.path()).unwrap_err().to_string();
        for piece in [
            "b.md:2:7: field `name`: a second skill `letters`",
            "c.md:2:7: field `name`: `Not A Word` is no word",
            "c.md:3:14: field `description`",
            "field `scopes`: is empty",
            "d.md: has no front matter",
            "field `scope`: there is no such field; did you mean `scopes`?",
            "f.md: has more than 65536 bytes",
            "g.md: says nothing",
        ] {
            assert!(told.contains(piece), "{piece}\n{told}");
        }
        assert!(!told.contains("a.md:"), "{told}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let home = tempfile::tempdir().unwrap();
        let told = folder(&home.path().join("none")).unwrap_err().to_string();
        assert!(told.contains("cannot be listed"), "{told}");
    }
}
