/** The input of endpoints that add and change nodes (docs/reference/geo.md#nodes). */
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, ClearableList, checked, Id, nullable, optional } from '../../../http/index.ts';
import {
  internalUrlReasons,
  nameReasons,
  rangeReasons,
  selectionFrom,
  selectionReasons,
  siteUrl,
  urlReasons,
} from './rules.ts';

const Capacity = (what: string) =>
  checked(Type.Integer({ description: `How many ${what} at a time; 0 pauses them` }), rangeReasons(0));

const required = {
  name: checked(
    Type.String({ description: 'COPPICE_GEO_NODE_NAME of its server, or else COPPICE_URL of it' }),
    nameReasons,
  ),
  url: checked(Type.String({ description: 'The external address of the site' }), urlReasons),
};

const settings = {
  internal_url: checked(
    nullable(Type.String({ description: 'Where other sites reach it, if not at `url`' })),
    internalUrlReasons,
  ),
  enabled: Type.Boolean(),
  files_max_capacity: Capacity('files it copies'),
  repos_max_capacity: Capacity('repositories it copies'),
  verification_max_capacity: Capacity('copies it verifies'),
  container_repositories_max_capacity: Capacity('container repositories it copies'),
  sync_object_storage: Type.Boolean({ description: 'Whether files in a bucket of the primary are copied, too' }),
  selective_sync_type: checked(
    nullable(Type.String({ description: '`namespaces` or `shards`; null or blank: everything is copied' })),
    selectionReasons,
  ),
  selective_sync_shards: ClearableList(Type.String({ description: 'A storage of the primary' })),
  selective_sync_namespace_ids: ClearableList(Id),
  minimum_reverification_interval: checked(
    Type.Integer({ description: 'Days until a copy is verified again' }),
    rangeReasons(1),
  ),
  blob_download_timeout: checked(
    Type.Integer({ description: 'Seconds that a file may take' }),
    rangeReasons(1, 86_400),
  ),
  selective_sync_organization_ids: ClearableList(Type.Integer({ description: 'Ignored: there are no organizations' })),
};

/** The parameters of a new node. */
export const newNode = { ...required, primary: Type.Boolean({ default: false }), ...allOptional(settings) };

/** The parameters of a change of a node. */
export const changedNode = {
  ...allOptional(required),
  primary: optional(Type.Boolean({ description: 'Ignored: promotion changes it' })),
  ...allOptional(settings),
};

type NodeInput = Omit<Static<TObject<typeof changedNode>>, 'primary'>;

/** Converts parameters to columns, without omitted ones. */
export function columnsFrom({
  selective_sync_organization_ids: _organizations,
  selective_sync_namespace_ids: _namespaces,
  name,
  url,
  internal_url,
  selective_sync_type,
  ...others
}: NodeInput) {
  return {
    ...others,
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(url === undefined ? {} : { url: siteUrl(url)! }),
    ...(internal_url === undefined ? {} : { internal_url: siteUrl(internal_url ?? '') ?? null }),
    ...(selective_sync_type === undefined ? {} : { selective_sync_type: selectionFrom(selective_sync_type) }),
  };
}

/** The columns that clients can write. */
export type NodeColumns = ReturnType<typeof columnsFrom>;
