/** The primary's endpoints for the database of a secondary. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest, conflict, found } from '../../../http/index.ts';
import { geoRoute } from '../link/definition.ts';
import { schemaVersion } from '../link/queries.ts';
import type { Followed } from './definition.ts';
import { renewSlot } from './publication_actions.ts';
import { installationOf } from './queries.ts';

/** A server that was not seen for this long counts as stopped, and another may take its place. */
const absent_s = 30;

/** Refuses a second server with the name of the same node. */
async function takePlace(db: Database, geo_node_id: number, server: string): Promise<void> {
  const { rows } = await sql`
    insert into geo_links (geo_node_id, server, seen_at) values (${geo_node_id}, ${server}, now())
        on conflict (geo_node_id) do update set server = excluded.server, seen_at = now()
     where geo_links.server = excluded.server or geo_links.seen_at < now() - make_interval(secs => ${absent_s})
    returning geo_node_id`.execute(db);
  if (rows.length === 0) throw conflict('Another server is running as this node.');
}

const textIn = (query: Record<string, unknown>, name: string, form: RegExp): string => {
  const value = query[name];
  if (typeof value === 'string' && form.test(value)) return value;
  throw badRequest(`${name} is invalid`);
};
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The location of the database, and whether the slot of the secondary is still usable. */
export const followedRoute = geoRoute({
  method: 'GET',
  path: '/following',
  handle: async ({ services: { db }, node, request: { query } }): Promise<Followed> => {
    await takePlace(db, node.id, textIn(query, 'server', uuid));
    const slot = textIn(query, 'slot', /^\w{0,63}$/);
    const { rows } = await sql<Omit<Followed, 'schema' | 'installation'>>`
      select current_database() as database, pg_current_wal_lsn()::text as position,
             case when slot_name is null then 'missing' when wal_status = 'lost' then 'lost' else 'usable' end as slot
        from (values (1)) as one left join pg_replication_slots on slot_name = ${slot}`.execute(db);
    return { ...rows[0]!, schema: await schemaVersion(db), installation: found('Instance', await installationOf(db)) };
  },
});

/** Creates a new slot for a new copy. */
export const slotRoute = geoRoute({
  method: 'POST',
  path: '/slot',
  handle: async ({ services: { db }, node, request: { query } }) => {
    await takePlace(db, node.id, textIn(query, 'server', uuid));
    return { slot: await renewSlot(db, node.id, textIn(query, 'system', /^\d{1,20}$/)) };
  },
});
