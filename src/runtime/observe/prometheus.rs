//! What a runtime has counted, as Prometheus reads it.

use crate::runtime::observe::histogram::Histogram;
use crate::runtime::observe::metrics::{Metrics, PMetrics};
use core::fmt::{Display, Write};

impl Metrics {
    /// All of it in Prometheus' text format, version 0.0.4 (`text/plain; version=0.0.4`), each name beginning with `spinpark_`: for an
    /// endpoint of the program's own, beside its other metrics. The [console](crate::Builder::console) has one at `/metrics`.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let text = runtime.metrics().prometheus();
    /// assert!(text.contains("# TYPE spinpark_procs gauge\nspinpark_procs 2\n"));
    /// # Ok::<(), spinpark::BuildError>(())
    /// ```
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut text = Text(String::new());
        self.state(&mut text);
        self.counts(&mut text);
        self.by_p(&mut text);
        let times = [
            ("latency", "How long tasks waited for their turn; one in eight is measured.", &self.latency),
            (
                "run_time",
                "How long a task ran until it waited, yielded or ended; one in eight is measured.",
                &self.run_time,
            ),
        ];
        for (name, help, histogram) in times {
            if let Some(histogram) = histogram {
                text.histogram(name, help, histogram);
            }
        }
        text.0
    }

    /// What is so now.
    fn state(&self, text: &mut Text) {
        text.gauge("uptime_seconds", "How long the runtime has been there.", self.uptime.as_secs_f64());
        text.gauge("procs", "How many tasks may run at once: Ps.", self.procs);
        text.gauge("idle_procs", "Ps that no M uses.", self.idle_procs);
        text.gauge("global_queue_tasks", "Tasks in the global queue.", self.global_queue);
        text.gauge("threads", "Threads, without the monitor's.", self.threads);
        text.gauge("threads_sleeping", "Threads that sleep.", self.threads_sleeping);
        text.gauge("threads_spinning", "Threads that look for work.", self.threads_spinning);
        text.gauge("threads_polling", "Threads that wait for timers and sockets.", self.threads_polling);
        text.gauge("tasks_detached", "Tasks that go on without a P.", self.detached);
        text.gauge("tasks_waiting", "Tasks that have waited without a thread and not ended.", self.tasks_waiting);
        text.gauge("timers", "Timers that run.", self.timers);
        text.gauge("stacks", "Stacks of goroutines.", self.stacks);
        text.gauge("preemption_lost", "1: the handler of SIGURG was replaced.", u8::from(self.preemption_lost));
    }

    /// What has happened so far.
    fn counts(&self, text: &mut Text) {
        text.counter("threads_started_total", "Threads that were started, or should have been.", self.threads_started);
        text.counter("threads_refused_total", "Threads that could not be started.", self.threads_refused);
        text.counter("sleeps_total", "Threads that went to sleep.", self.sleeps);
        text.counter("wakes_total", "Threads that were woken.", self.wakes);
        text.counter("polls_total", "Waits for timers and sockets.", self.polls);
        text.counter("spins_total", "Threads that began to look for work.", self.spins);
        text.counter(
            "spinning_seconds_total",
            "For how long threads looked for work.",
            self.spinning_time.as_secs_f64(),
        );
        text.counter("retakes_total", "Ps taken from tasks in system calls.", self.retakes);
        text.counter("preemptions_total", "Ps taken from tasks that ignore preemption.", self.interrupts);
        text.counter("undetachable_total", "Tasks that kept their P at the limit of threads.", self.undetachable);
        text.counter("stops_total", "Stops of the world.", self.stops);
    }

    fn by_p(&self, text: &mut Text) {
        type From = (&'static str, fn(&PMetrics) -> u64);
        const FROM: [From; 5] = [
            ("runnext", |p| p.from_runnext),
            ("ring", |p| p.from_ring),
            ("global", |p| p.from_global),
            ("sources", |p| p.from_sources),
            ("steal", |p| p.from_steal),
        ];
        text.head("local_queue_tasks", "gauge", "Tasks in the queue of a P.");
        for (n, p) in self.per_p.iter().enumerate() {
            text.value("local_queue_tasks", &format!("{{p=\"{n}\"}}"), p.queue);
        }
        text.head("dispatches_total", "counter", "Dispatches, by P and by where the task was found.");
        for (n, p) in self.per_p.iter().enumerate() {
            for (from, count) in FROM {
                text.value("dispatches_total", &format!("{{p=\"{n}\",from=\"{from}\"}}"), count(p));
            }
        }
        text.head("tasks_stolen_total", "counter", "Tasks stolen from other Ps.");
        for (n, p) in self.per_p.iter().enumerate() {
            text.value("tasks_stolen_total", &format!("{{p=\"{n}\"}}"), p.tasks_stolen);
        }
    }
}

struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // To write to a `String` cannot fail.
        let _ = write!(self.0, "# HELP spinpark_{name} {help}\n# TYPE spinpark_{name} {kind}\n");
    }

    fn value(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "spinpark_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.value(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "counter", help);
        self.value(name, "", value);
    }

    /// Its bins are four to each power of two: those between are left out.
    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        let name = format!("task_{name}_seconds");
        self.head(&name, "histogram", help);
        let (mut below, bucket) = (0, format!("{name}_bucket"));
        for (bin, count) in histogram.bins() {
            below += count;
            if bin.end.as_nanos().is_power_of_two() {
                self.value(&bucket, &format!("{{le=\"{}\"}}", bin.end.as_secs_f64()), below);
            }
        }
        self.value(&bucket, "{le=\"+Inf\"}", histogram.count());
        self.value(&format!("{name}_sum"), "", histogram.total().as_secs_f64());
        self.value(&format!("{name}_count"), "", histogram.count());
    }
}
