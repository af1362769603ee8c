/** Who may send errors to a project, as the collector asks for each request. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { cacheOf } from '../../../../caches.ts';
import type { Database } from '../../../../db/index.ts';

/** A project as the collector knows it. */
export interface Intake {
  project_id: number;
  /** Whether it takes errors at all. */
  isOpen: boolean;
  keys: ReadonlySet<string>;
  user_salt: KeyObject;
  /** Events per minute; 0 is no limit. */
  limit: number;
}

/** A deleted key is refused after this time, in every process. */
const kept_ms = 5000;

/** By database, because the tests of one process have several. By project, so that keys that are tried on it are no reason to ask. */
const intakes = new WeakMap<Database, LRUCache<number, Promise<Intake | undefined>>>();

async function read(db: Database, project_id: number): Promise<Intake | undefined> {
  const { rows } = await sql<Omit<Intake, 'keys' | 'user_salt'> & { keys: string[]; user_salt: Buffer }>`
    select projects.id as project_id, coalesce(settings.active and settings.integrated, false) as "isOpen",
           coalesce(settings.user_salt, '') as user_salt,
           coalesce(settings.events_per_minute, application_settings.error_tracking_events_per_minute) as "limit",
           array(select public_key from error_tracking_client_keys keys where keys.project_id = projects.id and active) as keys
      from projects cross join application_settings left join error_tracking_settings settings on settings.project_id = projects.id
     where projects.id = ${project_id}`.execute(db);
  const [row] = rows;
  return row && { ...row, keys: new Set(row.keys), user_salt: createSecretKey(row.user_salt) };
}

/**
 * What the collector needs to know of a project, at most five seconds old.
 * @param isNow whether it has to be what holds now
 * @returns undefined when there is no such project
 */
export function intakeOf(db: Database, project_id: number, isNow = false): Promise<Intake | undefined> {
  let cache = intakes.get(db);
  if (cache === undefined) {
    cache = cacheOf(10_000, { ttl: kept_ms });
    intakes.set(db, cache);
  }
  const known = isNow ? undefined : cache.get(project_id);
  if (known) return known;
  const asked = read(db, project_id);
  cache.set(project_id, asked);
  asked.catch(() => cache.delete(project_id));
  return asked;
}
