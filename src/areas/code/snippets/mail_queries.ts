/** Snippets in mail about their comments. */
import { sql } from 'kysely';
import { snippetKind } from '../../../access/index.ts';
import type { MailSubject } from '../../../services/index.ts';
import { readersOf } from '../../activity/notifications/index.ts';

export const snippetMail = (id: number): MailSubject => ({
  ...readersOf({ kind: snippetKind, id }),
  participants: () => sql`select author_id from snippets where id = ${id}`,
  people: {},
  async describe({ db }, { full_path }) {
    const row = await db
      .selectFrom('snippets')
      .select(['title', 'description'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) return undefined;
    const [thread, page] = [`project_snippet_${id}`, snippetKind.page(full_path, id)];
    return { ...row, name: 'snippet', label: `$${id}`, thread, page, facts: { 'Snippet-ID': id } };
  },
});
