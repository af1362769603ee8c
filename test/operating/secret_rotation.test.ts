import assert from 'node:assert/strict';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sent } from '../support/sent.ts';
import { coppice, dataFolder, folder, serve } from './coppice.ts';

test('the secret key is rotated while no server runs, and the server goes on with the new one', async () => {
  const COPPICE_DATA = await dataFolder();
  const [key, next] = [path.join(COPPICE_DATA, 'secret.key'), path.join(await folder(), 'next.key')];
  const rotate = () => coppice(['secret', 'rotate', '--to', next], { COPPICE_DATA });
  const first = await serve({ COPPICE_DATA });
  const project = await sent(first.root.post('/projects', { name: 'orchard' }));
  const variables = `/projects/${project.id}/variables`;
  await sent(first.root.post(variables, { key: 'TOKEN', value: 'a secret value' }));

  const early = await rotate();
  assert.deepEqual(
    [early.code, early.err.trim()],
    [1, 'Another process of Coppice is using the database. Stop all servers before you rotate the secret key.'],
  );
  assert.match(early.out, /^A new secret key was written to .*next\.key\.\n$/);
  const made = await readFile(next, 'utf8');
  assert.equal((await sent(first.root.get(`${variables}/TOKEN`))).value, 'a secret value');
  assert.equal(await first.stop(), 0);

  const { out, err, code } = await rotate();
  assert.deepEqual([code, err], [0, '']);
  assert.equal(out, `1 value encrypted with the new key.\nMove ${next} to ${key} before the server starts.\n`);
  assert.equal(await readFile(next, 'utf8'), made);
  const again = await rotate();
  assert.deepEqual([again.code, again.out.split('\n')[0]], [0, `The database already uses the key in ${next}.`]);

  const withOld = await coppice(['serve'], { COPPICE_DATA });
  assert.equal(withOld.code, 1);
  assert.match(withOld.err, /^The database was used with another secret key\. /);
  const third = path.join(path.dirname(next), 'third.key');
  const unknown = await coppice(['secret', 'rotate', '--to', third], { COPPICE_DATA });
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /^The database was used with another secret key\. /);

  await rename(next, key);
  const second = await serve({ COPPICE_DATA });
  assert.equal((await sent(second.root.get(`${variables}/TOKEN`))).value, 'a secret value');
  assert.equal(await second.stop(), 0);
  const { err: findings } = await coppice(['check'], { COPPICE_DATA });
  assert.doesNotMatch(findings, /decrypt/);
});
