/** Queries for snippets. */
import { sql } from 'kysely';
import { isReadableInProject, isVisibleSnippet, type MaybeCaller, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, found } from '../../../http/index.ts';
import { authorOfSnippet, type SnippetRow } from './present.ts';

/** Snippets with the columns for replies. */
export const snippetRows = (db: Database) =>
  db
    .selectFrom('snippets')
    .select(['snippets.id', 'title', 'snippets.description', 'snippets.visibility', 'project_id', 'branch', 'paths'])
    .select(['snippets.created_at', 'snippets.updated_at', 'snippets.imported_from', authorOfSnippet.as('author')])
    .select(
      sql<string | null>`(select place.full_path from projects place where place.id = snippets.project_id)`.as(
        'project_path',
      ),
    )
    .$castTo<SnippetRow>();

/** @throws ApiError 404 if it is gone */
export const snippetRow = async (db: Database, id: number): Promise<SnippetRow> =>
  found('Snippet', await snippetRows(db).where('snippets.id', '=', id).executeTakeFirst());

/** The snippets of a project that the caller may read, newest first. */
export const snippetsOfProject = (db: Database, caller: MaybeCaller, project: Project) =>
  snippetRows(db)
    .where('snippets.project_id', '=', project.id)
    .where(isReadableInProject(caller, project))
    .orderBy('snippets.id', 'desc');

export interface Span {
  created_after?: string;
  created_before?: string;
}

/** All snippets created in a time range, newest first. */
const snippetsWithin = (db: Database, { created_after, created_before }: Span) =>
  snippetRows(db)
    .$if(created_after !== undefined, (q) => q.where('snippets.created_at', '>=', created_after!))
    .$if(created_before !== undefined, (q) => q.where('snippets.created_at', '<=', created_before!))
    .orderBy('snippets.id', 'desc');

/** The queries of lists across projects. */
export const lists = {
  /** Snippets written by the caller. */
  own: (db: Database, caller: Caller, span: Span) =>
    snippetsWithin(db, span)
      .leftJoin('projects', 'projects.id', 'snippets.project_id')
      .where('snippets.author_id', '=', caller.id)
      .where(isVisibleSnippet(caller)),
  /** Public personal snippets. */
  public: (db: Database, _caller: Caller, span: Span) =>
    snippetsWithin(db, span)
      .where('snippets.project_id', 'is', null)
      .where('snippets.visibility', '=', sql.lit('public')),
  /** Snippets that the caller may read. */
  all: (db: Database, caller: Caller, span: Span) =>
    snippetsWithin(db, span).leftJoin('projects', 'projects.id', 'snippets.project_id').where(isVisibleSnippet(caller)),
};
