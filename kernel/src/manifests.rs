//! Reading a folder of manifests, and holding it against the catalog.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use actum::ActionCatalog;
use actum::authority::document::{Fault, Faults, Position, Report};
use actum::authority::set::is_artifact;
use actum::authority::{Artifact, Listing, ManifestSet, WordKind};

/// The most manifest files that are read.
const MAX_FILES: usize = 10_000;

/// Loads every `.yaml` file of a folder's sub-folders.
///
/// # Errors
/// Every fault of every file at once.
pub fn load(folder: &Path) -> Result<ManifestSet, Faults> {
    load_with(folder, &[])
}

/// Loads every `.yaml` file of a folder's sub-folders, with artifacts in the place of files.
///
/// # Errors
/// Every fault of every file and artifact at once.
pub fn load_with(folder: &Path, artifacts: &[Artifact]) -> Result<ManifestSet, Faults> {
    set_of(&read_files(folder)?, artifacts, folder)
}

/// The set of files and artifacts.
///
/// # Errors
/// Every fault of every file and artifact. Files are named within `folder`.
pub fn set_of(
    files: &[(String, String)],
    artifacts: &[Artifact],
    folder: &Path,
) -> Result<ManifestSet, Faults> {
    let files = files.iter().map(|(path, text)| (path, text));
    ManifestSet::read_with(files, artifacts).map_err(|faults| in_folder(faults, folder))
}

/// All that is wrong with files and artifacts together, or the set that they make.
///
/// # Errors
/// Every fault that the start would tell. Files are named within `folder`.
pub fn checked(
    files: &[(String, String)],
    artifacts: &[Artifact],
    folder: &Path,
    catalog: &ActionCatalog,
) -> Result<ManifestSet, Vec<String>> {
    let manifests = set_of(files, artifacts, folder).map_err(|faults| told(&faults))?;
    match faults(&manifests, catalog, folder) {
        faults if faults.is_empty() => Ok(manifests),
        faults => Err(faults),
    }
}

/// Faults, one text each.
pub fn told(faults: &Faults) -> Vec<String> {
    faults.as_slice().iter().map(ToString::to_string).collect()
}

/// Reads every `.yaml` file of a folder's sub-folders, as (path within the folder, text).
///
/// # Errors
/// Every file and folder that cannot be read.
pub fn read_files(folder: &Path) -> Result<Vec<(String, String)>, Faults> {
    let told = |path: &Path, problem: String| {
        let report = Report::of_file(&path.display().to_string());
        report.fault(
            None,
            "",
            problem,
            "`manifests` names a folder with routes/, agents/, workflows/, packs/ and policies/, and with actors/ and scenarios/ where authority comes by claims",
        );
        report.into_faults()
    };
    let mut faults = Vec::new();
    let mut files = Vec::new();
    let mut paths = Vec::new();
    if let Err((path, problem)) = yaml_files(folder, &mut paths) {
        faults.extend(told(&path, problem));
    }
    for path in paths {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let relative = path.strip_prefix(folder).unwrap_or(&path);
                files.push((relative.to_string_lossy().replace('\\', "/"), text));
            }
            Err(error) => faults.extend(told(&path, format!("cannot be read: {error}"))),
        }
    }
    Faults::of(faults).map_or(Ok(files), Err)
}

/// Faults with their files' paths as the operator can open them.
fn in_folder(faults: Faults, folder: &Path) -> Faults {
    let placed = faults.as_slice().iter().cloned().map(|fault| Fault {
        file: fault.file.map(|file| placed(folder, &file)),
        ..fault
    });
    Faults::of(placed.collect()).unwrap_or(faults)
}

/// A file as the operator can open it, or an artifact by its name.
fn placed(folder: &Path, name: &str) -> String {
    match is_artifact(name) {
        true => name.to_owned(),
        false => folder.join(name).display().to_string(),
    }
}

/// All in which manifests speak of what the catalog does not have.
#[must_use]
pub fn faults(manifests: &ManifestSet, catalog: &ActionCatalog, folder: &Path) -> Vec<String> {
    let mut faults = unknown_ids(manifests, catalog, folder);
    faults.extend(idle(manifests, catalog, folder));
    faults
}

/// All that manifests say beside action ids, and that says nothing: claims, modes and interaction kinds
/// that no action asks about, and bounds that no call could keep.
#[must_use]
pub fn idle(manifests: &ManifestSet, catalog: &ActionCatalog, folder: &Path) -> Vec<String> {
    let mut faults = unknown_words(manifests, catalog, folder);
    faults.extend(idle_bounds(manifests, catalog, folder));
    faults
}

/// Every id that a manifest lists and that does not exist, each with the places that list it.
///
/// Composition refuses such an id, whatever list it stands in, so that a kernel with one would turn
/// away every event of that route.
fn unknown_ids(manifests: &ManifestSet, catalog: &ActionCatalog, folder: &Path) -> Vec<String> {
    let unknown = manifests
        .listings()
        .filter(|listing| !catalog.is_known(listing.action));
    by_action(unknown, folder)
        .into_iter()
        .map(|(id, places)| {
            format!(
                "`{id}` is listed and does not exist; correct it, link the crate that has it, or add it to `known_actions` in the configuration{places}"
            )
        })
        .collect()
}

/// Every bound that no call of its action could keep, with its place: one that names an argument which
/// the action does not take would hide the action and say nothing.
fn idle_bounds(manifests: &ManifestSet, catalog: &ActionCatalog, folder: &Path) -> Vec<String> {
    let idle = manifests.bounds().filter_map(|(bound, file, position)| {
        let tool = catalog.tool_descriptor_for(bound.action.as_str())?;
        if bound.can_be_kept(tool) {
            return None;
        }
        let mut told = format!(
            "no call of `{}` could keep its bound at `{}`; name an argument that it takes, and values that fit there",
            bound.action, bound.at
        );
        note_place(&mut told, &placed(folder, file), position, "bound_arguments");
        Some(told)
    });
    idle.collect()
}

/// Every claim, mode and interaction kind of a manifest that no linked action asks about, each with its
/// places. A denied claim that is misspelt would deny nothing.
fn unknown_words(manifests: &ManifestSet, catalog: &ActionCatalog, folder: &Path) -> Vec<String> {
    let mut unknown: BTreeMap<(WordKind, &str), String> = BTreeMap::new();
    for word in manifests.words() {
        let asked = catalog.words_asked(word.kind);
        if asked.as_ref().is_none_or(|asked| asked.contains(word.text)) {
            continue;
        }
        let places = unknown.entry((word.kind, word.text)).or_default();
        note_place(
            places,
            &placed(folder, word.file),
            word.position,
            word.field,
        );
    }
    let told = |((kind, text), places): ((WordKind, &str), String)| {
        let (what, asks) = match kind {
            WordKind::Claim => ("claim", "requires it"),
            WordKind::Mode => ("task mode", "is for it"),
            WordKind::Interaction => ("interaction kind", "takes it"),
        };
        let words = catalog.words_asked(kind).into_iter().flatten();
        let near = words
            .map(|word| (strsim::jaro_winkler(text, word), word))
            .filter(|(likeness, _)| *likeness > 0.85)
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let hint = near.map_or_else(String::new, |(_, near)| {
            format!(" (did you mean `{near}`?)")
        });
        format!(
            "{what} `{text}`{hint}: no linked action {asks}; correct it, link the crate that has one, or drop it{places}"
        )
    };
    unknown.into_iter().map(told).collect()
}

/// Listings by their action: for each, its places, one a line.
pub fn by_action<'a>(
    listings: impl Iterator<Item = Listing<'a>>,
    folder: &Path,
) -> BTreeMap<&'a str, String> {
    let mut found: BTreeMap<&str, String> = BTreeMap::new();
    for listing in listings {
        let places = found.entry(listing.action).or_default();
        note_place(
            places,
            &placed(folder, listing.file),
            listing.position,
            listing.field,
        );
    }
    found
}

/// Adds a line with a place in a file.
fn note_place(places: &mut String, file: &str, position: Option<Position>, field: &str) {
    let at = position
        .map(|p| format!(":{}:{}", p.line, p.column))
        .unwrap_or_default();
    let _ = write!(places, "\n    {file}{at}: {field}");
}

/// The YAML files two levels deep: `kind/name.yaml`, and misplaced ones, which are then told.
fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), (PathBuf, String)> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, (PathBuf, String)> {
        let cannot =
            |error: std::io::Error| (folder.to_owned(), format!("cannot be listed: {error}"));
        let mut paths = std::fs::read_dir(folder)
            .map_err(cannot)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(cannot)?;
        paths.sort();
        Ok(paths)
    };
    let is_yaml = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    for path in list(folder)? {
        let inner = if path.is_dir() {
            list(&path)?
        } else {
            vec![path]
        };
        found.extend(inner.into_iter().filter(|path| is_yaml(path)));
        if found.len() > MAX_FILES {
            return Err((
                folder.to_owned(),
                format!("holds more than {MAX_FILES} manifests"),
            ));
        }
    }
    Ok(())
}
