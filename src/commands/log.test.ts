import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

/** @returns what a process of this code logs on a pipe, and the code that it ends with */
function logged(code: string): Promise<{ messages: string[]; code: number }> {
  const script = `import { openLog } from ${JSON.stringify(path.join(import.meta.dirname, 'log.ts'))};
    const log = openLog({ logLevel: 'info' });
    ${code}`;
  const { promise, resolve } = Promise.withResolvers<{ messages: string[]; code: number }>();
  const child = execFile(
    process.execPath,
    ['--input-type=module', '-e', script],
    { maxBuffer: 1e8 },
    (_error, stdout) => {
      const lines = stdout.split('\n').slice(0, -1);
      resolve({ messages: lines.map((line) => JSON.parse(line).msg), code: child.exitCode! });
    },
  );
  return promise;
}

test('what is logged before a process ends is written, in order', async () => {
  const ended = await logged(
    `log.info('one'); setImmediate(() => { log.info('two'); log.debug('too much'); process.exit(3); });`,
  );
  assert.deepEqual(ended, { messages: ['one', 'two'], code: 3 });
  const thrown = await logged(`log.info('one'); setTimeout(() => { log.info('two'); throw new Error('out'); });`);
  assert.deepEqual(thrown, { messages: ['one', 'two'], code: 1 });
});

test('more than a pipe and the buffer take at once is written, too', async () => {
  const { messages } = await logged(`for (let line = 0; line < 3000; line++) log.info(String(line).padEnd(1000));`);
  assert.deepEqual(
    messages.map((message) => message.trim()),
    Array.from({ length: 3000 }, (_, line) => String(line)),
  );
});

test('a process goes on when nobody reads its log any more', async () => {
  const script = `import { openLog } from ${JSON.stringify(path.join(import.meta.dirname, 'log.ts'))};
    const log = openLog({ logLevel: 'info' });
    log.info('one');
    process.stdin.once('end', () => { log.info('two'); setImmediate(() => setImmediate(() => process.exit(3))); }).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end();
  assert.deepEqual(await once(child, 'exit'), [3, null]);
});

test('people read lines, and other programs JSON', async () => {
  const script = `import { openLog } from ${JSON.stringify(path.join(import.meta.dirname, 'log.ts'))};
    openLog({ logLevel: 'info' }, true).warn({ reason: 'full' }, 'one');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.match(
    stripVTControlCharacters(await text(child.stdout)),
    /^\[\d\d:\d\d:\d\d\] WARN: one\n {4}reason: "full"\n$/,
  );
});
