use actum::action;

#[action(id = "Mail", read_olny)]
struct Mail;

fn main() {}
