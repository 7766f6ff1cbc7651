//! The sample that a kernel without configuration starts with: embedded, written out once, and from
//! then on the operator's to change.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../sample/", $path)) as &[u8])),+]
    };
}

/// Every file of the sample. The configuration comes last: once it is there, the sample is whole.
const FILES: &[(&str, &[u8])] = files![
    "events/owner.json",
    "events/stranger.json",
    "mail/cur/1790000001.M1P1.sample",
    "mail/cur/1790004001.M4P1.sample",
    "mail/cur/1790015241.M2P1.sample",
    "mail/cur/1790021601.M5P1.sample",
    "mail/cur/1790040001.M8P1.sample",
    "mail/new/1790030001.M7P1.sample",
    "mail/new/1790050001.M9P1.sample",
    "mail/new/1790060001.M10P1.sample",
    "mail/new/1790082801.M3P1.sample",
    "mail/new/1790090001.M6P1.sample",
    "manifests/agents/front_desk.yaml",
    "manifests/agents/house_assistant.yaml",
    "manifests/agents/mail_reader.yaml",
    "manifests/packs/owner_pack.yaml",
    "manifests/packs/selected_mail_pack.yaml",
    "manifests/packs/stranger_pack.yaml",
    "manifests/policies/global.yaml",
    "manifests/routes/owner_chat.yaml",
    "manifests/routes/owner_selected_thread.yaml",
    "manifests/routes/stranger_chat.yaml",
    "manifests/workflows/help_the_owner.yaml",
    "manifests/workflows/read_selected_mail.yaml",
    "manifests/workflows/take_a_message.yaml",
    "skills/house_rules.md",
    "skills/letters.md",
    "skills/visitors.md",
    "accepted-gaps.yaml",
    "actum.yaml",
];

/// The sample's configuration, within its folder.
pub const CONFIG: &str = "actum.yaml";

/// Writes the sample into a folder, unless its configuration is there already. Gives the
/// configuration's path.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_once(folder: &Path) -> Result<PathBuf, String> {
    let config = folder.join(CONFIG);
    if config.exists() {
        return Ok(config);
    }
    for (path, content) in FILES {
        let path = folder.join(path);
        let written = || -> std::io::Result<()> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let mut file = match std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path)
            {
                // What is there is the operator's.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
                other => other?,
            };
            file.write_all(content)
        };
        written().map_err(|error| {
            format!("{}: the sample cannot be written: {error}; start in a folder that can be written to, or name a configuration with `--config`", path.display())
        })?;
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn walk(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.insert(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
    }

    #[test]
    fn every_file_of_the_sample_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
        let mut found = BTreeSet::new();
        walk(&root, &root, &mut found);
        found.retain(|path| !path.ends_with("README.md") && !path.ends_with(".keep"));
        let embedded: BTreeSet<String> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(found, embedded);
    }

    /// Without its handler, an action that the sample grants fails this by its name.
    #[test]
    fn the_sample_grants_nothing_that_is_missing() {
        let home = tempfile::tempdir().unwrap();
        let config = write_once(home.path()).unwrap();
        crate::cli::check(Some(config), None, None).unwrap();
    }

    #[test]
    fn it_is_written_once_and_what_is_there_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("manifests/policies")).unwrap();
        let own = folder.path().join("manifests/policies/global.yaml");
        std::fs::write(&own, "mine").unwrap();
        let config = write_once(folder.path()).unwrap();
        assert!(config.is_file());
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
        std::fs::remove_file(&own).unwrap();
        write_once(folder.path()).unwrap();
        assert!(!own.exists(), "a whole sample is left alone");
    }
}
