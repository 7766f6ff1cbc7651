use actum::{ActionError, action};

#[action(idd = "mail.a", description = "Read the mail.")]
async fn a() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.b", descripton = "Read the mail.")]
async fn b() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.c", description = "Read the mail.", tilte = "Mail")]
async fn c() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.d", description = "Read the mail.", aproval_required)]
async fn d() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.e", description = "Read the mail.", selectoin_token = "thread")]
async fn e() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.f", description = "Read the mail.", egres(class = "mail"))]
async fn f() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.g", description = "Read the mail.", read_onyl)]
async fn g() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.h", description = "Read the mail.", destructve)]
async fn h() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.i", description = "Read the mail.", idempotant)]
async fn i() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.j", description = "Read the mail.", openworld)]
async fn j() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.k", description = "Read the mail.", non_delegatable)]
async fn k() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.l", description = "Read the mail.", crat = actum)]
async fn l() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.m", description = "Read the mail.", egress(chanels = ["owner"], clas = "mail"))]
async fn m() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
