/** Reading snippets. */
import { sql } from 'kysely';
import { isReadableInProject, type MaybeCaller, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { authorOfSnippet, type SnippetRow } from './present.ts';

const snippetRows = (db: Database) =>
  db
    .selectFrom('snippets')
    .select(['snippets.id', 'title', 'snippets.description', 'snippets.visibility', 'project_id', 'branch', 'paths'])
    .select(['snippets.created_at', 'snippets.updated_at', authorOfSnippet.as('author')])
    .select(
      sql<string | null>`(select place.full_path from projects place where place.id = snippets.project_id)`.as('project_path'),
    )
    .$castTo<SnippetRow>();

/** @throws ApiError 404 when it is gone */
export const snippetRow = async (db: Database, id: number): Promise<SnippetRow> =>
  found('Snippet', await snippetRows(db).where('snippets.id', '=', id).executeTakeFirst());

/** The snippets of a project that the caller may read, newest first. */
export const snippetsOfProject = (db: Database, caller: MaybeCaller, project: Project) =>
  snippetRows(db)
    .where('snippets.project_id', '=', project.id)
    .where(isReadableInProject(caller, project))
    .orderBy('snippets.id', 'desc');
