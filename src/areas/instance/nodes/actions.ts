/** Processes of a site that come, say that they run, and go (docs/operating.md#more-than-one-machine). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { type LivingNode, lifetime_s, type NodeFacts, nodeProblem } from './rules.ts';

export interface NewNode extends NodeFacts {
  /** Identifies the process. */
  run: string;
  process_id: number;
  version: string;
}

/** The key of the lock under which processes come one after another. */
const comingLock = 726_674;
/** How long the rows of processes are kept that have ended without notice. */
const kept_days = 1;

interface Others {
  others: LivingNode[];
  /** The clock of the database, in milliseconds. */
  clock_ms: number;
}

async function othersOf(tx: Database, { run }: NewNode): Promise<Others> {
  const { rows } = await sql<Others>`
    select coalesce((select json_agg(json_build_object('name', name, 'host', host, 'url', url, 'roles', roles, 'data_id', data_id,
                                       'silent_s', floor(extract(epoch from clock_timestamp() - seen_at))::integer) order by name)
                       from nodes where run <> ${run}::uuid and seen_at > clock_timestamp() - make_interval(secs => ${lifetime_s})), '[]') as others,
           (extract(epoch from clock_timestamp()) * 1000)::float8 as clock_ms`.execute(tx);
  return rows[0]!;
}

const write = (db: Database, { name, run, host, process_id, version, url, roles, data_id }: NewNode) =>
  sql`
  insert into nodes (name, run, host, process_id, version, url, roles, data_id)
  values (${name}, ${run}, ${host}, ${process_id}, ${version}, ${url}, ${[...roles]}::text[], ${data_id})
  on conflict (name) do update set run = excluded.run, host = excluded.host, process_id = excluded.process_id, version = excluded.version,
     url = excluded.url, roles = excluded.roles, data_id = excluded.data_id, started_at = now(), seen_at = now()`.execute(
    db,
  );

/**
 * Registers a process, unless it cannot work with the others.
 * @param is_alone whether the database is used by this server only, so that others that answered requests have ended
 * @param tries what else must hold, in the same turn: a sentence if it does not
 * @returns a sentence that says why it must not start
 */
export async function addNode(
  db: Database,
  node: NewNode,
  is_alone: boolean,
  tries: (tx: Database, has_others: boolean) => Promise<string | undefined>,
): Promise<string | undefined> {
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${comingLock})`.execute(tx);
    const { others, clock_ms } = await othersOf(tx, node);
    const present = is_alone ? [] : others;
    const problem = nodeProblem(node, present, (Date.now() - clock_ms) / 1000) ?? (await tries(tx, present.length > 0));
    if (problem) return problem;
    if (is_alone) await tx.deleteFrom('nodes').where(sql<boolean>`'requests' = any(roles)`).execute();
    await sql`delete from nodes where seen_at < now() - make_interval(days => ${kept_days})`.execute(tx);
    await write(tx, node);
    return undefined;
  });
}

/**
 * Says that a process runs.
 * @returns the machine of the process that has taken its name over, if one has
 */
export async function showNode(db: Database, node: NewNode): Promise<string | undefined> {
  const { rows } = await sql<{ run: string; host: string }>`
    with seen as (update nodes set seen_at = now() where name = ${node.name} and run = ${node.run}::uuid)
    select run, host from nodes where name = ${node.name}`.execute(db);
  if (rows.length === 0) await write(db, node);
  return rows[0] && rows[0].run !== node.run ? rows[0].host : undefined;
}

export async function removeNode(db: Database, { name, run }: Pick<NewNode, 'name' | 'run'>): Promise<void> {
  await db.deleteFrom('nodes').where('name', '=', name).where('run', '=', run).execute();
}

/** The marker of a storage, which the first server gives it. */
export async function markerOf(tx: Database, name: string): Promise<string | undefined> {
  const found = await tx.selectFrom('storages').select('marker').where('name', '=', name).executeTakeFirst();
  return found?.marker;
}

export async function setMarker(tx: Database, name: string, marker: string): Promise<void> {
  await tx
    .insertInto('storages')
    .values({ name, marker })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ marker }))
    .execute();
}
