import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, report, sendFile, zipped } from '../../../../test/support/artifacts.ts';
import { browserOf } from '../../../../test/support/browser.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const suite = `<testsuite><testcase classname="fruit" name="peels" time="0.5"/>
<testcase classname="fruit" name="picks" time="1.5"><failure>too &lt;high&gt;</failure></testcase></testsuite>`;

test('the pages of a job and a pipeline lead to the files and the tests that they left', async () => {
  const here = await built('build: {script: make, artifacts: {paths: [out], reports: {junit: junit.xml}}}');
  const { as, at, project, people } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const build = (await (await runnerOf(here)).take())!;
  const archive = zipped({ 'out/apple.txt': 'an apple', 'out/pear.txt': 'a pear' });
  assert.equal((await sendFile(here, build, archive)).status, 201);
  assert.equal((await sendFile(here, build, gzipped(suite), report('junit'))).status, 201);
  await build.end('success');
  const browser = await browserOf(here, people.developer);
  const page = `/${project.full_path}/-/jobs/${build.id}`;
  const job = await browser.get(page);
  assert.match(job.html, new RegExp(`<a href="${page}/artifacts/download"[^>]*>artifacts.zip</a>`));
  assert.match(job.html, /junit/);
  const top = await browser.get(`${page}/artifacts/browse`);
  assert.match(top.html, new RegExp(`<a href="${page}/artifacts/browse/out"`));
  const folder = await browser.get(`${page}/artifacts/browse/out`);
  assert.match(folder.html, new RegExp(`<a href="${page}/artifacts/raw/out/apple.txt"[^>]*>apple.txt</a>`));
  assert.equal((await browser.get(`${page}/artifacts/raw/out/apple.txt`)).html, 'an apple');
  const newest = `/${project.full_path}/-/jobs/artifacts/main`;
  for (const [address, to] of [
    ['download', 'download'],
    ['browse', 'browse'],
    ['browse/out', 'browse/out'],
    ['raw/out/apple.txt', 'raw/out/apple.txt'],
  ])
    assert.equal((await browser.get(`${newest}/${address}?job=build`)).to, `${page}/artifacts/${to}`, address);
  assert.equal((await browser.get(`${newest}/download?job=other`)).status, 404);
  assert.equal((await browser.get(`${newest}/download`)).to, `/${project.full_path}/-/pipelines?ref=main`);
  assert.equal((await browser.get(`/${project.full_path}/-/jobs/artifacts/none/download?job=build`)).status, 404);

  const pipeline = `/${project.full_path}/-/pipelines/${id}`;
  assert.match(
    (await browser.get(pipeline)).html,
    new RegExp(`<a href="${pipeline}/test_report"[^>]*>2 tests, 1 failed</a>`),
  );
  const tests = await browser.get(`${pipeline}/test_report`);
  assert.match(tests.html, /<strong>picks<\/strong>[\s\S]*<pre>too &lt;high&gt;<\/pre>/);
  assert.doesNotMatch(tests.html, /peels/);
});
