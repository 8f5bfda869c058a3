// G2: an authorization is used for two calls -> E0382
use omen_gate::Lease;

fn agent(lease: Lease) {
    let _one = lease.redeem(None);
    let _two = lease.redeem(None);
}

fn main() {}
