/** The third part of `npm run campaign`: more requests than the server can answer. CAMPAIGN_OVERLOAD_MINUTES says for how long. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import type { Flood, Flooded } from './flood.ts';
import { requestFrom, resultOf, seeded, watchBystander } from './load_mix.ts';
import { started } from './load_server.ts';
import { Times } from './times.ts';

const minutes = Number(process.env.CAMPAIGN_OVERLOAD_MINUTES ?? 2);
/** Each sends its next request when it has its answer, and may send two a second. */
const connections = 1000;
/** About twice what a server on two processors answers. */
const perSecond = 2000;
const differentRequests = 20_000;
const warmUp_seconds = 10;
/** How long an answer may take that is not a refusal. */
const longestAnswer_ms = 2000;

test(`of ${perSecond} requests a second, those that are too many are refused`, async () => {
  const { instance, url, api } = await started();
  const seed = await seeded(api);
  const seconds = minutes * 60;
  const requests = Array.from({ length: differentRequests }, () => requestFrom(seed));
  const [bystander, { answers, lost, conflicts }] = await Promise.all([
    watchBystander(url, warmUp_seconds + seconds),
    resultOf<Flooded>('flood.ts', {
      url: `${url}/api/v4`,
      token: api.token!,
      requests,
      connections,
      rate: perSecond,
      warmUp_seconds,
      seconds,
    } satisfies Flood),
  ]);
  const times = (isIn: (status: number) => boolean) =>
    new Times(answers.filter(({ status }) => isIn(status)).map(({ waited_ms }) => ({ waited_ms, ok: true })));
  const answered = times((status) => status < 300);
  console.table({ answered: answered.row, refused: times((status) => status === 503).row, bystander: bystander.row });
  console.log(`memory: ${Math.round((await instance.memory_bytes()) / 1e6)} MB`);
  const others = answers.filter(({ status }) => status >= 300 && status !== 503);
  console.log(`${conflicts} of ${others.length} other answers are commits to one file at the same time.`);
  assert.deepEqual([lost, others.length - conflicts, bystander.errors], [0, 0, 0]);
  assert.ok(answered.at(0.99) <= longestAnswer_ms, `99 of 100 answers took at most ${answered.at(0.99)} ms`);
});

test('on a busy machine, a client with 100 requests at once waits and is not refused', async (t) => {
  const { url, api } = await started();
  const seed = await seeded(api);
  const busy = Array.from({ length: 2 * availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  t.after(() => {
    for (const program of busy) program.kill('SIGKILL');
  });
  const requests = Array.from({ length: differentRequests }, () => requestFrom(seed));
  const { answers, lost, conflicts } = await resultOf<Flooded>('flood.ts', {
    url: `${url}/api/v4`,
    token: api.token!,
    requests,
    connections: 100,
    rate: 100_000,
    warmUp_seconds: 0,
    seconds: 30,
  } satisfies Flood);
  console.table({ answered: new Times(answers.map(({ waited_ms }) => ({ waited_ms, ok: true }))).row });
  assert.deepEqual([lost, answers.filter(({ status }) => status >= 300).length - conflicts], [0, 0]);
});
