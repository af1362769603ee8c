/** The tour of the README works word for word, also on a server that has been used and for a user without a git identity. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ownAddress } from '../support/address.ts';
import { dataFolder, folder, rootToken, type Server, serve } from './coppice.ts';
import { sharedBy, startPostgres } from './postgres.ts';
import { roundRobin } from './round_robin.ts';

const top = path.resolve(import.meta.dirname, '../..');

/** A checkout, in which commands could leave files. */
async function checkout(): Promise<string> {
  const copy = await folder();
  for (const name of await readdir(top)) await symlink(path.join(top, name), path.join(copy, name));
  return copy;
}

/** The commands of the tour, as they are in the README. */
async function commandsOfTour(): Promise<string> {
  const text = await readFile(path.join(top, 'README.md'), 'utf8');
  const tour = text.slice(text.indexOf('## Two minutes'), text.indexOf('```ts'));
  const commands = [...tour.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!).join('');
  assert.ok(!/^\s*#/m.test(commands), 'zsh takes a comment for a command');
  assert.doesNotMatch(commands.replaceAll(/"[^"]*"|'[^']*'/g, ''), /[[\]?]/, 'zsh takes these for patterns');
  return commands;
}

/** Takes the tour once. @param environment of the commands of Coppice in it */
async function take(url: string, round: string, environment: Record<string, string>): Promise<void> {
  const own = (await commandsOfTour()).replaceAll('localhost:3000', new URL(url).host).replace('glpat-…', rootToken);
  const strict = 'set -e -o pipefail\ncurl() { command curl --silent --show-error --fail "$@"; }\n';
  const script = `${strict}${own}`.replace('$(date +%s)', round);
  const env = {
    ...environment,
    PATH: process.env.PATH,
    HOME: await folder(),
    TMPDIR: await folder(),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const cwd = await checkout();
  const before = await readdir(cwd);
  await promisify(execFile)('bash', ['-c', script], { cwd, env });
  assert.deepEqual(await readdir(cwd), before);
}

const closedIssues = async (server: Server): Promise<number> =>
  (await server.root.get('/issues', { state: 'closed', labels: 'catalogue', scope: 'all' })).body.length;

test('the tour of the README works twice on one server', async () => {
  const data = { COPPICE_DATA: await dataFolder() };
  // The address that clients of Sentry get is the external one.
  const server = await serve({ ...data, ...(await ownAddress()) });
  for (const round of ['1', '2']) await take(server.url, round, data);
  assert.equal(await closedIssues(server), 2);
  assert.equal(await server.stop(), 0);
});

test('the tour works with each request at another server than the one before', async (t) => {
  const balancer = await roundRobin();
  const shared = { ...(await sharedBy(await startPostgres(t))), COPPICE_URL: balancer.url };
  const one = await serve({ ...shared, COPPICE_DATA: await folder() });
  const other = await serve({ ...shared, COPPICE_DATA: await folder() });
  balancer.targets.push(one.url, other.url);
  await take(balancer.url, '1', { ...shared, COPPICE_DATA: await folder() });
  const [first = 0, second = 0] = [one, other].map(({ url }) => balancer.counts.get(url));
  assert.ok(first > 5 && Math.abs(first - second) <= 1, `${first} and ${second} requests`);
  assert.deepEqual([await closedIssues(one), await closedIssues(other)], [1, 1]);
  assert.deepEqual([await one.stop(), await other.stop()], [0, 0]);
});
