/** Whether the process lives, and whether it can serve: for supervisors and load balancers. */
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';

/** Adds `/-/liveness`, `/-/readiness` and `/-/health`. The second is 503 while the database does not answer. */
export function health(app: FastifyInstance, db: Database): void {
  app.get('/-/liveness', async (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/-/health', async (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/-/readiness', async (request, reply) => {
    try {
      await sql`select 1`.execute(db);
      return reply.send({ status: 'ok', database: 'ok' });
    } catch (error) {
      request.log.warn({ err: error }, 'database does not answer');
      return reply.code(503).send({ status: 'failed', database: 'failed', message: '503 Service Unavailable' });
    }
  });
}
