/** Renovate 39 opens, updates, rebases and merges merge requests, and looks releases up. Installing it takes a minute and each run ten seconds, so it runs only in `npm run test:long`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Client, clientOf } from '../support/client.ts';
import { environmentFor, startInstance } from '../support/instance.ts';
import { isLong } from '../support/runs.ts';

/** The version of Renovate fails on other versions of Node than this, which a package brings. */
const node = `node-${process.platform}-${process.arch}`;
const packages = ['renovate@39', `${node}@22`];

const run = promisify(execFile);
const rootToken = 'glpat-of-the-administrator-x';
const packageJson = (fields: object) => `${JSON.stringify({ name: 'orchard', ...fields }, null, 2)}\n`;

/** A package registry that has one package, in the versions that the test publishes. */
async function registry(t: TestContext): Promise<{ url: string; versions: string[] }> {
  const versions = ['1.0.0', '1.1.0'];
  const server = createServer((_, reply) => {
    const packument = {
      name: 'apples',
      'dist-tags': { latest: versions.at(-1) },
      versions: Object.fromEntries(versions.map((version) => [version, { name: 'apples', version }])),
      time: Object.fromEntries(versions.map((version) => [version, '2026-01-01T00:00:00.000Z'])),
    };
    reply.setHeader('content-type', 'application/json').end(JSON.stringify(packument));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, versions };
}

/** Adds the account of the program. @returns its token */
async function addBot(root: Client): Promise<{ id: number; token: string }> {
  const account = { username: 'renovate', name: 'Renovate', email: 'renovate@example.com', skip_confirmation: true };
  const { id } = (await root.post('/users', { ...account, force_random_password: true })).body;
  const made = await root.post(`/users/${id}/personal_access_tokens`, {
    name: 'bot',
    scopes: ['api', 'write_repository'],
  });
  return { id, token: made.body.token };
}

interface Forge {
  folder: string;
  url: string;
  token: string;
}

/** Runs the program on the project `orchard`. */
async function renovate({ folder, url, token }: Forge): Promise<void> {
  const program = path.join(folder, 'node_modules/renovate/dist/renovate.js');
  const options = [
    '--platform=gitlab',
    `--endpoint=${url}/api/v4/`,
    '--onboarding=false',
    '--git-author=Renovate <r@example.com>',
  ];
  // A folder for each run: what one remembers of the registry is not asked for again by the next.
  const work = await mkdtemp(path.join(folder, 'work-'));
  const env = { PATH: process.env.PATH, HOME: folder, RENOVATE_TOKEN: token, RENOVATE_BASE_DIR: work };
  await run(path.join(folder, 'node_modules', node, 'bin/node'), [program, ...options, 'root/orchard'], {
    env,
    cwd: folder,
  }).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout.slice(-8000)}${stderr}`));
}

async function newFolder(t: TestContext, name: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `coppice-${name}-`));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

if (isLong)
  test('Renovate opens a merge request, updates it, rebases it, and merges it, and finds releases', async (t) => {
    const [folder, data] = [await newFolder(t, 'renovate'), await newFolder(t, 'renovate-data')];
    await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...packages]);
    const { url: registryUrl, versions } = await registry(t);
    const environment = await environmentFor(data, rootToken);
    const instance = await startInstance(environment);
    t.after(() => instance.stop());

    const root = clientOf(`${environment.COPPICE_URL}/api/v4`, rootToken);
    const bot = await addBot(root);
    const { id } = (await root.post('/projects', { name: 'orchard', initialize_with_readme: true })).body;
    await root.post(`/projects/${id}/members`, { user_id: bot.id, access_level: 40 });
    const settings = { npmrc: `registry=${registryUrl}`, labels: ['dependencies'], rebaseWhen: 'behind-base-branch' };
    const commit = async (action: string, file_path: string, content: string) => {
      const actions = [{ action, file_path, content }];
      const made = await root.post(`/projects/${id}/repository/commits`, {
        branch: 'main',
        commit_message: file_path,
        actions,
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    };
    await commit('create', 'package.json', packageJson({ version: '1.0.0', dependencies: { apples: '1.0.0' } }));
    await commit('create', 'renovate.json', JSON.stringify(settings));
    const forge = { folder, url: environment.COPPICE_URL, token: bot.token };
    const only = async () => {
      const [{ iid }, ...others] = (await root.get(`/projects/${id}/merge_requests`)).body;
      assert.deepEqual(others, []);
      return (await root.get(`/projects/${id}/merge_requests/${iid}`)).body;
    };
    const changed = async () =>
      (await root.get(`/projects/${id}/merge_requests/1/diffs`)).body.map(
        ({ diff }: { diff: string }) => /^\+ .*$/m.exec(diff)?.[0],
      );

    await renovate(forge);
    const opened = await only();
    assert.deepEqual([opened.title, opened.labels], ['Update dependency apples to v1.1.0', ['dependencies']]);
    assert.deepEqual([opened.author.username, opened.detailed_merge_status], ['renovate', 'mergeable']);
    assert.deepEqual(await changed(), ['+    "apples": "1.1.0"']);

    versions.push('1.2.0');
    await renovate(forge);
    const updated = await only();
    assert.deepEqual([updated.iid, updated.title], [1, 'Update dependency apples to v1.2.0']);
    assert.notEqual(updated.sha, opened.sha);

    await commit('update', 'package.json', packageJson({ version: '1.0.1', dependencies: { apples: '1.0.0' } }));
    await renovate(forge);
    const rebased = await only();
    const { commit: head } = (await root.get(`/projects/${id}/repository/branches/main`)).body;
    assert.deepEqual([rebased.iid, rebased.state, rebased.diff_refs.base_sha], [1, 'opened', head.id]);
    assert.deepEqual(await changed(), ['+    "apples": "1.2.0"']);

    await commit('update', 'renovate.json', JSON.stringify({ ...settings, automerge: true, ignoreTests: true }));
    await renovate(forge);
    const merged = await only();
    assert.deepEqual([merged.state, merged.merge_user.username], ['merged', 'renovate']);

    // A version of another project here, by its releases.
    const seeds = (await root.post('/projects', { name: 'seeds', initialize_with_readme: true })).body;
    await root.post(`/projects/${seeds.id}/members`, { user_id: bot.id, access_level: 20 });
    for (const tag_name of ['v1.0.0', 'v1.1.0'])
      await root.post(`/projects/${seeds.id}/releases`, { tag_name, ref: 'main', description: `Notes of ${tag_name}` });
    const manager = {
      customType: 'regex',
      fileMatch: ['^seeds\\.txt$'],
      matchStrings: ['(?<depName>\\S+) (?<currentValue>\\S+)'],
      datasourceTemplate: 'gitlab-releases',
      registryUrlTemplate: forge.url,
    };
    await commit('create', 'seeds.txt', 'root/seeds v1.0.0\n');
    await commit('update', 'renovate.json', JSON.stringify({ ...settings, customManagers: [manager] }));
    await renovate(forge);
    const [newest] = (await root.get(`/projects/${id}/merge_requests`, { state: 'opened' })).body;
    assert.equal(newest.title, 'Update dependency root/seeds to v1.1.0');
    const { body: diffs } = await root.get(`/projects/${id}/merge_requests/${newest.iid}/diffs`);
    assert.match(diffs[0].diff, /^\+root\/seeds v1\.1\.0$/m);
    assert.match(newest.description, /Notes of v1\.1\.0/);
  });
