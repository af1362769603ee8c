/** Whether the process lives, and whether it can serve: for supervisors and load balancers. */
import { sql } from 'kysely';
import { type Doorway, door } from './door.ts';
import { jsonForm } from './error_replies.ts';

const alive = (url: string) => door({ method: 'GET', url, handle: ({ reply }) => reply.send({ status: 'ok' }) });

/** 503 while the database does not answer. */
const readiness = door({
  method: 'GET',
  url: '/-/readiness',
  handle: async ({ services, request, reply }) => {
    try {
      await sql`select 1`.execute(services.db);
      return reply.send({ status: 'ok', database: 'ok' });
    } catch (error) {
      request.log.warn({ err: error }, 'database does not answer');
      return reply.code(503).send({ status: 'failed', database: 'failed', message: '503 Service Unavailable' });
    }
  },
});

export const health: Doorway = { doors: [alive('/-/liveness'), alive('/-/health'), readiness], errors: () => jsonForm };
