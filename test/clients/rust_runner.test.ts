/** The crate gitlab-runner for Rust, unmodified: a program of some lines executes jobs with it (rust_runner/). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ownAddress } from '../support/address.ts';
import { built } from '../support/pipelines.ts';
import { isLong } from '../support/runs.ts';
import { sent } from '../support/sent.ts';
import { buildRust } from './installed.ts';

const run = promisify(execFile);

const configuration = `
stages: [build, test]
build: {stage: build, script: ['say built with $CI_JOB_NAME', leave out.txt an apple], artifacts: {paths: [out.txt]}}
test: {stage: test, script: [show], needs: [build]}
check: {stage: test, script: [unknown], allow_failure: true}
`;

if (isLong)
  test('the crate gitlab-runner executes jobs, leaves files and reads them', async (t) => {
    const client = await buildRust('rust_runner', path.join(import.meta.dirname, 'rust_runner'));
    if ('missing' in client) return t.skip(client.missing);
    const { as, at, project, url, statesOf, jobsOf } = await built(configuration, { environment: await ownAddress() });
    const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
    const runner = { runner_type: 'project_type', project_id: project.id, run_untagged: true };
    const { token } = await sent(as('maintainer').post('/user/runners', runner));
    const folder = await mkdtemp(path.join(tmpdir(), 'coppice-rust-runner-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await run(client.program, [url, token, folder, '3']);
    assert.deepEqual(await statesOf(id), { build: 'success', test: 'success', check: 'failed' });
    const jobs = await jobsOf(id);
    const log = async (name: string) => (await as('developer').get(`${at}/jobs/${jobs[name]!.id}/trace`)).body;
    assert.match(await log('build'), /built with/);
    assert.match(await log('test'), /out\.txt of build: an apple/);
  });
