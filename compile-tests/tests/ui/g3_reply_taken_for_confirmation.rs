// G3: a yes is taken for a confirmation of this call -> E0308
use omen_gate::Lease;
use omen_gate::confirm::Reply;

fn agent(lease: Lease) {
    let _redeemed = lease.redeem(Some(Reply::Confirmed));
}

fn main() {}
