fn main() {
    use windlass_testbed::script::*;
    let mut on = vec![World::Sim, World::Linux];
    for a in std::env::args().skip(1) {
        if a == "sim" {
            on = vec![World::Sim];
            continue;
        }
        if a == "linux" {
            on = vec![World::Linux];
            continue;
        }
        match Script::parse(&std::fs::read_to_string(&a).unwrap(), &a) {
            Err(e) => println!("{e}"),
            Ok(s) => {
                for &w in &on {
                    match run(&s, w) {
                        Ok(()) => println!("ok    {w} {a}"),
                        Err(e) => println!("FAIL  {w} {e}"),
                    }
                }
            }
        }
    }
}
