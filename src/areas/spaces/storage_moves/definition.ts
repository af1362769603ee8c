/**
 * Containers, which move between storages: projects, snippets and groups, each with all its own repositories
 * (docs/reference/storage_moves.md).
 */
import type { RepositoryKind } from '../../../services/index.ts';

export interface Container {
  name: 'project' | 'snippet' | 'group';
  table: 'projects' | 'snippets' | 'namespaces';
  /** The column of `table` with the storage of the repositories, where new ones are also created. */
  storage: 'storage' | 'repository_storage';
  /** The column of moves that refers to the container. */
  column: 'project_id' | 'snippet_id' | 'group_id';
  /** Its repositories: the kind, and the column of the kind's table that refers to the container. */
  repositories: readonly { kind: RepositoryKind['name']; by: 'id' | 'project_id' | 'group_id' }[];
}

export const containers: readonly Container[] = [
  {
    name: 'project',
    table: 'projects',
    storage: 'storage',
    column: 'project_id',
    repositories: [
      { kind: 'project', by: 'id' },
      { kind: 'wiki', by: 'project_id' },
    ],
  },
  {
    name: 'snippet',
    table: 'snippets',
    storage: 'storage',
    column: 'snippet_id',
    repositories: [{ kind: 'snippet', by: 'id' }],
  },
  {
    name: 'group',
    table: 'namespaces',
    storage: 'repository_storage',
    column: 'group_id',
    repositories: [{ kind: 'wiki', by: 'group_id' }],
  },
];

export type State = 'scheduled' | 'started' | 'replicated' | 'finished' | 'failed' | 'cleanup failed';

/** A row of `repository_storage_moves`. */
export interface StorageMove {
  id: number;
  project_id: number | null;
  snippet_id: number | null;
  group_id: number | null;
  source_storage: string;
  destination_storage: string;
  state: State;
  /** How many times it was started. */
  runs: number;
  /** The repositories that have had two copies since the switch. */
  copied: readonly { kind: string; id: number }[];
}
