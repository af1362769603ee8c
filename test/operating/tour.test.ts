/** The tour of the README works word for word, also on a server that has been used and for a user without a git identity. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ownAddress } from '../support/address.ts';
import { dataFolder, folder, rootToken, serve } from './coppice.ts';

const top = path.resolve(import.meta.dirname, '../..');

/** A checkout, in which commands could leave files. */
async function checkout(): Promise<string> {
  const copy = await folder();
  for (const name of await readdir(top)) await symlink(path.join(top, name), path.join(copy, name));
  return copy;
}

test('the tour of the README works twice on one server', async () => {
  const text = await readFile(path.join(top, 'README.md'), 'utf8');
  const tour = text.slice(text.indexOf('## Two minutes'), text.indexOf('```ts'));
  const commands = [...tour.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!).join('');
  assert.ok(!/^\s*#/m.test(commands), 'zsh takes a comment for a command');
  assert.doesNotMatch(commands.replaceAll(/"[^"]*"|'[^']*'/g, ''), /[[\]?]/, 'zsh takes these for patterns');
  const data = { COPPICE_DATA: await dataFolder() };
  // The address that clients of Sentry get is the external one.
  const server = await serve({ ...data, ...(await ownAddress()) });
  const own = commands.replaceAll('localhost:3000', new URL(server.url).host).replace('glpat-…', rootToken);
  const strict = 'set -e -o pipefail\ncurl() { command curl --silent --show-error --fail "$@"; }\n';
  for (const round of ['1', '2']) {
    const script = `${strict}${own}`.replace('$(date +%s)', round);
    const env = {
      ...data,
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
  const closed = (await server.root.get('/issues', { state: 'closed', labels: 'catalogue', scope: 'all' })).body;
  assert.equal(closed.length, 2);
  assert.equal(await server.stop(), 0);
});
