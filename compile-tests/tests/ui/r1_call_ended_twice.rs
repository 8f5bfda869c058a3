// R1: a call has two ends -> E0382
use omen_gate::breaker::Admission;

fn agent(admission: Admission) {
    admission.success();
    admission.failure();
}

fn main() {}
