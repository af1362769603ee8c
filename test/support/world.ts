/** The world of a test: on the server of its process, which the test files of the process share, or on one of its test file. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';
import { sharedDatabase, testDatabase } from './database.ts';
import { atFileEnd, atProcessEnd } from './file_end.ts';
import { populate, type RunningServer, startServer, type World, type WorldOptions } from './populate.ts';

export type { Persona, World, WorldOptions } from './populate.ts';

let shared: Promise<RunningServer> | undefined;
let own: Promise<RunningServer> | undefined;
let isWatched = false;

/**
 * A world of its own for one test. Other tests have left theirs on the same server.
 * @param options if given, this world and the later ones of the file are on a server of the file, which is configured so; the first options count.
 * `{}` is for tests that count, or change, what belongs to the whole server
 */
export async function world(options?: WorldOptions): Promise<World> {
  if (options !== undefined) own ??= startOwn(options);
  if (own !== undefined) return populate(await own);
  const server = await startShared();
  if (!isWatched) watch(server.services.db, await stateOf(server.services.db));
  return populate(server);
}

function startShared(): Promise<RunningServer> {
  shared ??= (async () => {
    const { db } = await sharedDatabase();
    const running = await startServer(db, {});
    atProcessEnd(running.stop);
    return running;
  })();
  return shared;
}

/** The state of what belongs to the whole server, as a text. */
async function stateOf(db: Database): Promise<string> {
  const { rows } = await sql<{ state: string }>`
    select jsonb_pretty(jsonb_build_object(
      'settings', (select jsonb_agg(to_jsonb(application_settings) - 'updated_at') from application_settings),
      'licenses', (select jsonb_agg(id order by id) from licenses),
      'features', (select jsonb_agg(name order by name) from features),
      'variables', (select jsonb_agg(id order by id) from variables where group_id is null and project_id is null),
      'plan_limits', (select jsonb_agg(to_jsonb(plan_limits)) from plan_limits),
      'appearance', (select jsonb_agg(to_jsonb(appearance)) from appearance),
      'broadcast_messages', (select jsonb_agg(id order by id) from broadcast_messages),
      'clusters', (select jsonb_agg(id order by id) from clusters),
      'geo_nodes', (select jsonb_agg(id order by id) from geo_nodes),
      'hooks', (select jsonb_agg(id order by id) from hooks where group_id is null and project_id is null)
    )) as state`.execute(db);
  return rows[0]!.state;
}

/** Sees to it that the file leaves the shared server as it was: the next file may start from nothing but the worlds of others. */
function watch(db: Database, before: string): void {
  isWatched = true;
  atFileEnd(async () => {
    isWatched = false;
    await sql`delete from graphile_worker._private_jobs`.execute(db);
    assert.equal(
      await stateOf(db),
      before,
      'The file changes what belongs to the whole server, so its worlds need `world({})`.',
    );
  });
}

async function startOwn(options: WorldOptions): Promise<RunningServer> {
  atFileEnd(() => {
    own = undefined;
  });
  const { db } = await testDatabase();
  const running = await startServer(db, options);
  atFileEnd(running.stop);
  return running;
}
