//! Folders and files that hold what is nobody else's business.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Makes a folder, and those above it, for this user alone; one that is there stays as it is.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a new file, and makes its folder, for this user alone; durable when it returns. One that is there is an
/// error.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
