fn main() {
    windlass_testbed::vm::guest_main(|args| {
        Ok(format!(
            "{args:?} {:?}",
            std::fs::read_dir(".").unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>()
        )
        .into_bytes())
    });
    use windlass_testbed::vm::*;
    for series in Series::ALL {
        check(series).unwrap();
        let k = prepare(series, &mut |s| eprintln!("{s}")).unwrap();
        eprintln!("{k:?}");
        for _ in 0..2 {
            let a = run(
                &k,
                &Job {
                    args: vec!["a b".into()],
                    files: vec![("x/y".into(), vec![1])],
                    timeout: std::time::Duration::from_secs(60),
                    ..Job::default()
                },
            );
            match a {
                Ok(a) => eprintln!("{a:?} {}", String::from_utf8_lossy(&a.output)),
                Err(e) => eprintln!("{e}"),
            }
        }
    }
}
