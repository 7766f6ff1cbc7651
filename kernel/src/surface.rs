//! The surface lock as a file: reading it, writing it whole or not at all, and holding what is linked
//! against it.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use actum::ActionCatalog;
use actum::lock::{Change, SurfaceLock, compare, tally};

use crate::printable;

/// The most characters of one change that are shown.
const MAX_SHOWN: usize = 600;

/// Reads the lock; `None` where there is no file.
///
/// # Errors
/// Every fault of the file, in one text.
pub(crate) fn read(path: &Path) -> Result<Option<SurfaceLock>, String> {
    let file = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => SurfaceLock::read(&file, &text)
            .map(Some)
            .map_err(|faults| faults.to_string()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{file}: cannot be read: {error}")),
    }
}

/// Writes the lock: into a file beside it first, which then takes its place.
///
/// # Errors
/// What went wrong. The lock that was there is then as it was.
pub(crate) fn write(path: &Path, lock: &SurfaceLock) -> Result<(), String> {
    let file = path.display();
    let text = lock.to_text().map_err(|error| error.to_string())?;
    // What could not be read again would lock everybody out.
    SurfaceLock::read(&file.to_string(), &text)
        .map_err(|faults| format!("this surface cannot be locked:\n{faults}"))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create_new(beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(beside, path));
    written.map_err(|error| {
        // It may not be there, and then there is nothing to take away.
        let _ = fs::remove_file(beside);
        format!("{file}: cannot be written: {error}")
    })
}

/// Changes as they are shown, one a line, and how many there are.
pub(crate) fn told(changes: &[Change]) -> String {
    let mut lines: Vec<String> = changes
        .iter()
        .map(|change| printable::line(&change.to_string(), MAX_SHOWN))
        .collect();
    lines.push(tally(changes));
    lines.join("\n")
}

/// What keeps a kernel whose configuration names a lock from starting: a lock that is not there or
/// not in order, and every change since it was accepted, in one text.
pub(crate) fn drift(path: &Path, catalog: &ActionCatalog) -> Option<String> {
    let file = path.display();
    let locked = match read(path) {
        Ok(Some(locked)) => locked,
        Ok(None) => {
            return Some(format!(
                "{file}: there is no such file; write it with `actum lock --file {file}`, or take `lock` out of the configuration"
            ));
        }
        Err(faults) => return Some(faults),
    };
    // What upstreams offer is looked at while the kernel runs.
    let (locked, _) = locked.split();
    let current = match SurfaceLock::of(catalog) {
        Ok(current) => current,
        Err(fault) => return Some(fault.to_string()),
    };
    let changes = compare(&locked, &current);
    (!changes.is_empty()).then(|| {
        format!(
            "{file}: the linked actions are not those that were accepted:\n{}\nlink what was accepted, or accept the changes with `actum lock --accept --by NAME --reason TEXT --file {file}`",
            told(&changes)
        )
    })
}
