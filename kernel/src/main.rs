//! The `actum` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    actum_kernel::cli::main()
}
