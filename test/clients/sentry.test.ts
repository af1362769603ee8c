/** SDKs of Sentry as they are, for Node.js, browsers, Python, Go, Ruby and, in `npm run test:long`, Java and Rust: what they send is stored with the right key and with no other. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { digestErrors } from '../../src/areas/work/error_tracking/index.ts';
import { ownAddress } from '../support/address.ts';
import { chromiumProgram, withoutChromium } from '../support/chromium.ts';
import { performQueued } from '../support/jobs.ts';
import { isLong } from '../support/runs.ts';
import { type World, world } from '../support/world.ts';
import { buildGo, buildRust, keptFolder, type Missing, missing, pythonWith } from './installed.ts';

const run = promisify(execFile);
const folder = await mkdtemp(path.join(tmpdir(), 'coppice-sentry-'));
after(() => rm(folder, { recursive: true, force: true }));
const environment = await ownAddress();

type Program = string[] | Missing;

async function python(): Promise<Program> {
  const found = await pythonWith('sentry-sdk');
  return 'missing' in found ? found : [found.python, path.join(import.meta.dirname, 'sentry_python.py')];
}

async function go(): Promise<Program> {
  const built = await buildGo(path.join(import.meta.dirname, 'go'), './sentry', folder);
  return 'missing' in built ? built : [built.program];
}

/** Of the distribution, as `.ci/run` installs it. */
async function ruby(): Promise<Program> {
  try {
    await run('ruby', ['-e', 'require "sentry-ruby"']);
  } catch (error) {
    return missing('sentry-ruby', error);
  }
  return ['ruby', path.join(import.meta.dirname, 'sentry_ruby.rb')];
}

/** Maven takes longer to fetch it than all others. */
async function java(): Promise<Program> {
  const version = '8.53.0';
  const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
  const artifact = `-Dartifact=io.sentry:sentry:${version}`;
  try {
    const jars = await keptFolder(`sentry-java ${version}`, (into) =>
      run('mvn', ['-q', '-B', copy, artifact, `-DoutputDirectory=${into}`]),
    );
    return [
      'java',
      '-cp',
      path.join(jars, `sentry-${version}.jar`),
      path.join(import.meta.dirname, 'java/SentryJava.java'),
    ];
  } catch (error) {
    return missing('sentry-java', error);
  }
}

async function rust(): Promise<Program> {
  const built = await buildRust('sentry_rust', path.join(import.meta.dirname, 'rust'));
  return 'missing' in built ? built : [built.program];
}

/** The project takes errors. @returns its DSN, and some with keys that are none of its own */
async function dsns({ as, project }: World): Promise<{ right: string; wrong: string[] }> {
  const keyOf = async (id: number) => {
    await as('owner').put(`/projects/${id}/error_tracking/settings`, { active: true, integrated: true });
    return (await as('owner').post(`/projects/${id}/error_tracking/client_keys`)).body;
  };
  const deleted = await keyOf(project.id);
  assert.equal(
    (await as('owner').delete(`/projects/${project.id}/error_tracking/client_keys/${deleted.id}`)).status,
    204,
  );
  const { public_key, sentry_dsn } = await keyOf(project.id);
  const { body: other } = await as('owner').post('/projects', { name: `other-${project.path}` });
  const foreign = await keyOf(other.id);
  const keys = [deleted.public_key, foreign.public_key, `glet_${'0'.repeat(32)}`];
  return { right: sentry_dsn, wrong: keys.map((key) => sentry_dsn.replace(public_key, key)) };
}

interface Stored {
  name: string;
  description: string;
  platform: string;
  release: string;
  environment: string;
  stack_trace_entries: { function: string | null }[];
}

/** The errors of the world's project, each with its last event, as someone reads them. */
async function storedErrors({ as, services, project }: World): Promise<Stored[]> {
  await performQueued(services, [digestErrors]);
  const base = `/projects/${project.id}/error_tracking/errors`;
  const { body: errors } = await as('reporter').get(base);
  return Promise.all(
    errors.map(async ({ id, name, platform }: Stored & { id: number }) => {
      const { body: event } = await as('reporter').get(`${base}/${id}/events/latest`);
      return { ...event, name, platform };
    }),
  );
}

/** Runs a program that sends an exception and a message to each DSN. */
async function send(program: readonly string[], to: readonly string[]): Promise<void> {
  const [command, ...words] = program;
  const child = spawn(command!, words, { stdio: ['pipe', 'inherit', 'pipe'] });
  child.stdin.end(JSON.stringify(to));
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.equal(code, 0, said);
}

async function tell(t: TestContext, program: Program, platform: string): Promise<World | undefined> {
  if ('missing' in program) {
    t.skip(program.missing);
    return undefined;
  }
  const here = await world({ environment });
  const { right, wrong } = await dsns(here);
  await send(program, wrong);
  assert.deepEqual(await storedErrors(here), []);
  await send(program, [right]);
  const all = await storedErrors(here);
  assert.equal(all.length, 2);
  const others = await here.db
    .selectFrom('error_tracking_events as events')
    .innerJoin('projects', 'projects.id', 'events.project_id')
    .select('events.id')
    .where('projects.path', '=', `other-${here.project.path}`)
    .execute();
  assert.deepEqual(others, []);
  const said = all.find(({ name }) => name === 'the harvest is late');
  assert.ok(said, JSON.stringify(all.map(({ name }) => name)));
  const thrown = all.find((error) => error !== said)!;
  assert.match(thrown.description, /no apples/);
  for (const error of all)
    assert.deepEqual([error.platform, error.release, error.environment], [platform, 'orchard@1.0', 'autumn']);
  const { stack_trace_entries: frames } = thrown;
  assert.ok(
    frames.some(({ function: name }) => name !== null && /pick/.test(name)),
    JSON.stringify(frames),
  );
  return here;
}

test('sentry for Node.js', async (t) => {
  assert.ok(await tell(t, [process.execPath, path.join(import.meta.dirname, 'sentry_node.ts')], 'node'));
});

async function browser(): Promise<Program> {
  const program = await chromiumProgram();
  return program === undefined
    ? { missing: withoutChromium }
    : [process.execPath, path.join(import.meta.dirname, 'sentry_browser.ts'), program];
}

test('sentry for browsers, with a session', async (t) => {
  const here = await tell(t, await browser(), 'javascript');
  if (here === undefined) return;
  const { body } = await here.as('reporter').get(`/projects/${here.project.id}/error_tracking/releases_health`);
  assert.deepEqual(
    body.map(({ release, environment }: Record<string, unknown>) => [release, environment]),
    [['orchard@1.0', 'autumn']],
  );
});

for (const [name, program, platform] of [
  ['Python', python, 'python'],
  ['Ruby', ruby, 'ruby'],
] as const)
  test(`sentry for ${name}, with a session`, async (t) => {
    const here = await tell(t, await program(), platform);
    if (here === undefined) return;
    const { body } = await here.as('reporter').get(`/projects/${here.project.id}/error_tracking/releases_health`);
    assert.deepEqual(
      body.map(({ release, environment, errored }: Record<string, unknown>) => [release, environment, errored]),
      [['orchard@1.0', 'autumn', 1]],
    );
  });

test('sentry for Go', async (t) => {
  await tell(t, await go(), 'go');
});

if (isLong)
  for (const [name, program, platform] of [
    ['Java', java, 'java'],
    ['Rust', rust, 'native'],
  ] as const)
    test(`sentry for ${name}, with sessions`, async (t) => {
      const here = await tell(t, await program(), platform);
      if (here === undefined) return;
      const { body } = await here.as('reporter').get(`/projects/${here.project.id}/error_tracking/releases_health`);
      assert.deepEqual(
        body.map(({ release, errored }: Record<string, unknown>) => [release, errored]),
        [['orchard@1.0', 1]],
      );
    });
