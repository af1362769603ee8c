/**
 * The second part of `npm run campaign`: requests of many kinds at a steady rate, sent when their time has come and not when the one before was answered, so
 * that a slow answer does not hide those that wait behind it. CAMPAIGN_LOAD_MINUTES says for how long, and CAMPAIGN_LOAD_RATE how many requests a second. It
 * needs a machine with nothing else to do.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds, seeded, sendSteadily, watchBystander } from './load_mix.ts';
import { started } from './load_server.ts';
import { Times } from './times.ts';

const minutes = Number(process.env.CAMPAIGN_LOAD_MINUTES ?? 10);
const perSecond = Number(process.env.CAMPAIGN_LOAD_RATE ?? 100);
/** A server that has just started compiles its code and opens connections. */
const warmUp_s = 10;
const quiet_s = 5;
/** Jobs that follow requests are over by then. */
const settled_ms = 3000;
/** How much longer than on a quiet server the bystander may wait. */
const mostDelay_ms = 50;

test(`${perSecond} requests a second are answered for ${minutes} minutes, and keep nobody waiting`, async () => {
  const { instance, url, api } = await started();
  const seed = await seeded(api);
  await sendSteadily(seed, url, perSecond, warmUp_s);
  await sleep(settled_ms);
  const quiet = await watchBystander(url, quiet_s);
  const before_bytes = await instance.memory_bytes();
  const seconds = minutes * 60;
  const times = new Map(kinds.map(([name]) => [name, new Times()]));
  const [bystander, answers] = await Promise.all([
    watchBystander(url, seconds),
    sendSteadily(seed, url, perSecond, seconds),
  ]);
  for (const { kind, status, waited_ms } of answers)
    times.get(kind)!.add({ waited_ms, ok: status >= 200 && status < 300 });
  const after_bytes = await instance.memory_bytes();

  const rows = [...times, ['bystander, quiet', quiet], ['bystander, under load', bystander]] as [string, Times][];
  console.table(Object.fromEntries(rows.map(([name, of]) => [name, of.row])));
  console.log(`memory: ${Math.round(before_bytes / 1e6)} MB before, ${Math.round(after_bytes / 1e6)} MB after`);
  for (const [name, { errors }] of rows) assert.equal(errors, 0, name);
  const allowed_ms = quiet.at(0.99) + mostDelay_ms;
  const late = bystander.longerThan(allowed_ms);
  assert.equal(late, 0, `${late} calls of the bystander took more than ${allowed_ms} ms`);
});
