//! A kernel with the task board's actions, besides the shipped ones.
//!
//! The board is `actum-data/board.db` in the folder that it is started in, or the file that
//! `TASKBOARD_FILE` names. A new board gets the sample company. The company's API is at the address that
//! `TASKBOARD_API` names; without one there is none.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use actum_taskboard::{CompanyApi, TaskBoard};

fn main() -> ExitCode {
    let file = std::env::var_os("TASKBOARD_FILE")
        .map_or_else(|| "actum-data/board.db".into(), PathBuf::from);
    actum_kernel::cli::main_try_with(async |kernel| {
        let api = company_api()?;
        let board = TaskBoard::at(file).with_sample().ready().await?;
        Ok::<_, Box<dyn Error>>(kernel.resource(board).resource(api))
    })
}

fn company_api() -> Result<CompanyApi, String> {
    let Some(address) = std::env::var_os("TASKBOARD_API") else {
        return Ok(CompanyApi::none());
    };
    CompanyApi::at(&address.to_string_lossy(), actum_kernel::http::client())
        .map_err(|fault| format!("TASKBOARD_API: {fault}"))
}
