/**
 * Read-your-writes: the response to a forwarded write waits until its rows have been replicated
 * (docs/reference/geo.md#what-a-secondary-serves).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { geoRoute } from '../link/definition.ts';
import { askPrimaryForJson } from '../link/request_actions.ts';

interface Position {
  position: number;
}

/** Commits a new position, which follows everything that the node has written. */
async function nextPosition(db: Database, node_id: number): Promise<Position> {
  const { rows } = await sql<Position>`
    insert into geo_positions as known (geo_node_id, position) values (${node_id}, 1)
        on conflict (geo_node_id) do update set position = known.position + 1 returning position`.execute(db);
  return rows[0]!;
}

export const positionRoute = geoRoute({
  method: 'POST',
  path: '/position',
  handle: ({ services, node }) => nextPosition(services.db, node.id),
});

const maximumWait_ms = 2000;
const pause_ms = 10;

async function hasArrived({ db, geo }: Services, position: number): Promise<boolean> {
  const { rows } = await sql`
    select from geo_positions join geo_nodes on geo_nodes.id = geo_node_id where name = ${geo.nodeName} and position >= ${position}`.execute(
    db,
  );
  return rows.length > 0;
}

/** Waits until everything written through this secondary has been replicated, for two seconds at most. */
export async function awaitOwnWrites(services: Services): Promise<void> {
  const until = performance.now() + maximumWait_ms;
  const { position } = await askPrimaryForJson<Position>(services, {
    method: 'POST',
    path: '/position',
    silence_ms: maximumWait_ms,
  });
  while (performance.now() < until && !(await hasArrived(services, position))) await sleep(pause_ms);
}
