/** Looks up the settings and keys of a project, which the collector needs for each request. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { cacheOf, JointQuestions } from '../../../../foundation/caches.ts';

/** A project with its settings for the collector. */
export interface Intake {
  project_id: number;
  /** Whether it accepts errors. */
  isOpen: boolean;
  keys: ReadonlySet<string>;
  user_salt: KeyObject;
  /** Events per minute; 0 means no limit. */
  limit: number;
}

/** A deleted key is refused after this time, in every process. */
const kept_ms = 5000;

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

/** Cached by project, so that trying many keys causes no queries. */
class Intakes {
  readonly #known = cacheOf<number, Promise<Intake | undefined>>(10_000, { ttl: kept_ms });
  readonly #latest: JointQuestions<number, Intake | undefined>;

  constructor(db: Database) {
    this.#latest = new JointQuestions((project_id) => {
      const asked = read(db, project_id);
      this.#known.set(project_id, asked);
      asked.catch(() => this.#known.delete(project_id));
      return asked;
    });
  }

  of(project_id: number, isNow: boolean): Promise<Intake | undefined> {
    return (isNow ? undefined : this.#known.get(project_id)) ?? this.#latest.ask(project_id);
  }
}

/** Per database, because the tests of one process have several. */
const intakes = new WeakMap<Database, Intakes>();

/**
 * The settings of a project for the collector, at most five seconds old.
 * @param isNow whether the current state is needed, bypassing the cache
 * @returns undefined if the project does not exist
 */
export function intakeOf(db: Database, project_id: number, isNow = false): Promise<Intake | undefined> {
  let known = intakes.get(db);
  if (known === undefined) {
    known = new Intakes(db);
    intakes.set(db, known);
  }
  return known.of(project_id, isNow);
}
