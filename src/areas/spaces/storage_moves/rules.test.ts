import assert from 'node:assert/strict';
import { access, constants } from 'node:fs/promises';
import { test } from 'node:test';
import { GitError } from '../../../git/index.ts';
import { failureText, MoveFailed } from './rules.ts';

const places = { source: 'default', destination: 'second', source_path: '/storages/default' };
const textOf = (error: unknown) => failureText(error, places);
const fileError = (code: string, path: string) =>
  Object.assign(new Error(`${code}: ${path}`), { code, errno: -1, path });

test('administrators see which storage failed, without paths', async () => {
  const unreadable = await access('/storages/default/none', constants.R_OK).catch((error: unknown) => error);
  assert.equal(textOf(unreadable), 'The storage default cannot be read.');
  assert.equal(textOf(fileError('EACCES', '/storages/second/a')), 'The storage second cannot be written to.');
  assert.equal(textOf(fileError('ENOSPC', '/storages/second/a')), 'The storage second has not enough space.');
  const damage = new GitError('fsck', 128, 'cannot read /storages/default/a.git\nand more');
  assert.match(textOf(damage), /^The repository is damaged: [^/]*cannot read …$/);
  assert.equal(textOf(new MoveFailed('x'.repeat(300))).length, 255);
});

test('an error that no storage has caused is not blamed on one', () => {
  const ofDatabase = Object.assign(new Error('deadlock detected'), { code: '40P01' });
  for (const error of [new TypeError('x is not a function'), ofDatabase])
    assert.equal(textOf(error), 'The move has failed for a reason that the log of the server shows.');
});
