/** sentry-cli as it is: it announces releases and uploads source maps, by which stacks of events are read. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createToken } from '../../src/areas/people/personal_access_tokens/index.ts';
import { forgetOldErrors, unpackBundle } from '../../src/areas/work/error_tracking/index.ts';
import { ownAddress } from '../support/address.ts';
import { reports } from '../support/error_tracking.ts';
import { performJob, performQueued } from '../support/jobs.ts';
import { fileUrl, onMain } from '../support/repository.ts';
import { world } from '../support/world.ts';

const run = promisify(execFile);
const folder = await mkdtemp(path.join(tmpdir(), 'coppice-sentry-cli-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Where npm puts the program for this machine; undefined if there is none. */
function program(): string | undefined {
  try {
    const name = `@sentry/cli-${process.platform}-${process.arch}`;
    return path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/sentry-cli');
  } catch {
    return undefined;
  }
}

const source = 'function pick() {\n  // nothing is left\n  throw new Error("no apples");\n}\n';
/** Line 1, column 14 of the generated file is line 3, column 3 of the source. */
const map = {
  version: 3,
  file: 'app.js',
  sources: ['../src/orchard.ts'],
  names: ['pick'],
  sourcesContent: [source],
  mappings: 'AAAAA,aAEE',
};

test('sentry-cli announces releases and uploads source maps, and stacks show the sources', async (t) => {
  const cli = program();
  if (cli === undefined) return t.skip('@sentry/cli has no program for this machine');
  const here = await world({ environment: await ownAddress() });
  const { as, project, db, services, people } = here;
  const { errors, report } = await reports(here);
  const tokenOf = async (persona: 'developer' | 'reporter') =>
    (await createToken(db, { user_id: people[persona].id, name: 'cli', scopes: ['api'], expires_at: null })).value;
  const tokens = { developer: await tokenOf('developer'), reporter: await tokenOf('reporter') };
  const call = (by: keyof typeof tokens, ...words: string[]) =>
    run(cli, words, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        SENTRY_URL: here.url,
        SENTRY_AUTH_TOKEN: tokens[by],
        SENTRY_ORG: project.full_path.split('/')[0]!,
        SENTRY_PROJECT: String(project.id),
        SENTRY_NO_PROGRESS_BAR: '1',
      },
    });
  const refused = (by: keyof typeof tokens, ...words: string[]) =>
    assert.rejects(call(by, ...words), (error: Error & { stderr: string }) =>
      /Forbidden|not found/i.test(error.stderr),
    );

  await as('maintainer').post(fileUrl(project, 'src/orchard.ts'), { ...onMain, content: source });
  const [{ id: sha, title }] = (await as('developer').get(`/projects/${project.id}/repository/commits`)).body;
  await refused('reporter', 'releases', 'new', 'orchard@1.0');
  await call('developer', 'releases', 'new', 'orchard@1.0');
  await call('developer', 'releases', 'set-commits', 'orchard@1.0', '--commit', `${project.full_path}@${sha}`);
  await call('developer', 'releases', 'finalize', 'orchard@1.0');
  const { stdout: list } = await call('developer', 'releases', 'list');
  assert.match(list, /orchard@1\.0/);

  const dist = path.join(folder, 'dist');
  await mkdir(dist);
  await writeFile(
    path.join(dist, 'app.js'),
    'function p(){throw new Error("no apples")}\n//# sourceMappingURL=app.js.map\n',
  );
  await writeFile(path.join(dist, 'app.js.map'), JSON.stringify(map));
  const upload = ['sourcemaps', 'upload', '--release', 'orchard@1.0', '--url-prefix', '~/static', dist];
  await refused('reporter', ...upload);
  await call('developer', ...upload);
  assert.deepEqual(await performQueued(services, [unpackBundle]), ['unpack_bundle']);
  await call('developer', ...upload);
  assert.deepEqual(await performQueued(services, [unpackBundle]), [], 'the same bundle is unpacked once');
  const stored = await db
    .selectFrom('error_tracking_source_maps')
    .select(['debug_id', 'url'])
    .where('project_id', '=', project.id)
    .execute();
  assert.deepEqual(stored, [{ debug_id: null, url: '~/static/app.js' }]);
  assert.deepEqual(await db.selectFrom('error_tracking_chunks').select('checksum').execute(), []);

  const frames = [
    {
      filename: '/static/app.js',
      abs_path: 'https://shop.example/static/app.js?v=2',
      function: 'p',
      lineno: 1,
      colno: 14,
      in_app: true,
    },
  ];
  const event = (release?: string) => ({
    platform: 'javascript',
    ...(release ? { release } : {}),
    exception: { values: [{ type: 'Error', value: 'no apples', stacktrace: { frames } }] },
  });
  await report(event('orchard@1.0'));
  const [error] = (await as('reporter').get(errors)).body;
  const latest = async () =>
    (await as('reporter').get(`${errors}/${error.id}/events/latest`)).body.stack_trace_entries[0];
  const shown = await latest();
  assert.deepEqual([shown.filename, shown.lineNo, shown.colNo], ['../src/orchard.ts', 3, 3]);
  assert.deepEqual(shown.context[2], [3, '  throw new Error("no apples");']);
  assert.deepEqual(shown.minified, { filename: '/static/app.js', lineNo: 1, colNo: 14, function: 'p' });
  // The release names a commit: the source is found there, and who wrote the line.
  assert.equal(shown.source.file_path, 'src/orchard.ts');
  assert.deepEqual([shown.blame.commit_id, shown.blame.title], [sha, title]);
  await report(event('orchard@0.9'));
  assert.equal((await latest()).minified, null, 'another release');

  // By the debug id that sentry-cli writes into the files, no release is needed.
  await call('developer', 'sourcemaps', 'inject', dist);
  await call('developer', 'sourcemaps', 'upload', dist);
  await performQueued(services, [unpackBundle]);
  const { debug_id } = await db
    .selectFrom('error_tracking_source_maps')
    .select('debug_id')
    .where('debug_id', 'is not', null)
    .executeTakeFirstOrThrow();
  const images = [{ type: 'sourcemap', code_file: 'https://shop.example/static/app.js?v=2', debug_id }];
  // The injected code is in two lines of its own.
  const line = 3;
  await report({
    ...event(),
    exception: {
      values: [{ type: 'Error', value: 'no apples', stacktrace: { frames: [{ ...frames[0], lineno: line }] } }],
    },
    debug_meta: { images },
  });
  assert.deepEqual([(await latest()).filename, (await latest()).minified?.lineNo], ['../src/orchard.ts', line]);

  // A deleted release takes its maps with it; others are forgotten when they are no longer used.
  await call('developer', 'releases', 'delete', 'orchard@1.0');
  const left = () => db.selectFrom('error_tracking_source_maps').select('debug_id').execute();
  assert.deepEqual(await left(), [{ debug_id }]);
  await db.updateTable('error_tracking_source_maps').set({ used_at: '2020-01-01T00:00:00Z' }).execute();
  await performJob(services, forgetOldErrors);
  assert.deepEqual(await left(), []);
  const unused = await db.selectFrom('unused_blobs').select('key').execute();
  assert.equal(unused.filter(({ key }) => key.startsWith('source_maps/')).length, 2);
});
