//! Folders that hold what is nobody else's business.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes a folder, and those above it, for this user alone; one that is there stays as it is.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
