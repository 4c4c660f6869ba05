//! A page in a real browser: Chromium without a window, driven by chromedriver (W3C WebDriver: JSON over HTTP).

use crate::programs::killed::Killed;
use crate::programs::{Folder, is_there, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) struct Browser {
    /// `http://127.0.0.1:PORT/session/ID`.
    session: String,
    agent: ureq::Agent,
    /// Dropped after the session was ended.
    _driver: Killed,
    _profile: Folder,
}

/// What makes Chromium quiet, quick, and fit for a container.
const OPTIONS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,720",
];

impl Browser {
    /// `None`: there is none here, which is said.
    pub(crate) fn start(name: &str) -> Option<Browser> {
        if !is_there("chromedriver", "--version", "ChromeDriver") {
            return None;
        }
        let Some(chromium) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(which) else {
            println!("skipped: there is no Chromium here");
            return None;
        };
        let profile = Folder::new(&format!("{name}-profile"));
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", &profile.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it says its version");
        let lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let driver = Killed(driver);
        let port = lines.map_while(Result::ok).find_map(|line| {
            let port = line.split_once("started successfully on port ")?.1;
            Some(port.trim_end_matches('.').to_owned())
        });
        let url = format!("http://127.0.0.1:{}/session", port.expect("it says where it listens"));
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
        let agent = ureq::Agent::new_with_config(config);
        let mut args = OPTIONS.map(str::to_owned).to_vec();
        args.push(format!("--user-data-dir={}", profile.0.join("data").display()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium, "args": args},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = ask(agent.post(&url).send(wanted.to_string()));
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {made}"));
        Some(Browser { session: format!("{url}/{id}"), agent, _driver: driver, _profile: profile })
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        let url = format!("{}/{command}", self.session);
        let answer = ask(self.agent.post(url).send(body.to_string()));
        assert!(answer.get("error").is_none(), "{command} {body}: {answer}");
        answer
    }

    pub(crate) fn open(&self, url: &str) {
        self.post("url", &json!({"url": url}));
    }

    /// A tab more, which is looked at from now on; its name.
    pub(crate) fn open_tab(&self, url: &str) -> String {
        let tab = self.post("window/new", &json!({"type": "tab"}))["handle"].as_str().expect("a tab").to_owned();
        self.look_at(&tab);
        self.open(url);
        tab
    }

    pub(crate) fn tab(&self) -> String {
        let answer = ask(self.agent.get(format!("{}/window", self.session)).call());
        answer.as_str().expect("a tab").to_owned()
    }

    pub(crate) fn look_at(&self, tab: &str) {
        self.post("window", &json!({"handle": tab}));
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("element", &json!({"using": "css selector", "value": css}));
        let id = found.as_object().and_then(|found| found.values().next()?.as_str());
        id.expect("an element has a number").to_owned()
    }

    /// As a user does, key by key.
    pub(crate) fn type_into(&self, css: &str, text: &str) {
        self.post(&format!("element/{}/clear", self.element(css)), &json!({}));
        self.post(&format!("element/{}/value", self.element(css)), &json!({"text": text}));
    }

    pub(crate) fn click(&self, css: &str) {
        self.post(&format!("element/{}/click", self.element(css)), &json!({}));
    }

    /// What the script returns, a function's body.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The text of the first element of this kind; none: nothing.
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.run(&format!("return document.querySelector({css:?})?.innerText ?? ''"));
        text.as_str().expect("text").to_owned()
    }

    pub(crate) fn until_text(&self, css: &str, part: &str) {
        until(&format!("to be seen in {css}: {part}"), || self.text(css).contains(part));
    }

    /// What the page has complained about.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let lines = self.post("se/log", &json!({"type": "browser"}));
        lines.as_array().expect("lines").iter().map(|line| line["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
    }
}

fn ask(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let text = answer.expect("chromedriver answers").body_mut().read_to_string().expect("text");
    let mut answer: Value = serde_json::from_str(&text).expect("JSON");
    answer["value"].take()
}

/// Where a program is, if it can be started by its name.
fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
