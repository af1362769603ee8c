/** Liveness and readiness, for supervisors and load balancers. */
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Services } from '../services/index.ts';
import { type Doorway, door } from './door.ts';
import { isLeaving } from './drain.ts';
import { jsonForm } from './error_replies.ts';

const alive = (url: string) => door({ method: 'GET', url, handle: ({ reply }) => reply.send({ status: 'ok' }) });

/** A git write needs a few files; with less space than this, the disk counts as full. */
const leastRoom_bytes = 1024 * 1024;

/** Whether the file system of the folder has free space; assumed if it cannot be determined. */
async function hasRoom(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined || found.bavail * found.bsize >= leastRoom_bytes;
}

async function haveRoom({ storages }: Pick<Services, 'storages'>): Promise<boolean> {
  return (await Promise.all(Object.values(storages).map(hasRoom))).every(Boolean);
}

/** The reason why a working server is not ready, as a sentence; undefined when it is. */
export type ReadinessProblem = (services: Services) => Promise<string | undefined>;

/** 503 while the database does not respond, writes cannot succeed, or the server is stopping. */
const readiness = (problemOf: ReadinessProblem) =>
  door({
    method: 'GET',
    url: '/-/readiness',
    handle: async ({ services, request, reply }) => {
      const failed = (states: object) =>
        reply.code(503).send({ status: 'failed', message: '503 Service Unavailable', ...states });
      if (isLeaving(request.server.server)) {
        reply.header('retry-after', '0');
        return failed({ message: '503 Service Unavailable - The server is stopping' });
      }
      try {
        const { rows } = await sql<{
          read_only: string;
        }>`select current_setting('transaction_read_only') as read_only`.execute(services.db);
        if (rows[0]?.read_only === 'on' && services.geo.role !== 'secondary') return failed({ database: 'read-only' });
        const problem = await problemOf(services);
        if (problem !== undefined) return failed({ database: 'ok', message: `503 Service Unavailable - ${problem}` });
      } catch (error) {
        request.server.outage.covers(error);
        return failed({ database: 'failed' });
      }
      if (request.server.outage.isFull || !(await haveRoom(services))) return failed({ database: 'ok', disk: 'full' });
      return reply.send({ status: 'ok', database: 'ok' });
    },
  });

export const health = (problemOf: ReadinessProblem): Doorway => ({
  cost: 'health',
  doors: [alive('/-/liveness'), alive('/-/health'), readiness(problemOf)],
  errors: () => jsonForm,
});
