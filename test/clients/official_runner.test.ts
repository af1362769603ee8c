/** The official runner, unmodified, with its shell executor: it builds, tests and deploys a small project. Its source has no version that Go fetches as a module, so it is built from a clone. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endOverdueJobs } from '../../src/areas/ci/jobs/index.ts';
import { ownAddress } from '../support/address.ts';
import { performJob } from '../support/jobs.ts';
import { built } from '../support/pipelines.ts';
import { isLong } from '../support/runs.ts';
import { sent } from '../support/sent.ts';
import { keptFolder, missing } from './installed.ts';

const run = promisify(execFile);
const source = 'https://gitlab.com/gitlab-org/gitlab-runner.git';
const version = 'v15.0.0';

async function installed(): Promise<{ program: string } | { missing: string }> {
  try {
    const folder = await keptFolder(`gitlab-runner ${version}`, async (draft) => {
      const clone = path.join(draft, 'source');
      await run('git', ['clone', '-q', '--depth', '1', '--branch', version, source, clone]);
      const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
      await run('go', ['build', '-o', path.join(draft, 'gitlab-runner'), '.'], { cwd: clone, env });
      await rm(clone, { recursive: true });
    });
    return { program: path.join(folder, 'gitlab-runner') };
  } catch (error) {
    return missing('gitlab-runner', error);
  }
}

/** Waits until a check passes, for as long as a job of a runner may take on a busy machine. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await check();
    } catch (error) {
      if (tries === 240) throw error;
      await sleep(500);
    }
  }
}

const configuration = `
stages: [build, test, deploy]
build:
  stage: build
  script:
    - printf 'a %s\\n' "$CI_COMMIT_SHORT_SHA" > built.txt
    - echo "the password is $PASSWORD"
    - test -n "$CI_JOB_TOKEN"
    - echo "LEFT=of the build" > build.env
    - mkdir -p kept && echo kept > kept/file.txt
    - printf '<testsuite><testcase name="grows" classname="apples" time="0.5"/></testsuite>' > junit.xml
  artifacts: {paths: [built.txt], expire_in: 1 week, reports: {dotenv: build.env, junit: junit.xml}}
  cache: {key: shared, paths: [kept]}
test:
  stage: test
  script:
    - cat built.txt kept/file.txt
    - echo "left $LEFT"
    - git log -1 --format=%H
    - exit 3
  cache: {key: shared, paths: [kept], policy: pull}
  after_script: [echo cleaned up]
  allow_failure: {exit_codes: [3]}
ship: {stage: deploy, script: [echo shipped to "$WHERE"], when: manual, variables: {WHERE: the shop}}
endless: {stage: deploy, script: [sleep 60], needs: []}
`;

if (isLong)
  test('the official runner executes a pipeline, with files, variables, a cache, masking, exit codes, a manual job and a cancelled one', async (t) => {
    const found = await installed();
    if ('missing' in found) return t.skip(found.missing);
    const here = await built(configuration, { environment: await ownAddress() });
    const { as, at, url, sha, project, statesOf, jobsOf, services } = here;
    const password = { key: 'PASSWORD', value: 'swordfish12', masked: true };
    await sent(as('maintainer').post(`${at}/variables`, password));
    const folder = await mkdtemp(path.join(tmpdir(), 'coppice-runner-'));
    const registration = (await as('maintainer').get(at)).body.runners_token as string;
    const made = await fetch(`${url}/api/v4/runners`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: registration, description: 'shell' }),
    });
    const { token } = (await made.json()) as { token: string };
    const config = path.join(folder, 'config.toml');
    const folders = `builds_dir = "${folder}/builds"\ncache_dir = "${folder}/cache"`;
    const settings = `name = "shell"\nurl = "${url}"\ntoken = "${token}"\nexecutor = "shell"\nshell = "bash"\n${folders}`;
    await writeFile(config, `concurrent = 3\ncheck_interval = 1\n[[runners]]\n${settings}\n`);
    const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
    const runner = spawn(found.program, ['run', '--config', config, '--working-directory', folder], {
      env: { PATH: process.env.PATH!, HOME: folder },
    });
    let said = '';
    for (const stream of [runner.stdout, runner.stderr])
      stream.on('data', (text) => {
        said += text;
      });
    const logOf = async (name: string) =>
      (await as('developer').get(`${at}/jobs/${(await jobsOf(id))[name]!.id}/trace`)).body as string;
    try {
      await eventually(async () => assert.equal((await statesOf(id)).endless, 'running', said));
      await sent(as('maintainer').post(`${at}/jobs/${(await jobsOf(id)).endless!.id}/cancel`));
      await eventually(async () =>
        assert.deepEqual(
          await statesOf(id),
          { build: 'success', test: 'failed', ship: 'manual', endless: 'canceled' },
          said,
        ),
      );
      const log = await logOf('build');
      assert.match(log, /the password is \[MASKED\]/);
      assert.doesNotMatch(log, /swordfish12/);
      const short = sha.slice(0, 8);
      assert.match(
        await logOf('test'),
        new RegExp(
          `a ${short}\\nkept\\n[\\s\\S]*left of the build[\\s\\S]*${sha}[\\s\\S]*cleaned up[\\s\\S]*exit status 3`,
        ),
      );
      const file = await as('developer').get(`${at}/jobs/${(await jobsOf(id)).build!.id}/artifacts/built.txt`);
      assert.equal(file.body, `a ${short}\n`);
      const { total } = (await as('developer').get(`${at}/pipelines/${id}/test_report_summary`)).body;
      assert.deepEqual([total.count, total.success], [1, 1]);
      const { test: tested } = await jobsOf(id);
      assert.equal((await as('developer').get(`${at}/jobs/${tested!.id}`)).body.allow_failure, true);
      await sent(as('maintainer').post(`${at}/jobs/${(await jobsOf(id)).ship!.id}/play`));
      await eventually(async () => assert.equal((await statesOf(id)).ship, 'success', said));
      assert.match(await logOf('ship'), /shipped to the shop/);
      await performJob(services, endOverdueJobs, {});
      assert.equal((await jobsOf(id)).build!.status, 'success');
      assert.equal((await as('developer').get(`/projects/${project.id}/pipelines/${id}`)).body.status, 'canceled');
    } finally {
      runner.kill('SIGQUIT');
      if (runner.exitCode === null) await once(runner, 'exit');
      await rm(folder, { recursive: true, force: true });
    }
  });
