import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const script = `
  import pino from 'pino';
  import { surviveEscapedErrors } from ${JSON.stringify(new URL('escaped_errors.ts', import.meta.url).href)};
  surviveEscapedErrors(pino({ sync: true }));
  setTimeout(() => { throw new Error('thrown'); }, 1);
  setTimeout(() => void Promise.reject(new Error('rejected')), 2);
  setTimeout(() => console.log('running'), 50);`;

test('an error or a rejection that nothing handles is logged, and the process runs on', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
  });
  for (const text of ['"message":"thrown"', '"message":"rejected"', 'running'])
    assert.ok(stdout.includes(text), stdout);
});
