//! Whom a thread wakes first. The host is the README's, and writes down which thread's parker was rung.
#![allow(dead_code)]

include!("pool.in");

/// Whose parkers were rung, in order.
static RUNG: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

struct Told;
/// With the name of the thread that sleeps there.
struct ToldParker(OsParker, OnceLock<String>);

impl Parker for ToldParker {
    fn new() -> Self {
        ToldParker(OsParker::new(), OnceLock::new())
    }
    fn park(&self) {
        self.1.get_or_init(|| thread::current().name().unwrap_or_default().to_owned());
        self.0.park();
    }
    fn park_timeout(&self, nanos: Nanos) {
        self.0.park_timeout(nanos);
    }
    fn unpark(&self) {
        RUNG.lock().unwrap().push(self.1.get().cloned().unwrap_or_default());
        self.0.unpark();
    }
}

impl Host for Told {
    type Word = AtomicU64;
    type Lock<T: Send + 'static> = OsLock<T>;
    type Parker = ToldParker;
    fn fence(order: Ordering) {
        fence(order);
    }
    fn relax() {
        Os::relax();
    }
    fn choose(n: usize) -> usize {
        Os::choose(n)
    }
    fn now() -> Nanos {
        Os::now()
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        Os::spawn(name, body)
    }
}

#[test]
fn after_a_long_rest_a_submitter_wakes_the_m_that_has_to_run_and_then_the_monitor() {
    let life = |sched: &Arc<Sched<Told>>, mut worker| {
        while let Some((mine, _)) = sched.next(worker) {
            worker = mine;
        }
    };
    let sched = Sched::<Told>::new(Config { procs: 1, ..Config::default() }, (), life).expect("the numbers are good");
    sched.start_sysmon().expect("there can be a thread");
    sched.submit(g(1)).expect("it is open");
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        // Eight ticks of ten milliseconds with the only P idle, and the monitor sleeps until it is woken.
        thread::sleep(Duration::from_millis(150));
        RUNG.lock().unwrap().clear();
        sched.submit(g(2)).expect("it is open");
        let rung = RUNG.lock().unwrap().clone();
        if rung.len() == 2 {
            assert_eq!(rung, ["spinpark-m0", "spinpark-sysmon"]);
            break;
        }
        assert!(Instant::now() < end, "the monitor never slept: {rung:?}");
    }
    sched.close();
}
