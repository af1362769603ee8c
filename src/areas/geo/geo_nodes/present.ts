/** How nodes appear in responses (docs/reference/geo.md#nodes). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { Address, forPrograms, Id, nullable, optional, resource, type Services } from '../../../http/index.ts';
import type { Noun } from './definition.ts';
import { nodes } from './queries.ts';
import type { Selection } from './rules.ts';

const shared = {
  id: Id,
  name: Type.String(),
  url: Address({ description: 'The external address, with a slash at its end' }),
  internal_url: Address({ description: 'Where other sites reach it' }),
  primary: Type.Boolean(),
  enabled: Type.Boolean(),
  current: Type.Boolean({ description: 'Whether it is the server that answers' }),
  files_max_capacity: Type.Integer(),
  repos_max_capacity: Type.Integer(),
  verification_max_capacity: Type.Integer(),
  container_repositories_max_capacity: Type.Integer(),
  sync_object_storage: Type.Boolean(),
  selective_sync_type: nullable(Type.Enum(['namespaces', 'shards'])),
  selective_sync_shards: Type.Array(Type.String()),
  selective_sync_namespace_ids: Type.Array(Id),
  minimum_reverification_interval: Type.Integer(),
  web_edit_url: Address(),
  web_geo_replication_details_url: optional(Address({ description: 'Secondaries only' })),
  _links: forPrograms(Type.Object({ self: Type.String(), status: Type.String(), repair: Type.String() })),
};

/** The schema of a node under each of its names. */
const forms = {
  node: resource('GeoNode', { ...shared, clone_protocol: Type.Enum(['http']) }),
  site: resource('GeoSite', { ...shared, blob_download_timeout: Type.Integer({ description: 'Seconds' }) }),
};

type Shown = Static<typeof forms.node> | Static<typeof forms.site>;

/** The schema of nodes under a name. */
export const formOf = ({ name }: Noun) => Type.Unsafe<Shown>(forms[name]);

const primaryUrl = sql<string | null>`(select url from geo_nodes the_primary where the_primary."primary")`;

/** Nodes with the columns that `presentNode` needs, in the order of lists. */
export const shownNodes = ({ db, geo }: Pick<Services, 'db' | 'geo'>) =>
  nodes(db)
    .select(primaryUrl.as('primary_url'))
    .select(sql<boolean>`name = ${geo.nodeName}::citext`.as('current'))
    .orderBy('geo_nodes.id');

type ShownNode = Awaited<ReturnType<ReturnType<typeof shownNodes>['executeTakeFirstOrThrow']>>;

/** The reply for a node. */
export function presentNode({ url }: Pick<Services, 'url'>, noun: Noun, row: ShownNode): Shown {
  const {
    primary_url,
    selective_sync_type,
    blob_download_timeout,
    credential: _credential,
    refresh_requested_at: _refresh,
    repair_requested_at: _repair,
    ...node
  } = row;
  const [pages, self] = [`admin/geo/${noun.name}s/${node.id}`, `${url}/api/v4${noun.path}/${node.id}`];
  return {
    ...node,
    internal_url: node.internal_url ?? node.url,
    selective_sync_type: selective_sync_type as Selection | null,
    web_edit_url: `${primary_url ?? `${url}/`}${pages}/edit`,
    ...(node.primary ? {} : { web_geo_replication_details_url: `${node.url}${pages}/replication/lfs_objects` }),
    _links: { self, status: `${self}/status`, repair: `${self}/repair` },
    ...(noun.name === 'node' ? { clone_protocol: 'http' } : { blob_download_timeout }),
  } as Shown;
}
