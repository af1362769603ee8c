/** Snippets of projects in the bodies of webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { type StoredKind, snippetKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { type HookItem, pageFacts } from '../../activity/hooks/index.ts';

const snippetAttributes = (id: RawBuilder<unknown>) => sql`
  (select json_build_object('id', snippets.id, 'title', snippets.title, 'description', snippets.description, 'author_id', snippets.author_id,
                            'project_id', snippets.project_id, 'created_at', ${momentInJson('snippets.created_at')},
                            'updated_at', ${momentInJson('snippets.updated_at')}, 'file_name', snippets.paths[1], 'type', 'ProjectSnippet',
                            'url', ${pageFacts(snippetKind.page, sql`snippets.project_id`, sql`snippets.id`)})
     from snippets where snippets.id = ${id})`;

export const snippetHook: HookItem<StoredKind> = {
  kind: snippetKind,
  member: 'snippet',
  facts: (row) => snippetAttributes(sql.ref(`${row}.snippet_id`)),
  name: (row) => sql.ref(`${row}.snippet_id`),
};
