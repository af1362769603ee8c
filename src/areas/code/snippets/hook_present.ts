/** Snippets of projects in the bodies of webhooks. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type StoredKind, snippetKind } from '../../../access/index.ts';
import { type Built, membersInJson, rowInJson } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { hookItem } from '../../activity/hooks/index.ts';

const HookSnippet = resource('HookSnippet', {
  id: Id,
  title: Type.String(),
  description: nullable(Type.String()),
  author_id: Id,
  project_id: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
  file_name: nullable(Type.String()),
  type: Type.Literal('ProjectSnippet'),
  url: Type.String({ format: 'uri' }),
});

const parts = {
  ...membersInJson('snippets', HookSnippet.properties, ['file_name', 'type', 'url']),
  file_name: sql<string | null>`snippets.paths[1]`,
};

export const snippetHook = hookItem<StoredKind, Built<typeof parts>>({
  kind: snippetKind,
  member: 'snippet',
  schema: HookSnippet,
  part: (id) => rowInJson('snippets', id, parts),
  present: (row, { full_path }, { url }) => ({
    ...row,
    type: 'ProjectSnippet',
    url: url + snippetKind.page(full_path, row.id),
  }),
  name: ({ id }) => id,
});
