/** Who may read and change snippets. */

import type { Kysely } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Caller } from '../http/endpoint.ts';
import type { MaybeCaller } from './instance.ts';
import { levels } from './levels.ts';
import type { Project } from './projects.ts';
import type { VisibilityName } from './visibility.ts';

/** A snippet as access and changes of its repository need it. */
export interface Snippet {
  id: number;
  /** Null for a personal snippet. */
  project_id: number | null;
  author_id: number;
  visibility: VisibilityName;
  storage: string;
  branch: string;
  commit_id: string;
  /** Its files, in git's order. */
  paths: string[];
  updated_at: string;
}

/** A snippet that an access rule has granted, with its project if it has one. */
export interface GrantedSnippet<C> {
  caller: C;
  snippet: Snippet;
  project: Project | undefined;
}

/** The snippet with an ID, whether the caller may read it or not. */
export async function snippetFor(db: Kysely<DB>, id: number): Promise<Snippet | undefined> {
  if (!Number.isSafeInteger(id)) return undefined;
  return db
    .selectFrom('snippets')
    .select(['id', 'project_id', 'author_id', 'visibility', 'storage', 'branch', 'commit_id', 'paths', 'updated_at'])
    .where('id', '=', id)
    .$castTo<Snippet>()
    .executeTakeFirst();
}

/**
 * Whether the caller may read a snippet (docs/reference/snippets.md#visibility).
 * @param project that of the snippet, which is visible to the caller and whose snippets they may use
 */
export function mayReadSnippet(
  caller: MaybeCaller,
  { visibility, author_id }: Pick<Snippet, 'visibility' | 'author_id'>,
  project: Pick<Project, 'access_level'> | undefined,
): boolean {
  if (visibility === 'public' || (visibility === 'internal' && caller && !caller.external)) return true;
  if (project) return project.access_level >= levels.guest;
  return caller !== undefined && (caller.admin || caller.id === author_id);
}

/** Whether a caller who may read a snippet may also change it: its author, and from Maintainer on the members of its project. */
export const mayChangeSnippet = (
  caller: Pick<Caller, 'id' | 'admin'>,
  { author_id }: Pick<Snippet, 'author_id'>,
  project: Pick<Project, 'access_level'> | undefined,
): boolean => caller.admin || caller.id === author_id || (project !== undefined && project.access_level >= levels.maintainer);
