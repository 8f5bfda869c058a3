// A1: the log seals what is added to it
use omen_gate::audit::{Audit, AuditError, Receipt, Record};

fn agent(audit: &Audit, record: Record<'_>) -> Result<Receipt, AuditError> {
    audit.append(record)
}

fn main() {}
