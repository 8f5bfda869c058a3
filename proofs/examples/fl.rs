use omen_proofs::bench::corpus::{Corpus, Form, faults};
use std::time::Instant;
struct Nowhere;
impl omen::Sink for Nowhere {
    type Error = std::convert::Infallible;
    fn finding(&mut self, finding: omen::Finding, _: Option<&str>) -> Result<(), Self::Error> {
        std::hint::black_box(finding);
        Ok(())
    }
    fn wants_packets(&self) -> bool {
        false
    }
}
fn run(bytes: &[u8]) -> u64 {
    let mut v = omen::Validator::new(omen::ValidatorOptions::default());
    let Ok(()) = v.feed(bytes, &mut Nowhere);
    let Ok(s) = v.finish(&mut Nowhere);
    s.rejected
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    match a[1].as_str() {
        "gen" => {
            let c = Corpus::generate(7, a[2].parse().unwrap(), Form::Compact);
            let f = faults::faulty(&c, 7);
            std::fs::write(&a[3], &c.bytes).unwrap();
            std::fs::write(&a[4], &f.bytes).unwrap();
        }
        "one" => {
            let b = std::fs::read(&a[2]).unwrap();
            println!("{}", run(&b));
        }
        _ => {
            let (c, f) = (std::fs::read(&a[2]).unwrap(), std::fs::read(&a[3]).unwrap());
            let n: usize = a[4].parse().unwrap();
            let mut r = vec![];
            for _ in 0..n {
                let t = Instant::now();
                run(&c);
                let tc = t.elapsed().as_secs_f64();
                let t = Instant::now();
                run(&f);
                let tf = t.elapsed().as_secs_f64();
                r.push((f.len() as f64 / tf) / (c.len() as f64 / tc));
            }
            r.sort_by(f64::total_cmp);
            println!("faulty/clean {:.3} ({:?})", r[n / 2], r);
        }
    }
}
