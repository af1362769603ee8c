/**
 * The first part of `npm run campaign`: writing, killing and looking what is left, round after round, while statements compute, a backup is written or a
 * database is migrated; and killing while applications send errors as fast as they are taken. CAMPAIGN_CRASH_MINUTES, CAMPAIGN_INGESTION_ROUNDS,
 * CAMPAIGN_PIPELINE_ROUNDS, CAMPAIGN_AUDIT_ROUNDS and CAMPAIGN_POLICY_ROUNDS say for how long, CRASH_SEED repeats the order of the rounds.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startEmbedded } from '../../src/db/embedded.ts';
import { connect } from '../../src/db/index.ts';
import { schemaDump } from '../../src/db/schema_dump.ts';
import { inspectGuarded, openGuarded, pushPastApprovals } from '../crash/policies.ts';
import {
  administrators,
  applications,
  openScene,
  playRound,
  type Scene,
  tried,
  victims,
  workshops,
} from '../crash/scene.ts';
import type { Round } from '../crash/writers.ts';
import { installPreviousRelease } from '../operating/previous_release.ts';
import { atFileEnd } from '../support/file_end.ts';
import { coppice, environmentFor, killDatabase, killServer, spawnServer, startInstance } from '../support/instance.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const minutes = Number(process.env.CAMPAIGN_CRASH_MINUTES ?? 15);
const ingestionRounds = Number(process.env.CAMPAIGN_INGESTION_ROUNDS ?? 10);
const pipelineRounds = Number(process.env.CAMPAIGN_PIPELINE_ROUNDS ?? 10);
const auditRounds = Number(process.env.CAMPAIGN_AUDIT_ROUNDS ?? 10);
const policyRounds = Number(process.env.CAMPAIGN_POLICY_ROUNDS ?? 10);
/** The kill comes within some seconds. */
const mostEnds = 100;
const mostEvents = 2000;
/** A scene collects what was written, and looking at it takes longer and longer. */
const roundsPerScene = 12;
/** The longest that a migration of the previous release's rows takes. */
const longestMigration_ms = 3000;
const schemaFile = path.resolve(import.meta.dirname, '../../docs/schema.sql');

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'coppice-campaign-'));
  atFileEnd(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function withConnectionString<T>(data: string, work: (connectionString: string) => Promise<T>): Promise<T> {
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  try {
    return await work(connectionString);
  } finally {
    await stop();
  }
}

/** What runs beside the writers when the kill comes; each ends by itself after it. */
const companions: Record<string, (scene: Scene) => Promise<void>> = {
  nothing: async () => {},
  'a long statement': ({ environment }) =>
    withConnectionString(environment.COPPICE_DATA, async (connectionString) => {
      const db = connect({ connectionString, max: 1, statementTimeout_ms: 20_000 });
      // It ends with its connection, or is cancelled when only the server was killed.
      await sql`select count(*) from generate_series(1, 3000) a, generate_series(1, 1000000) b`
        .execute(db)
        .catch(() => {});
      await db.destroy();
    }),
  'a backup': async ({ environment }) => {
    const file = path.join(await folder(), 'backup.tar.zst');
    const { code, said } = await coppice(['backup', '--to', file], environment);
    assert.equal(existsSync(file), code === 0, `a backup that ended with ${code}: ${said}`);
    if (code === 0) await restore(file);
  },
};

async function restore(file: string): Promise<void> {
  const environment = await environmentFor(path.join(await folder(), 'data'), 'token-of-a-restored-server');
  const { COPPICE_ROOT_TOKEN: _, ...without } = environment;
  for (const words of [['restore', '--from', file], ['check']]) {
    const { code, said } = await coppice(words, without);
    assert.equal(code, 0, `${words[0]}: ${said}`);
  }
  await rm(path.dirname(environment.COPPICE_DATA), { recursive: true });
}

/** Kills a server that migrates the database of the previous release, and starts it again. */
async function killWhileMigrating(random: Random): Promise<void> {
  const data = path.join(await folder(), 'data');
  const environment = await environmentFor(data, 'token-of-an-upgraded-server');
  const { connectionString, stop } = await startEmbedded(data, { use: 'exclusive' });
  await installPreviousRelease(connectionString);
  await stop();
  const child = spawnServer(environment);
  child.stdout.resume();
  child.stderr.resume();
  await sleep(random.below(longestMigration_ms));
  // The database is not up yet when the kill comes early.
  if (random.happens(50)) await killDatabase(data).catch(() => {});
  await killServer(child);
  const instance = await startInstance(environment);
  await instance.stop();
  await withConnectionString(data, async (upgraded) => {
    const db = connect({ connectionString: upgraded, max: 1 });
    assert.equal(await schemaDump(db), await readFile(schemaFile, 'utf8'));
    await db.destroy();
  });
  await rm(path.dirname(data), { recursive: true });
}

test(`nothing is lost or half there after ${minutes} minutes of crashes (CRASH_SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  const end = Date.now() + minutes * 60_000;
  const rounds = new Map<string, number>();
  const written = [];
  let scene = await openScene();
  for (let number = 0; Date.now() < end; number++) {
    if (number > 0 && number % roundsPerScene === 0) {
      written.push(await closeScene(scene));
      scene = await openScene();
    }
    const companion = random.of(Object.keys(companions));
    const victim = random.of(victims);
    const kind = random.happens(10) ? 'a server that migrates' : `the ${victim} beside ${companion}`;
    console.log(`round ${number}: killing ${kind}`);
    if (kind === 'a server that migrates') await killWhileMigrating(random);
    else await Promise.all([playRound(scene, number, victim, random), companions[companion]!(scene)]);
    rounds.set(kind, (rounds.get(kind) ?? 0) + 1);
  }
  written.push(await closeScene(scene));
  console.table(Object.fromEntries([...rounds].toSorted().map(([killed, count]) => [killed, { rounds: count }])));
  console.table(written);
});

interface Killed {
  rounds: number;
  /** How many events were answered with success, and how many not at all. */
  stored: number;
  unknown: number;
}

test(`of ${ingestionRounds} kills at full rate, none loses an event that was answered with 200 (CRASH_SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  const killed = new Map<string, Killed>(victims.map((victim) => [victim, { rounds: 0, stored: 0, unknown: 0 }]));
  let scene = await openScene();
  for (let number = 0; number < ingestionRounds; number++) {
    if (number > 0 && number % roundsPerScene === 0) {
      await closeScene(scene);
      scene = await openScene();
    }
    const before = scene.memory.events.size;
    const victim = random.of(victims);
    await playRound(scene, number, victim, random, { writers: applications, successes: mostEvents });
    const fates = [...scene.memory.events.values()].slice(before);
    const stored = fates.filter((fate) => fate === 'done').length;
    console.log(`round ${number}: killing ${victim} after ${stored} events`);
    const sum = killed.get(victim)!;
    killed.set(victim, {
      rounds: sum.rounds + 1,
      stored: sum.stored + stored,
      unknown: sum.unknown + fates.length - stored,
    });
  }
  await closeScene(scene);
  console.table(Object.fromEntries(killed));
});

test(`of ${pipelineRounds} kills beside runners, none loses an end, a byte of a log or an effect (CRASH_SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  let scene = await openScene();
  for (let number = 0; number < pipelineRounds; number++) {
    if (number > 0 && number % roundsPerScene === 0) {
      console.log(await closeScene(scene));
      scene = await openScene();
    }
    const victim = random.of(victims);
    await playRound(scene, number, victim, random, { writers: workshops, successes: mostEnds });
    console.log(`round ${number}: killed ${victim}, ${scene.memory.pipelines.size} pipelines so far`);
  }
  console.log(await closeScene(scene));
});

/** A scene whose audit events of protected tags are sent to a receiver. */
async function openTold(receiver: Receiver): Promise<Scene> {
  const scene = await openScene();
  const given = { destination_url: receiver.url, event_type_filters: ['protected_tag_created'] };
  const { status, body } = await scene.api.post('/audit_event_streaming_destinations', given);
  assert.equal(status, 201, JSON.stringify(body));
  return scene;
}

/** Each event has arrived at least once, at the latest a while after the last kill. */
async function closeTold(scene: Scene, receiver: Receiver): Promise<void> {
  const written = await withConnectionString(scene.environment.COPPICE_DATA, async (connectionString) => {
    const db = connect({ connectionString, max: 1 });
    const rows = await db
      .selectFrom('audit_events')
      .select('id')
      .where('event_name', '=', 'protected_tag_created')
      .execute();
    await db.destroy();
    return rows.map(({ id }) => id);
  });
  const missing = () => {
    const told = new Set(receiver.received.map(({ body }) => body.id));
    return written.filter((id) => !told.has(id));
  };
  for (let left = 600; left > 0 && missing().length > 0; left--) await sleep(100);
  assert.deepEqual(missing(), [], 'events that did not arrive');
  console.log(`${written.length} events arrived, ${receiver.take().length - written.length} of them again`);
  await closeScene(scene);
}

test(`of ${auditRounds} kills while rules change, none loses an audit event or its way to another system (CRASH_SEED=${seed})`, async (t) => {
  const random = randomFrom(seed);
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  let scene = await openTold(receiver);
  for (let number = 0; number < auditRounds; number++) {
    if (number > 0 && number % roundsPerScene === 0) {
      await closeTold(scene, receiver);
      scene = await openTold(receiver);
    }
    const victim = random.of(victims);
    await playRound(scene, number, victim, random, { writers: administrators, successes: mostEnds });
    console.log(`round ${number}: killed ${victim}, ${scene.memory.tags.size} tags so far`);
  }
  await closeTold(scene, receiver);
});

test(`of ${policyRounds} kills between pushes and evaluations, none lets a merge past a policy (CRASH_SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  let scene = await openScene();
  let guarded = await openGuarded(scene.api);
  for (let number = 0; number < policyRounds; number++) {
    if (number > 0 && number % roundsPerScene === 0) {
      await closeScene(scene);
      scene = await openScene();
      guarded = await openGuarded(scene.api);
    }
    const victim = random.of(victims);
    const writers = ({ api }: Scene, round: Round) => [pushPastApprovals(api, guarded, round)];
    await playRound(scene, number, victim, random, { writers, successes: mostEnds });
    await inspectGuarded(scene.api, guarded);
    console.log(`round ${number}: killed ${victim}, ${guarded.pushed.length} merge requests so far`);
  }
  await closeScene(scene);
});

/** @returns what was written, after a last look by the program's own check */
async function closeScene(scene: Scene): Promise<string> {
  const { code, said } = await coppice(['check'], scene.environment);
  assert.equal(code, 0, said);
  await scene.instance.stop();
  return tried(scene);
}
