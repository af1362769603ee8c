/**
 * The state of a primary for any site that has the secret key, even if its node is disabled: it shows which of two
 * primaries was promoted later.
 */
import { type Doorway, door, jsonForm } from '../../../http/index.ts';
import { checkSignature } from '../link/access.ts';

export interface Primacy {
  name: string;
  /** Null for a site that has been the primary from the start. */
  promoted_at: string | null;
}

const primacy = door({
  method: 'GET',
  url: '/api/v4/geo/primary',
  without_head: true,
  handle: async ({ services, request, reply }): Promise<unknown> => {
    await checkSignature(services, { method: 'GET', path: request.originalUrl, headers: request.headers });
    const own = await services.db
      .selectFrom('geo_nodes')
      .select(['name', 'promoted_at'])
      .where('primary', '=', true)
      .executeTakeFirst();
    const answer: Primacy = own ?? { name: services.geo.nodeName, promoted_at: null };
    return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(answer)));
  },
});

export const primacyDoorway: Doorway = { cost: 'usual', doors: [primacy], errors: () => jsonForm };
