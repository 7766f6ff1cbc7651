//! A kernel with the task board's actions, besides the shipped ones.
//!
//! The board is `actum-data/board.db` in the folder that it is started in, or the file that
//! `TASKBOARD_FILE` names. A new board gets the sample company.

use std::path::PathBuf;
use std::process::ExitCode;

use actum_taskboard::{BoardError, TaskBoard};

fn main() -> ExitCode {
    let file = std::env::var_os("TASKBOARD_FILE")
        .map_or_else(|| "actum-data/board.db".into(), PathBuf::from);
    actum_kernel::cli::main_try_with(async |kernel| {
        let board = TaskBoard::at(file).with_sample().ready().await?;
        Ok::<_, BoardError>(kernel.resource(board))
    })
}
