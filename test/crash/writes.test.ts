/**
 * Writing while the server and its database are killed, and looking what is left. CRASH_SEED repeats the order of what is killed and when, though not what
 * the machine does meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coppice } from '../support/instance.ts';
import { randomFrom } from '../support/random.ts';
import { openScene, playRound, tried, victims } from './scene.ts';

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

test(`confirmed changes survive every crash, and nothing is half written (CRASH_SEED=${seed})`, async (t) => {
  const random = randomFrom(seed);
  const scene = await openScene();
  for (const [number, victim] of victims.entries()) {
    await playRound(scene, number, victim, random);
    t.diagnostic(`killed the ${victim}: ${tried(scene)} so far`);
  }
  const { code, said } = await coppice(['check'], scene.environment);
  assert.equal(code, 0, said);
  assert.equal((await scene.api.post('/projects', { name: 'Afterwards', path: 'afterwards' })).status, 201);
});
