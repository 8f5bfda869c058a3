// R1: it has one
use omen_gate::Fault;
use omen_gate::breaker::Admission;

fn agent(admission: Admission, fault: Option<&Fault>) {
    admission.resolve(fault);
}

fn main() {}
