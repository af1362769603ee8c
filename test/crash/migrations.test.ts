/**
 * A migration between two servers, either of which is killed again and again. CRASH_SEED repeats what is killed, in which order and when, though not what the
 * machine does meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startEmbedded } from '../../src/db/embedded.ts';
import { connect, type Database } from '../../src/db/index.ts';
import { type Client, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { coppice, environmentFor, type Instance, type ServerEnvironment, startInstance } from '../support/instance.ts';
import { prepareData } from '../support/prepared_data.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { isLong } from '../support/runs.ts';

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const token = 'crash-token-for-one-run-only';
const issues = 3000;
const mergeRequests = 10;
/** Each is killed so often. */
const turns = isLong ? 3 : 1;
const victims = ['destination', 'its database', 'source'] as const;
/** The kill comes within so much of something new. */
const longestMoment_ms = 400;
/** After a restart something new arrives within so much. */
const longestPause_ms = 30_000;

interface Side {
  environment: ServerEnvironment;
  api: Client;
  instance: Instance;
}

async function start(environment: ServerEnvironment): Promise<Instance> {
  const instance = await startInstance(environment);
  atFileEnd(instance.stop);
  return instance;
}

async function openSide(): Promise<Side> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-crash-'));
  atFileEnd(() => rm(data, { recursive: true, force: true }));
  await prepareData(data);
  const environment = await environmentFor(data, token);
  const api = clientOf(`${environment.COPPICE_URL}/api/v4`, token);
  return { environment, api, instance: await start(environment) };
}

async function inDatabase<T>({ environment }: Side, work: (db: Database) => Promise<T>): Promise<T> {
  const { connectionString, stop } = await startEmbedded(environment.COPPICE_DATA, { use: 'shared' });
  const db = connect({ connectionString, max: 1 });
  return work(db).finally(async () => {
    await db.destroy();
    await stop();
  });
}

async function made(answer: ReturnType<Client['post']>): Promise<{ id: number }> {
  const { status, body } = await answer;
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** A group with a project that has issues with notes, and merge requests. */
async function fill(source: Side): Promise<void> {
  const { api } = source;
  const group = await made(api.post('/groups', { name: 'Orchard', path: 'orchard' }));
  const project = { name: 'Apples', path: 'apples', namespace_id: group.id, initialize_with_readme: true };
  const { id } = await made(api.post('/projects', project));
  for (let number = 1; number <= mergeRequests; number++) {
    const file = { branch: `topic-${number}`, start_branch: 'main', commit_message: 'Add', content: `${number}` };
    await made(api.post(`/projects/${id}/repository/files/${number}.txt`, file));
    const request = { source_branch: `topic-${number}`, target_branch: 'main', title: `Merge ${number}` };
    await made(api.post(`/projects/${id}/merge_requests`, request));
    await made(api.post(`/projects/${id}/merge_requests/${number}/notes`, { body: `Look at ${number}` }));
  }
  await inDatabase(source, async (db) => {
    await sql`
      insert into issues (project_id, iid, title, author_id, user_notes_count)
      select ${id}, n, 'Issue ' || n, 1, 2 from generate_series(1, ${issues}::int) n`.execute(db);
    await sql`insert into internal_ids (project_id, usage, last_value) values (${id}, 'issues', ${issues})`.execute(db);
    await sql`
      insert into notes (issue_id, body, author_id) select id, 'Comment ' || n, 1 from issues, generate_series(1, 2) n`.execute(
      db,
    );
  });
}

interface Shown {
  status: string;
  failures: object[];
  stats: Record<string, { source: number; fetched: number; imported: number }>;
}

const entitiesOf = async ({ api }: Side, id: number): Promise<Shown[]> =>
  (await api.get(`/bulk_imports/${id}/entities`)).body;

/** Whether a migration has ended, and a text that changes with everything that it writes; undefined while the server is away. */
async function progressOf(side: Side, id: number): Promise<{ hasEnded: boolean; state: string } | undefined> {
  const answer = await side.api.get(`/bulk_imports/${id}`).catch(() => undefined);
  const entities = await entitiesOf(side, id).catch(() => undefined);
  if (answer?.status !== 200 || !Array.isArray(entities)) return undefined;
  const state = JSON.stringify(entities.map(({ status, stats }) => [status, stats]));
  return { hasEnded: !['created', 'started'].includes(answer.body.status), state };
}

/** Waits for something new. @returns whether the migration has ended */
async function advanced(side: Side, id: number): Promise<boolean> {
  const giveUpAt = Date.now() + longestPause_ms;
  let first: string | undefined;
  while (Date.now() < giveUpAt) {
    const progress = await progressOf(side, id);
    if (progress?.hasEnded) return true;
    first ??= progress?.state;
    if (progress && progress.state !== first) return false;
    await sleep(10);
  }
  return assert.fail(`nothing new within ${longestPause_ms} ms: ${first}\n${side.instance.said()}`);
}

async function kill(victim: (typeof victims)[number], source: Side, destination: Side): Promise<void> {
  const side = victim === 'source' ? source : destination;
  if (victim === 'its database') {
    await side.instance.killDatabase();
    return side.instance.ready();
  }
  await side.instance.killServer();
  side.instance = await start(side.environment);
}

async function begin({ api }: Side, source: Side, destination_slug: string): Promise<number> {
  const entity = {
    source_type: 'group_entity',
    source_full_path: 'orchard',
    destination_slug,
    destination_namespace: '',
  };
  const configuration = { url: source.environment.COPPICE_URL, access_token: token };
  return (await made(api.post('/bulk_imports', { configuration, entities: [entity] }))).id;
}

/** Kills one after the other while migrations run, as many as that takes. @returns the ids of the migrations by the paths of the groups */
async function strikeAll(source: Side, destination: Side, random: Random): Promise<Map<string, number>> {
  const left = victims.flatMap((victim) => new Array<typeof victim>(turns).fill(victim));
  const migrations = new Map<string, number>();
  while (left.length > 0) {
    const slug = `copy-${migrations.size}`;
    const id = await begin(destination, source, slug);
    migrations.set(slug, id);
    while (!(await advanced(destination, id))) {
      if (left.length === 0) continue;
      await sleep(random.below(longestMoment_ms));
      await kill(left.splice(random.below(left.length), 1)[0]!, source, destination);
    }
  }
  return migrations;
}

/** Everything below a group, in a form that is the same for a copy. */
const contentOf = (side: Side, group: string) =>
  inDatabase(side, async (db) => {
    const { rows } = await sql<object>`
      with project as (select projects.id, projects.path from projects join namespaces on namespaces.id = namespace_id where namespaces.full_path = ${group})
      select project.path, 'issue' as kind, iid, title, (select array_agg(body order by body) from notes where issue_id = issues.id and not system) as notes
        from issues join project on project.id = project_id
      union all
      select project.path, 'merge request', iid, title, (select array_agg(body order by body) from notes where merge_request_id = merge_requests.id and not system)
        from merge_requests join project on project.id = project_id
      union all
      select project.path, 'branch', 0, replace(ref, 'refs/heads/', ''), array[target] from recorded_refs join project on project.id = project_id
       where ref like 'refs/heads/%'
       order by path, kind, iid, title`.execute(db);
    return rows;
  });

test(`a migration ends as if nothing had been, whatever is killed (CRASH_SEED=${seed})`, async (t) => {
  const random = randomFrom(seed);
  const [source, destination] = await Promise.all([openSide(), openSide()]);
  await fill(source);
  const settings = { allow_local_requests_from_web_hooks_and_services: true };
  assert.equal((await destination.api.put('/application/settings', settings)).status, 200);
  const migrations = await strikeAll(source, destination, random);
  t.diagnostic(`${migrations.size} migrations`);
  const expected = await contentOf(source, 'orchard');
  for (const [slug, id] of migrations) {
    assert.equal((await destination.api.get(`/bulk_imports/${id}`)).body.status, 'finished');
    const entities = await entitiesOf(destination, id);
    assert.deepEqual(
      entities.map(({ failures }) => failures),
      [[], []],
    );
    const { stats } = entities[1]!;
    assert.deepEqual(stats.issues, { source: issues, fetched: issues, imported: issues });
    assert.deepEqual(stats['issues, notes'], { source: 2 * issues, fetched: 2 * issues, imported: 2 * issues });
    assert.equal(stats.merge_requests!.imported, mergeRequests);
    assert.deepEqual(await contentOf(destination, slug), expected);
  }
  for (const { environment } of [source, destination]) {
    const { code, said } = await coppice(['check'], environment);
    assert.equal(code, 0, said);
  }
});
