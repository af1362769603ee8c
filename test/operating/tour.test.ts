/** The tour of the README works word for word, also on a server that has been used and for a user without a git identity. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { dataFolder, folder, rootToken, serve } from './coppice.ts';

const readme = path.resolve(import.meta.dirname, '../../README.md');

test('the tour of the README works twice on one server', async () => {
  const text = await readFile(readme, 'utf8');
  const tour = text.slice(text.indexOf('## Two minutes'), text.indexOf('```ts'));
  const commands = [...tour.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!).join('');
  assert.ok(!/^\s*#/m.test(commands), 'zsh takes a comment for a command');
  assert.doesNotMatch(commands.replaceAll(/"[^"]*"|'[^']*'/g, ''), /[[\]?]/, 'zsh takes these for patterns');
  const server = await serve({ COPPICE_DATA: await dataFolder() });
  const own = commands.replaceAll('localhost:3000', new URL(server.url).host).replace('glpat-…', rootToken);
  const strict = 'set -e -o pipefail\ncurl() { command curl --silent --show-error --fail "$@"; }\n';
  for (const round of ['1', '2']) {
    const script = `${strict}${own}`.replace('$(date +%s)', round);
    const env = { PATH: process.env.PATH, HOME: await folder(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    await promisify(execFile)('bash', ['-c', script], { cwd: await folder(), env });
  }
  const closed = (await server.root.get('/issues', { state: 'closed', labels: 'catalogue', scope: 'all' })).body;
  assert.equal(closed.length, 2);
  assert.equal(await server.stop(), 0);
});
