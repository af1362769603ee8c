import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GitError } from '../../../git/index.ts';
import { errorName, PermissionDenied, StaleExport } from './rules.ts';

test('errors have the names that the API shows, and no other', () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write '/srv/blobs/a'"), { code: 'ENOSPC' });
  assert.equal(errorName(full), 'OutOfSpace');
  assert.equal(
    errorName(new GitError('bundle create', 128, 'fatal: write error: No space left on device')),
    'OutOfSpace',
  );
  assert.equal(errorName(new GitError('bundle create', 128, 'fatal: bad object')), 'RepositoryUnreadable');
  assert.equal(errorName(new PermissionDenied()), 'PermissionDenied');
  assert.equal(errorName(new StaleExport()), 'StaleExport');
  assert.equal(errorName(new TypeError('of ours')), 'InternalError');
  assert.equal(errorName('thrown'), 'InternalError');
});
