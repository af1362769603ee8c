/** The records that secondaries copy (docs/reference/geo.md#what-is-copied). */
import type { Blobs } from '../../../blobs/index.ts';
import type { RepositoryKind } from '../../../services/index.ts';

/** Repositories, by kind of owner. */
export const repositoryReplicables = {
  project_repositories: 'project',
  snippet_repositories: 'snippet',
  project_wiki_repositories: 'wiki',
  group_wiki_repositories: 'wiki',
} as const satisfies Record<string, RepositoryKind['name']>;

export type RepositoryReplicable = keyof typeof repositoryReplicables;

/** Blobs. Uploads are all blobs that are not LFS objects. */
export type FileReplicable = 'lfs_objects' | 'uploads';

export type Replicable = RepositoryReplicable | FileReplicable;

/** Queues that are processed separately, so that large files do not delay repositories. */
export const parts = {
  repositories: Object.keys(repositoryReplicables) as RepositoryReplicable[],
  files: ['lfs_objects', 'uploads'] as FileReplicable[],
} as const;

export type Part = keyof typeof parts;

export const replicables: readonly Replicable[] = [...parts.repositories, ...parts.files];

export const isRepository = (replicable: Replicable): replicable is RepositoryReplicable =>
  replicable in repositoryReplicables;

/** A repository or a blob, as identified in events, checksums and replicas. */
export interface ReplicableRecord {
  replicable: Replicable;
  /** The id of the owner of a repository, or the key of a blob. */
  record: string;
}

export const fileReplicableOf = (key: string): FileReplicable => (key.startsWith('lfs/') ? 'lfs_objects' : 'uploads');

/** Whether blobs are in a bucket, which other sites may share. */
export const areInBucket = ({ address }: Pick<Blobs, 'address'>): boolean => address.startsWith('s3:');
