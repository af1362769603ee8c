/** What changes its storage: projects, snippets and groups, each with all repositories of its own (docs/reference/storage_moves.md). */
import type { RepositoryKind } from '../../../services/index.ts';

export interface Container {
  name: 'project' | 'snippet' | 'group';
  table: 'projects' | 'snippets' | 'namespaces';
  /** The column of `table` that says where the repositories are, and where new ones are created. */
  storage: 'storage' | 'repository_storage';
  /** The column that names one in moves. */
  column: 'project_id' | 'snippet_id' | 'group_id';
  /** Its repositories: the kind, and the column of the kind's table that names the container. */
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
  /** How often it was begun. */
  runs: number;
  /** The repositories that have two copies since it has switched. */
  copied: readonly { kind: string; id: number }[];
}
