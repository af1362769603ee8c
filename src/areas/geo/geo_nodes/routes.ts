/** Geo nodes: the sites of the installation (docs/reference/geo.md). */
import { admin } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { changingAdmin, readOnly } from './access.ts';
import { addNode, changeNode, hasSecondaries, removeNode } from './actions.ts';
import { refusals } from './check_queries.ts';
import { type Noun, nouns } from './definition.ts';
import { changedNode, columnsFrom, newNode } from './parameters.ts';
import { formOf, presentNode, shownNodes } from './present.ts';

/** @throws ApiError 404 */
async function nodeReply(services: Services, noun: Noun, id: number) {
  const row = await shownNodes(services).where('geo_nodes.id', '=', id).executeTakeFirst();
  return presentNode(services, noun, found(noun.resource, row));
}

const { taken, primaryExists, primaryDisabled, lockedOut } = refusals;
const refused = [
  `name: ${taken}`,
  `primary: ${primaryExists}`,
  `enabled: ${primaryDisabled}`,
  "selective_sync_shards: can't include: <names>",
  "selective_sync_namespace_ids: can't include: <ids>",
  `base: ${lockedOut}`,
];

function routesOf(noun: Noun): AnyEndpoint[] {
  const { path, resource, title } = noun;
  const [aNode, allNodes, plan] = [`a ${title}`, `${title}s`, 'premium'] as const;
  const Node = formOf(noun);
  const missing = { 404: `404 ${resource} Not Found` };
  return [
    get(path, {
      operation: `list${resource}s`,
      summary: `List ${allNodes}, by id`,
      access: admin,
      plan,
      input: paging,
      returns: pageOf(Node),
      handle: async ({ input, ...services }) =>
        mapPage(await paginate(services.db, shownNodes(services), input), (row) => presentNode(services, noun, row)),
    }),
    post(path, {
      operation: `create${resource}`,
      summary: `Add ${aNode}`,
      access: changingAdmin,
      plan,
      input: newNode,
      returns: one(Node),
      refusals: { 400: refused, 403: readOnly },
      handle: async ({ input: { primary, name, url, ...given }, ...services }) => {
        const columns = { name, url, ...columnsFrom({ name, url, ...given }) };
        const id = await addNode(services, primary, { columns, namespace_ids: given.selective_sync_namespace_ids });
        return nodeReply(services, noun, id);
      },
    }),
    get(`${path}/:id`, {
      operation: `get${resource}`,
      summary: `Show ${aNode}`,
      access: admin,
      plan,
      input: { id: Id },
      returns: one(Node),
      refusals: missing,
      handle: ({ input, ...services }) => nodeReply(services, noun, input.id),
    }),
    put(`${path}/:id`, {
      operation: `update${resource}`,
      summary: `Update ${aNode}`,
      access: changingAdmin,
      plan,
      input: { id: Id, ...changedNode },
      returns: one(Node),
      refusals: { 400: refused, 403: readOnly, ...missing },
      handle: async ({ input: { id, primary: _ignored, ...given }, ...services }) => {
        const changes = { columns: columnsFrom(given), namespace_ids: given.selective_sync_namespace_ids };
        await changeNode(services, noun, id, changes);
        return nodeReply(services, noun, id);
      },
    }),
    del(`${path}/:id`, {
      operation: `delete${resource}`,
      summary: `Remove ${aNode}`,
      access: changingAdmin,
      plan,
      input: { id: Id },
      returns: nothing,
      refusals: { 400: hasSecondaries, 403: readOnly, ...missing },
      handle: ({ input, ...services }) => removeNode(services, noun, input.id),
    }),
  ];
}

export const geoNodeRoutes = nouns.flatMap(routesOf);
