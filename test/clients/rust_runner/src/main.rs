//! Executes as many jobs as it is told, one after the other, with the crate `gitlab-runner`. The lines of a script are commands of its own:
//! `say TEXT` writes to the log, `leave NAME TEXT` leaves a file, `show` writes the files of earlier jobs to the log, and everything else fails.

use std::borrow::Cow;
use std::io::Read;

use futures::io::Cursor;
use gitlab_runner::job::Job;
use gitlab_runner::{outputln, GitlabLayer, JobHandler, JobResult, Phase, RunnerBuilder, UploadableFile};
use tracing_subscriber::prelude::*;

struct Left {
    name: String,
    text: String,
}

#[async_trait::async_trait]
impl UploadableFile for Left {
    type Data<'a> = Cursor<Vec<u8>>;

    fn get_path(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    async fn get_data(&self) -> Result<Self::Data<'_>, ()> {
        Ok(Cursor::new(self.text.clone().into_bytes()))
    }
}

struct Execution {
    job: Job,
    left: Vec<Left>,
}

impl Execution {
    async fn show(&self) -> JobResult {
        for dependency in self.job.dependencies() {
            let Some(mut archive) = dependency.download().await.map_err(|_| ())? else { continue };
            for index in 0..archive.len() {
                let mut file = archive.by_index(index).ok_or(())?;
                let mut text = String::new();
                file.read_to_string(&mut text).map_err(|_| ())?;
                outputln!("{} of {}: {}", file.name(), dependency.name(), text);
            }
        }
        Ok(())
    }
}

#[async_trait::async_trait]
impl JobHandler<Left> for Execution {
    async fn step(&mut self, script: &[String], _phase: Phase) -> JobResult {
        for line in script {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["say", ..] => outputln!("{}", &line["say ".len()..]),
                ["leave", name, text] => self.left.push(Left { name: name.into(), text: text.into() }),
                ["show"] => self.show().await?,
                _ => return Err(()),
            }
        }
        Ok(())
    }

    async fn get_uploadable_files(&mut self) -> Result<Box<dyn Iterator<Item = Left> + Send>, ()> {
        Ok(Box::new(std::mem::take(&mut self.left).into_iter()))
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, server, token, folder, count] = &arguments[..] else { panic!("server, token, folder and count are missing") };
    let (layer, jobs) = GitlabLayer::new();
    tracing_subscriber::Registry::default().with(layer).init();
    let server = server.parse().expect("the server is a URL");
    let mut runner = RunnerBuilder::new(server, token.as_str(), folder, jobs).build().await;
    let mut left: usize = count.parse().expect("count is a number");
    while left > 0 {
        let execute = |job: Job| async move { Ok(Execution { job, left: Vec::new() }) };
        if runner.request_job(execute).await.expect("jobs can be asked for") {
            runner.drain().await;
            left -= 1;
        }
    }
}
