/** The machines on which runners execute: what is known of them, and when they were last heard of. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { forbidden, type Services } from '../../../http/index.ts';
import { stale_days } from '../../code/runners/index.ts';
import type { RunnerInfo } from './parameters.ts';
import type { Runner } from './queries.ts';
import { legacySystem, maximumManagers } from './rules.ts';

/** How a runner calls. */
export interface Contact {
  system_id?: string | undefined;
  info?: RunnerInfo | undefined;
  ip?: string | undefined;
}

const maximumText = 255;
const short = (text: string | undefined) => text?.slice(0, maximumText).toWellFormed() ?? null;

/**
 * Notes that a runner calls, at most once a minute, and with which manager (docs/reference/runners.md#managers).
 * @param runner as `runnerOf` found it; with its manager there is nothing to look up within a minute
 * @returns the ID of the manager
 * @throws ApiError 403 when the runner was deleted meanwhile
 */
export async function touchManager(
  { db }: Pick<Services, 'db'>,
  { id, manager }: Pick<Runner, 'id' | 'manager'>,
  { system_id = legacySystem, info = {}, ip }: Contact,
): Promise<number> {
  if (manager?.system_id === system_id && manager.is_fresh) return manager.id;
  const { rows } = await sql<{ id: number; is_new: boolean }>`
    with alive as (select id from runners where id = ${id} for key share),
    known as (
      select id from runner_managers where runner_id = ${id} and system_id = ${system_id} and contacted_at > now() - interval '1 minute'
    ), written as (
      insert into runner_managers as manager (runner_id, system_id, version, revision, platform, architecture, ip_address, contacted_at)
      select alive.id, ${system_id}, ${short(info.version)}, ${short(info.revision)}, ${short(info.platform)}, ${short(info.architecture)}, ${ip ?? null}::text, now()
        from alive where not exists (select from known)
      on conflict (runner_id, system_id) do update
         set version = coalesce(excluded.version, manager.version), revision = coalesce(excluded.revision, manager.revision),
             platform = coalesce(excluded.platform, manager.platform), architecture = coalesce(excluded.architecture, manager.architecture),
             ip_address = coalesce(excluded.ip_address, manager.ip_address), contacted_at = excluded.contacted_at
      returning id, created_at = now() as is_new
    ), noted as (
      update runners set contacted_at = now()
       where id = ${id} and exists (select from written) and (contacted_at is null or contacted_at < now() - interval '1 minute')
    )
    select id, is_new from written union all select id, false from known`.execute(db);
  const [row] = rows;
  if (!row) throw forbidden();
  if (row.is_new) await forgetTooMany(db, id);
  return row.id;
}

/** Forgets the managers of a runner that were silent the longest, beyond the number that is kept. */
const forgetTooMany = (db: Database, runner_id: number) =>
  sql`
  delete from runner_managers where id in (
    select id from runner_managers where runner_id = ${runner_id} order by contacted_at desc nulls last offset ${maximumManagers})`.execute(
    db,
  );

/** Forgets the managers that were not heard of for a week. */
export const forgetSilent = (db: Database) =>
  sql`
  delete from runner_managers where contacted_at < now() - make_interval(days => ${stale_days})`.execute(db);
