/** The processes of a site, for administrators (docs/operating.md#more-than-one-machine). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { get, pageOf, resource, Timestamp } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { nodes } from './queries.ts';

const Node = resource('Node', {
  name: Type.String(),
  host: Type.String({ description: 'The name of its machine' }),
  process_id: Type.Integer(),
  version: Type.String(),
  url: Type.String({ description: 'The address of the site, as it has it' }),
  roles: Type.Array(Type.String(), { description: '`requests`, `jobs`' }),
  started_at: Timestamp,
  seen_at: Timestamp,
  running: Type.Boolean({ description: 'Whether it has said so in the last 30 seconds' }),
});

export const nodeRoutes = [
  get('/nodes', {
    operation: 'listNodes',
    summary: 'List the servers and job processes of the site, by name',
    access: admin,
    input: paging,
    returns: pageOf(Node),
    handle: ({ db, input }) => paginate(db, nodes(db), input),
  }),
];
