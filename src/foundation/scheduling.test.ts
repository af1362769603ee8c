import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { letWaitForProcessor } from './scheduling.ts';

/** Numbers of policies in Linux. */
const [ordinary, batch] = [0, 3];

/** The field `policy` of /proc/PID/stat, the 39th after the name, which is in parentheses. */
async function policyOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
}

test('a process and what it starts do not interrupt others, where chrt may change that', async (t) => {
  const isAllowed = await promisify(execFile)('chrt', ['-b', '0', 'true']).then(
    () => true,
    () => false,
  );
  const script = `process.stdin.once('data', () => console.log(require('node:child_process').spawn('sleep', ['60'], { detached: true }).pid))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  assert.equal(await policyOf(child.pid!), ordinary);
  letWaitForProcessor(child.pid);
  const expected = isAllowed ? batch : ordinary;
  while ((await policyOf(child.pid!)) !== expected) await sleep(5);
  child.stdin.write('start');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const started = Number(line.toString());
  t.after(() => process.kill(started));
  assert.equal(await policyOf(started), expected);
});
